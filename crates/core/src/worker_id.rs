//! Identifies the calling thread's worker.

use crate::worker::WorkerThread;
use std::fmt;

/// Identifies a worker of a pool; returned by [`current_worker`].
///
/// A worker keeps its id for as long as its thread is a worker of the pool, and no other worker of
/// any pool has the same id during that time. When a thread has left its pool, its id may pass to
/// another thread of the same pool, but never to a thread of another pool.
///
/// An id is not an index: a pool may have more threads than may run at once. For data per worker,
/// use [`WorkerLocal`](crate::WorkerLocal). Ids are ordered only so that they can be sorted; the
/// order has no meaning.
///
/// ```
/// use std::collections::HashSet;
/// use tidegate::{Pool, current_worker};
///
/// let pool = Pool::builder().workers(2).build()?;
/// let workers: HashSet<_> = pool.broadcast(|_| current_worker()).into_iter().collect();
/// assert_eq!(workers.len(), 2);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId {
    pool: u64,
    worker: usize,
}

impl fmt::Debug for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkerId({}, pool {})", self.worker, self.pool)
    }
}

/// Returns the calling thread's worker, or `None` outside all pools.
///
/// A thread outside all pools is a worker for the duration of a call that runs on its own stack,
/// such as [`join`](crate::join).
///
/// ```
/// use tidegate::{Pool, current_worker};
///
/// assert_eq!(current_worker(), None);
/// let pool = Pool::builder().workers(1).build()?;
/// let worker = pool.install(|| current_worker());
/// assert!(worker.is_some());
/// assert_eq!(pool.install(|| current_worker()), worker);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[must_use]
pub fn current_worker() -> Option<WorkerId> {
    let current = WorkerThread::get()?;
    Some(WorkerId {
        pool: current.pool().serial,
        worker: current.index,
    })
}
