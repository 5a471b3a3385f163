//! Runs one closure on every thread of a pool.

use crate::global::here;
use std::fmt;
use std::marker::PhantomData;

/// The argument of a broadcast closure. It identifies the thread that the closure runs on.
pub struct BroadcastContext<'a> {
    index: usize,
    num_threads: usize,
    /// Prevents the context from moving to another thread.
    marker: PhantomData<&'a mut dyn Fn()>,
}

impl BroadcastContext<'_> {
    pub(crate) fn new(index: usize, num_threads: usize) -> Self {
        Self {
            index,
            num_threads,
            marker: PhantomData,
        }
    }

    /// Returns the thread's index, which is below [`num_threads`](Self::num_threads).
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of threads that run the closure.
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.num_threads
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index)
            .field("num_threads", &self.num_threads)
            .finish_non_exhaustive()
    }
}

/// Calls `op` once on each thread of the caller's pool, or of the global pool if the caller belongs
/// to no pool. Returns the results in the order of the threads.
///
/// A busy thread calls `op` when its own deque is empty. A waiting thread calls `op` on top of its
/// stack.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build()?;
/// assert_eq!(pool.broadcast(|context| context.index() * 10), [0, 10, 20]);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
///
/// # Panics
/// If calls to `op` panic, this panics after all calls have ended, with the payload of the first
/// panic.
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    here().broadcast(|index, threads| op(BroadcastContext::new(index, threads)))
}

/// Like [`broadcast`], but does not wait and returns no results.
///
/// # Panics
/// This call does not panic. If `op` panics, the payload goes to the pool's [panic
/// handler](crate::ThreadPoolBuilder::panic_handler).
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    here().spawn_broadcast(move |index, threads| op(BroadcastContext::new(index, threads)));
}
