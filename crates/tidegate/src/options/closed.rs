//! What a closed pool has beside the options of any pool.

use crate::unwind::UnhandledPanic;
use std::any::Any;
use std::fmt;

/// What a closed pool has beside the options of any pool.
pub struct Closed {
    /// Called with every panic that no join, scope or handle can carry.
    pub on_panic: Box<dyn Fn(Box<dyn Any + Send>, UnhandledPanic) + Send + Sync>,
    /// Who has set the number of threads, if the builder has one.
    pub threads_by: &'static str,
    /// Tasks that a thread spawns begin in the order of their spawns, not the last one first.
    pub breadth_first: bool,
    /// A bad variable, or a thread that is refused after another has been started, is told on standard error and is no error.
    pub forgiving: bool,
}

impl fmt::Debug for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closed").finish_non_exhaustive()
    }
}
