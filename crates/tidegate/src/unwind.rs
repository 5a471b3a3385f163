//! The policy on panics, in one place.
//!
//! A task's panic is caught here and resumed where its result is asked for. A panic inside the runtime itself would leave
//! frames that others point to, so it aborts.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

/// Where a panic came from that no join, scope or handle can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnhandledPanic {
    /// A detached task.
    Task,
    /// A half, or a task or the body of a scope, after another panic there.
    Second,
    /// The handler of this name, for the start or end of a thread; or the user's backoff.
    Handler(&'static str),
}

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send + 'static>;

/// Runs user code; its panic becomes a value.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    // AssertUnwindSafe: the payload is always resumed or reported, so nobody goes on with broken state unaware.
    panic::catch_unwind(AssertUnwindSafe(f))
}

/// Goes on with a panic that was caught.
pub(crate) fn resume(payload: Payload) -> ! {
    panic::resume_unwind(payload)
}

/// The words of a panic, as far as it has any.
pub(crate) fn message(payload: &Payload) -> &str {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "a payload that is not text"
    }
}

/// Aborts the process if it is dropped: a guard for code of the runtime that must not unwind, forgotten at its end.
pub(crate) struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        eprintln!("tidegate: panic inside the runtime, aborting");
        std::process::abort();
    }
}

/// Drops what a panic carried. A payload whose drop panics too is let go of: nothing may unwind from here.
pub(crate) fn let_go(payload: Payload) {
    if let Err(payload) = catch(|| drop(payload)) {
        std::mem::forget(payload);
    }
}
