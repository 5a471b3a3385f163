//! Blocking calls, and polling in long-running leaf tasks.

use crate::simulated;
use crate::sleep::blocking;
use crate::worker::WorkerThread;

/// Runs `f`, which may block, while another thread of the pool uses this worker's slot.
///
/// Meanwhile, other workers can steal the tasks that this worker has forked. When `f` returns, the
/// caller continues as soon as a slot is free, or without one after a grace period of 2 ms
/// (`owed-grace` in `tidegate tunables`). A join, a scope or another wait inside `f` takes a slot
/// for its duration. Outside a pool, inside another `blocking` and in a pool without [spare
/// threads](crate::Builder::max_threads), this is a plain call.
///
/// Up to 512 threads of a pool can block at once while others run
/// ([`Builder::max_blocking_threads`](crate::Builder::max_blocking_threads)). If more threads
/// block, tasks may have to wait for one of these calls to return; the pool then prints a line to
/// standard error.
///
/// A panic of `f` is propagated to the caller.
///
/// ```
/// let line = tidegate::join(|| tidegate::blocking(|| "read from a slow disk"), || 1 + 1).0;
/// assert_eq!(line, "read from a slow disk");
/// ```
pub fn blocking<R>(f: impl FnOnce() -> R) -> R {
    blocking::run(f)
}

/// Responds to other workers' requests. Call it in a leaf task that runs for a long time without
/// forking.
///
/// Costs one load if there is no request. Progress never depends on this call, because a thief that
/// gets no response continues after a while.
///
/// ```
/// for chunk in 0..100 {
///     // … some microseconds of work on `chunk` …
///     # let _ = chunk;
///     tidegate::yield_point();
/// }
/// ```
#[inline]
#[track_caller]
pub fn yield_point() {
    if let Some(current) = WorkerThread::get() {
        current.poll();
        simulated::access("yields");
    }
}
