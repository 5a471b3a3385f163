//! The policy on panics, in one place.
//!
//! A task's panic is caught here and resumed where its result is asked for. A panic inside the runtime itself would leave
//! frames that others point to, so it aborts.

use crate::explain::tell;
use crate::pool::PoolInner;
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use tidegate_sync::atomic::Ordering;

/// Where a panic came from that no join, scope or handle can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnhandledPanic {
    /// A detached task.
    Task,
    /// A half, or a task or the body of a scope, after another panic there.
    Second,
    /// The handler of this name, for the start or end of a thread.
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
fn let_go(payload: Payload) {
    if let Err(payload) = catch(|| drop(payload)) {
        std::mem::forget(payload);
    }
}

impl PoolInner {
    pub(crate) fn panics(&self) -> u64 {
        // Relaxed: a statistic.
        self.panics.load(Ordering::Relaxed)
    }

    /// A panic that no join, scope or handle can carry.
    pub(crate) fn report_panic(&self, payload: Payload, from: UnhandledPanic) {
        if let Some(closed) = &self.options.closed {
            // Frames below may be pointed to by others.
            let guard = AbortOnUnwind;
            (closed.on_panic)(payload, from);
            std::mem::forget(guard);
            return;
        }
        if let UnhandledPanic::Handler(name) = from {
            return self.tell_of_handler(name, payload);
        }
        // Relaxed: a statistic.
        let number = self.panics.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.options.on_panic {
            Some(handler) => {
                if let Err(payload) = catch(|| handler(payload, number)) {
                    self.tell_of_handler("on_panic", payload);
                }
            }
            None => {
                let (pool, message) = (&self.options.name, message(&payload));
                let whose = match from {
                    UnhandledPanic::Second => "beside one that goes on",
                    UnhandledPanic::Task | UnhandledPanic::Handler(_) => "of a detached task",
                };
                tell(format_args!(
                    "pool {pool}: panic {number} {whose}: {message}"
                ));
                let_go(payload);
            }
        }
    }

    /// Calls a handler for the start or end of a thread, whose panic is nobody's.
    pub(crate) fn call_handler(&self, name: &'static str, handler: impl FnOnce()) {
        if let Err(payload) = catch(handler) {
            self.report_panic(payload, UnhandledPanic::Handler(name));
        }
        self.check_process();
    }

    /// A handler's own panic is told and goes no further.
    fn tell_of_handler(&self, name: &str, payload: Payload) {
        let message = message(&payload);
        tell(format_args!(
            "pool {}: the handler {name} panicked: {message}",
            self.options.name
        ));
        let_go(payload);
    }
}
