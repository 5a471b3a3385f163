//! The options of closed pools.

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
    /// Whether to print some errors to standard error rather than return them: an invalid
    /// environment variable, and a thread that cannot be started although at least one other is
    /// running.
    pub forgiving: bool,
}

impl fmt::Debug for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closed").finish_non_exhaustive()
    }
}
