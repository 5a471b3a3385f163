//! The threads of a pool that is being built, and how they start.

use std::{fmt, io};
use tidegate_core::door::closed::UnstartedThread;

/// A thread of a pool that is being built. A [spawn
/// handler](crate::ThreadPoolBuilder::spawn_handler) must start a system thread that calls
/// [`run`](Self::run).
pub struct ThreadBuilder {
    pub(crate) thread: UnstartedThread,
    pub(crate) name: Option<String>,
    pub(crate) stack_size: Option<usize>,
}

impl ThreadBuilder {
    /// Returns the thread's index in its pool, counting from 0.
    pub fn index(&self) -> usize {
        self.thread.index()
    }

    /// Returns the thread's name, if one was set with
    /// [`thread_name`](crate::ThreadPoolBuilder::thread_name).
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the thread's stack size in bytes, if one was set with
    /// [`stack_size`](crate::ThreadPoolBuilder::stack_size).
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Makes the calling thread this thread of the pool. Returns after the pool has been dropped
    /// and has no tasks left.
    pub fn run(self) {
        self.thread.run();
    }

    /// Returns the thread's name, or its default name if no name was set.
    pub(crate) fn name_or_number(&self) -> String {
        let number = || format!("rayon-{}", self.index());
        self.name.clone().unwrap_or_else(number)
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.index())
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}

/// Starts the threads of a pool. Sealed: other crates cannot name this trait, so only the two types
/// below implement it.
pub trait ThreadSpawn {
    /// Starts a new thread that runs `thread`.
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
}

/// Starts threads with the standard library.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        let name = thread.name_or_number();
        thread.thread.start(name)
    }
}

/// Starts threads with a function that the user has set.
pub struct CustomSpawn<F>(pub(crate) F);

impl<F: FnMut(ThreadBuilder) -> io::Result<()>> ThreadSpawn for CustomSpawn<F> {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }
}
