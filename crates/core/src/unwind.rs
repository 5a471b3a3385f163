//! How the runtime handles panics, in one place.
//!
//! The runtime catches a task's panic and resumes it where the task's result is requested. A panic
//! inside the runtime itself aborts the process: unwinding would destroy frames that other threads
//! point to.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

/// The origin of a panic that no join, scope or handle can return to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnhandledPanic {
    /// A detached task.
    Task,
    /// A half of a join, a task of a scope or the body of a scope, after an earlier panic in the
    /// same join or scope.
    Second,
    /// User code with this name: a start or exit handler, a backoff, or a waker.
    Handler(&'static str),
}

/// What a panic carries.
pub type Payload = Box<dyn Any + Send + 'static>;

/// Runs user code, and returns a panic of that code as an error.
pub fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    // AssertUnwindSafe: the payload is always resumed or reported, so no code continues unaware of
    // broken state.
    panic::catch_unwind(AssertUnwindSafe(f))
}

/// Resumes a panic that was caught.
pub fn resume(payload: Payload) -> ! {
    panic::resume_unwind(payload)
}

/// Returns the message of a panic, or a substitute if the payload is not text.
pub fn message(payload: &Payload) -> &str {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "a payload that is not text"
    }
}

/// Runs runtime code that must not unwind. Aborts the process if it panics.
#[inline(always)]
pub(crate) fn no_unwind<R>(f: impl FnOnce() -> R) -> R {
    let guard = AbortOnUnwind;
    let result = f();
    std::mem::forget(guard);
    result
}

struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        eprintln!("tidegate: panic inside the runtime, aborting");
        std::process::abort();
    }
}

/// Drops the payload of a panic. If that drop panics as well, forgets the new payload: nothing may
/// unwind from here.
pub fn discard(payload: Payload) {
    if let Err(payload) = catch(|| drop(payload)) {
        std::mem::forget(payload);
    }
}
