//! Options that only closed pools have.

use crate::unwind::UnhandledPanic;
use std::any::Any;
use std::fmt;

/// Options that only closed pools have.
pub struct Closed {
    /// Called with each panic that no join, scope or handle can return to a caller.
    pub on_panic: Box<dyn Fn(Box<dyn Any + Send>, UnhandledPanic) + Send + Sync>,
    /// The name of the setting that determined the number of threads, for error messages. Unused if
    /// the builder sets no number.
    pub threads_by: &'static str,
    /// Whether the tasks spawned by a thread begin in the order in which they were spawned, rather
    /// than latest first.
    pub breadth_first: bool,
    /// Whether an error is printed to standard error instead of returned if a variable is invalid,
    /// or if the system refuses to start a thread after it has started another one.
    pub forgiving: bool,
}

impl fmt::Debug for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closed").finish_non_exhaustive()
    }
}
