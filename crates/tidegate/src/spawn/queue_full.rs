//! The error of a spawn for which the pool's queue has no room.

use std::error::Error;
use std::fmt;

/// The error of [`TaskBuilder::spawn_if_room`](crate::TaskBuilder::spawn_if_room): the pool's queue
/// is full. It contains the closure that was not spawned.
///
/// ```
/// use std::sync::mpsc::channel;
///
/// let pool = tidegate::Pool::builder().workers(1).max_queued(1).build()?;
/// let (started, has_started) = channel();
/// let (go_on, may_go_on) = channel::<()>();
/// let busy = pool.spawn(move || {
///     started.send(()).unwrap();
///     may_go_on.recv()
/// });
/// has_started.recv()?;
/// let queued = pool.spawn(|| 1);
/// let refused = pool.task().spawn_if_room(|| 2).unwrap_err();
/// assert_eq!(refused.into_inner()(), 2);
/// go_on.send(())?;
/// assert_eq!(queued.join(), 1);
/// # busy.join()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct QueueFull<F> {
    closure: F,
    limit: usize,
}

impl<F> QueueFull<F> {
    pub(super) fn new(closure: F, limit: usize) -> Self {
        Self { closure, limit }
    }

    /// Returns the closure that was not spawned.
    #[must_use]
    pub fn into_inner(self) -> F {
        self.closure
    }
}

impl<F> fmt::Debug for QueueFull<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueFull")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl<F> fmt::Display for QueueFull<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit;
        write!(
            f,
            "the pool's queue is full: {limit} tasks (Builder::max_queued) wait for a worker"
        )
    }
}

impl<F> Error for QueueFull<F> {}
