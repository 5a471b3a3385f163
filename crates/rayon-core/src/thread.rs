//! The threads of a pool to come, and who starts them.

use std::{fmt, io};
use tidegate::closed::UnstartedThread;

/// A thread of a pool to come; a [spawn handler](crate::ThreadPoolBuilder::spawn_handler) makes a thread that [runs](Self::run) it.
pub struct ThreadBuilder {
    pub(crate) thread: UnstartedThread,
    pub(crate) name: Option<String>,
    pub(crate) stack_size: Option<usize>,
}

impl ThreadBuilder {
    /// Its number in the pool, counted from 0.
    pub fn index(&self) -> usize {
        self.thread.index()
    }

    /// What [`thread_name`](crate::ThreadPoolBuilder::thread_name) has called it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What was said of its stack by [`stack_size`](crate::ThreadPoolBuilder::stack_size), in bytes.
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Makes the calling thread this one, until the pool has been dropped and has nothing left to do.
    pub fn run(self) {
        self.thread.run();
    }

    /// What it is called if nobody has a better name.
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

/// Starts the threads of a pool. Nobody else can name this trait, so the two that implement it are all.
pub trait ThreadSpawn {
    /// Has `thread` run on a thread of its own.
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
}

/// Threads of the standard library.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        let name = thread.name_or_number();
        thread.thread.start(name)
    }
}

/// A function of the user's.
pub struct CustomSpawn<F>(pub(crate) F);

impl<F: FnMut(ThreadBuilder) -> io::Result<()>> ThreadSpawn for CustomSpawn<F> {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }
}
