//! What a waiting join may run.
//!
//! A join whose second half was stolen can run other tasks while it waits. If it only runs its own
//! descendants (leapfrogging: Wagner and Calder, "Leapfrogging: a portable technique for
//! implementing efficient futures", 1993), no unrelated task runs on top of the waiting frame, or
//! takes a lock there. If it may run any task, the worker is busier, but its stack grows deeper.
//!
//! A mutex held across a join shows the difference. If a waiting worker runs an unrelated task that
//! locks the same mutex, the worker deadlocks with itself. A worker that only runs descendants
//! never runs such a task.
//!
//! This module only defines the policy. The runtime decides how to find descendants, and what a
//! worker does if it finds none.

use crate::tunable::{Basis, Tunable, choice, table, words};

/// Which tasks a worker may run while one of its joins waits. Default:
/// [`Descendants`](Self::Descendants).
///
/// ```
/// use tidegate_policy::WaitPolicy;
///
/// assert_eq!(WaitPolicy::default(), WaitPolicy::Descendants);
/// assert_eq!("help-any".parse(), Ok(WaitPolicy::HelpAny));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitPolicy {
    /// Only tasks that the join waits for, directly or indirectly (the default).
    Descendants,
    /// Any task.
    HelpAny,
}

table! {
    WAIT: WaitPolicy = choice("wait", WaitPolicy::NAMES, WaitPolicy::Descendants).set_by("TIDEGATE_WAIT"),
        "Which tasks a waiting worker runs. With `descendants`, an unrelated task never runs inside a waiting call that may hold a lock.",
        Basis::Guessed;
}

words!(
    WaitPolicy,
    "wait policy",
    Descendants = "descendants",
    HelpAny = "help-any"
);

impl Default for WaitPolicy {
    fn default() -> Self {
        WAIT.default
    }
}
