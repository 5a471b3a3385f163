//! Panics that no join, scope or handle can return to a caller.

use crate::options::Options;
use crate::origin::Origin;
use crate::unwind::{Payload, UnhandledPanic, catch, discard, message, no_unwind};
use std::sync::Arc;
use tidegate_sync::atomic::{AtomicU64, Ordering};
use tidegate_sync::stderr::print_line;

/// A panic that no join, scope or handle can return to a caller; the argument of the handler that
/// [`Builder::on_panic`](crate::Builder::on_panic) sets.
#[derive(Debug)]
#[non_exhaustive]
pub struct PanicReport {
    /// The payload of the panic.
    pub payload: Box<dyn std::any::Any + Send>,
    /// The number of the panic; the pool counts such panics from 1.
    pub number: u64,
    /// Which task, interval or stream has panicked. `None` if it has no origin: a half of a join or
    /// a task of a scope that panicked after another one.
    pub origin: Option<Origin>,
}

/// Passes panics that cannot be returned to a caller to the user's handler, or prints them.
pub struct PanicReporter {
    options: Arc<Options>,
    count: AtomicU64,
}

impl PanicReporter {
    pub(crate) fn new(options: Arc<Options>) -> Self {
        Self {
            options,
            count: AtomicU64::new(0),
        }
    }

    /// Returns the number of task panics reported so far.
    pub(crate) fn count(&self) -> u64 {
        // Relaxed: a statistic.
        self.count.load(Ordering::Relaxed)
    }

    pub fn report(&self, payload: Payload, from: UnhandledPanic) {
        self.report_of(payload, from, None);
    }

    /// Like `report`, for a panic of the task or interval with this origin.
    pub fn report_of(&self, payload: Payload, from: UnhandledPanic, of: Option<&Origin>) {
        if let Some(closed) = &self.options.closed {
            // Other threads may have pointers into the stack frames below, so this must not unwind.
            return no_unwind(|| (closed.on_panic)(payload, from));
        }
        if let UnhandledPanic::Handler(name) = from {
            return self.print_handler(name, payload);
        }
        // Relaxed: a statistic.
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.options.on_panic {
            Some(handler) => {
                let origin = of.cloned();
                let report = PanicReport {
                    payload,
                    number,
                    origin,
                };
                if let Err(payload) = catch(|| handler(report)) {
                    self.print_handler("on_panic", payload);
                }
            }
            None => {
                let (pool, message) = (&self.options.name, message(&payload));
                let task = of.map_or(String::new(), |of| format!(", in the task {of}"));
                let beside = match from {
                    UnhandledPanic::Second => ", beside one that goes on",
                    UnhandledPanic::Task | UnhandledPanic::Handler(_) => "",
                };
                print_line(format_args!(
                    "pool {pool}: panic {number}{task}{beside}: {message}"
                ));
                discard(payload);
            }
        }
    }

    /// Prints a handler's own panic, which is not resumed.
    fn print_handler(&self, name: &str, payload: Payload) {
        let message = message(&payload);
        print_line(format_args!(
            "pool {}: the handler {name} panicked: {message}",
            self.options.name
        ));
        discard(payload);
    }
}
