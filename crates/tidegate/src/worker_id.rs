//! Which worker the calling thread is.

use crate::worker::WorkerThread;
use std::fmt;

/// Names a worker of a pool.
///
/// Opaque: workers are threads, of which a pool may have more than run at once, so this is no index into anything; for
/// data per worker there is [`WorkerLocal`](crate::WorkerLocal). It stays the same while the thread is that worker, and
/// no other worker of any pool has it meanwhile. After a thread has left its pool the name may pass on to another
/// thread of the same pool, never to one of another pool. The order means nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId {
    pool: u64,
    worker: usize,
}

impl fmt::Debug for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkerId({} of pool {})", self.worker, self.pool)
    }
}

/// The worker that the calling thread is; `None` outside of all pools.
///
/// A thread of no pool is a worker while a call that takes part on its own stack lasts, such as [`join`](crate::join).
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
        pool: current.shared().serial,
        worker: current.index,
    })
}
