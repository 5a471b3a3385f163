//! What a waiting join may run.
//!
//! A join whose second half was stolen can help while it waits. Helping only its own descendants (leapfrogging: Wagner
//! and Calder, "Leapfrogging: a portable technique for implementing efficient futures", 1993) keeps unrelated tasks, and
//! the locks they take, off the waiting frame; helping anyone keeps the worker busier and its stack deeper.
//!
//! A mutex held across a join shows the difference: a waiting worker that runs an unrelated task which takes the same
//! mutex waits for itself for ever. Under descendants only it never meets that task.
//!
//! The rule alone is here. How the runtime finds the descendants, and what a worker does that finds none, is no matter of
//! this crate.

use crate::error::ParseError;
use crate::tunable::{Basis, Tunable, choice, choices, table};
use core::fmt;
use core::str::FromStr;

/// Which tasks a worker may run while one of its joins waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitPolicy {
    /// Only tasks that the join waits for, directly or not.
    Descendants,
    /// Any task.
    HelpAny,
}

impl WaitPolicy {
    pub(crate) const NAMES: &'static [&'static str] = &["descendants", "help-any"];
}

table! {
    WAIT: WaitPolicy = choice("wait", WaitPolicy::NAMES, WaitPolicy::Descendants).set_by("TIDEGATE_WAIT"),
        "What a waiting join runs; descendants only, so that no unrelated lock is taken on top of a waiting frame.",
        Basis::Guessed;
}

choices!(WaitPolicy);

impl Default for WaitPolicy {
    /// [`WAIT`].
    fn default() -> Self {
        WAIT.default
    }
}

impl fmt::Display for WaitPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Descendants => "descendants",
            Self::HelpAny => "help-any",
        })
    }
}

impl FromStr for WaitPolicy {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "descendants" => Ok(Self::Descendants),
            "help-any" => Ok(Self::HelpAny),
            _ => Err(crate::text::unknown("way to wait", text, Self::NAMES)),
        }
    }
}
