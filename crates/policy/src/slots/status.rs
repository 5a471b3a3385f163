//! The status of a thread of the pool, and the table of legal transitions between statuses.
//!
//! [`TRANSITIONS`] is the only list of legal transitions. `Ledger::mark`, the only function that
//! writes a status, asserts in debug builds that the transition is in the table.
//! `tests/all/transitions.rs` checks that every row occurs, and `tests/all/architecture.rs` that
//! ARCHITECTURE.md has the diagram of the table.

use core::fmt;

/// The status of a thread of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Runs or searches, and holds a slot.
    Running,
    /// Runs without a slot, because its grace has ended.
    Overcommitted,
    /// Parked without frames, for lack of work.
    Idle,
    /// Parked on a latch, on top of its frames.
    Waiting,
    /// Ready to resume its frames, but without a slot.
    Owed,
    /// In a call that its task declared as blocking. A thread that does not run yet or is about to
    /// leave also has this status.
    Blocked,
    /// Has left the pool.
    Gone,
}

/// The function of the [`Ledger`](super::Ledger) that takes a thread from one status to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `admit`: a new thread, or a guest, gets a number.
    Admit,
    /// `ready` and `ready_if_free`: the thread can continue unaided.
    Ready,
    /// `stop`: the thread stops running, or leaves the pool.
    Stop,
    /// `serve_owed`, called by `stop` and `set_slots`: a free slot goes to a thread that is owed
    /// one or is in debt.
    ServeOwed,
    /// `opened`: the latch that the thread waits for opened.
    Opened,
    /// `wake_for_work`: work became visible.
    WakeForWork,
    /// `wake_in`: work became visible at a place.
    WakeIn,
    /// `rise`: a sleeping thread runs its part of a broadcast, which needs no slot.
    Rise,
    /// `overcommit`: the grace of a thread without a slot has ended.
    Overcommit,
    /// `repay`: a thread that runs without a slot takes a free one.
    Repay,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Admit => "admit",
            Self::Ready => "ready",
            Self::Stop => "stop",
            Self::ServeOwed => "serve_owed",
            Self::Opened => "opened",
            Self::WakeForWork => "wake_for_work",
            Self::WakeIn => "wake_in",
            Self::Rise => "rise",
            Self::Overcommit => "overcommit",
            Self::Repay => "repay",
        })
    }
}

/// Every legal transition, as the old status, the verb and the new status.
pub const TRANSITIONS: &[(Status, Verb, Status)] = {
    use Status::{Blocked, Gone, Idle, Overcommitted, Owed, Running, Waiting};
    &[
        // An admitted thread does not run yet, and counts as blocked until it does.
        (Gone, Verb::Admit, Blocked),
        (Blocked, Verb::Ready, Running),
        (Blocked, Verb::WakeForWork, Running),
        (Blocked, Verb::WakeIn, Running),
        (Blocked, Verb::Ready, Owed),
        (Blocked, Verb::Stop, Gone),
        (Running, Verb::Stop, Idle),
        (Running, Verb::Stop, Waiting),
        (Running, Verb::Stop, Owed),
        (Running, Verb::Stop, Blocked),
        (Running, Verb::Stop, Gone),
        // The thread opened a waiter's latch and gave its slot to the waiter.
        (Running, Verb::Opened, Overcommitted),
        (Idle, Verb::Ready, Running),
        (Idle, Verb::WakeForWork, Running),
        (Idle, Verb::WakeIn, Running),
        // The idle thread wakes because it must call its exit handler.
        (Idle, Verb::Ready, Owed),
        (Idle, Verb::Rise, Overcommitted),
        // There are more threads than the limit allows, so the thread leaves and must no longer be
        // woken.
        (Idle, Verb::Stop, Blocked),
        // The pool is shutting down.
        (Idle, Verb::Stop, Gone),
        (Waiting, Verb::Ready, Running),
        (Waiting, Verb::Opened, Running),
        (Waiting, Verb::WakeForWork, Running),
        (Waiting, Verb::Ready, Owed),
        (Waiting, Verb::Opened, Owed),
        (Waiting, Verb::Rise, Overcommitted),
        (Owed, Verb::ServeOwed, Running),
        (Owed, Verb::Overcommit, Overcommitted),
        (Owed, Verb::Rise, Overcommitted),
        (Overcommitted, Verb::ServeOwed, Running),
        (Overcommitted, Verb::Repay, Running),
        (Overcommitted, Verb::Stop, Idle),
        (Overcommitted, Verb::Stop, Waiting),
        (Overcommitted, Verb::Stop, Owed),
        (Overcommitted, Verb::Stop, Blocked),
        (Overcommitted, Verb::Stop, Gone),
    ]
};
