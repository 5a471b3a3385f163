//! Options that only closed pools have.

use crate::unwind::UnhandledPanic;
use std::any::Any;
use std::fmt;

/// Options that only closed pools have.
pub struct Closed {
    /// Called with each panic that no join, scope or handle can return to a caller.
    pub on_panic: Box<dyn Fn(Box<dyn Any + Send>, UnhandledPanic) + Send + Sync>,
    /// What set the number of threads, if the builder contains one; for messages.
    pub threads_by: &'static str,
    /// Tasks spawned by a thread begin in the order of their spawns, not the latest first.
    pub breadth_first: bool,
    /// Errors are printed to standard error instead of returned: an invalid variable, or a thread
    /// that the system refuses to start after it has started another one.
    pub forgiving: bool,
}

impl fmt::Debug for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closed").finish_non_exhaustive()
    }
}
