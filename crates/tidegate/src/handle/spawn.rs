//! Tasks that are spawned into a pool.

use super::Pool;
use crate::spawn::{Handle, Target, TaskBuilder};

impl Pool {
    /// Like [`spawn`](fn@crate::spawn), in this pool. Called from outside the pool, it waits while
    /// more tasks are queued than [`Builder::max_queued`](crate::Builder::max_queued) allows.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let handle = pool.spawn(|| 6 * 7);
    /// assert_eq!(handle.join(), 42);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn spawn<T: Send + 'static>(&self, f: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        self.task().spawn(f)
    }

    /// Returns a builder for a task of this pool with a name, a class or a token of its own.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let handle = pool.task().named("resize").spawn(|| 6 * 7);
    /// assert_eq!(handle.join(), 42);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    pub fn task(&self) -> TaskBuilder<'_> {
        TaskBuilder::new(Target::Pool(self))
    }

    /// Like [`spawn_future`](crate::spawn_future), in this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let six = pool.spawn(|| 6);
    /// assert_eq!(pool.spawn_future(async { six.await * 7 }).join(), 42);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[track_caller]
    pub fn spawn_future<F>(&self, future: F) -> Handle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.task().spawn_future(future)
    }
}
