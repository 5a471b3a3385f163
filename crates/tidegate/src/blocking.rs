//! Calls that block, and polls in long leaves.

use crate::explain::tell;
use crate::pool::PoolInner;
use crate::space;
use crate::stats::Phase;
use crate::unwind;
use crate::worker::WorkerThread;
use tidegate_policy::search::Slotless;
use tidegate_policy::slots::Status;
use tidegate_policy::tunables::MAX_BLOCKING_THREADS;
use tidegate_sync::atomic::Ordering;

/// Runs `f`, which may block, while another thread of the pool uses this worker's slot.
///
/// Other workers can steal meanwhile what this worker has forked. When `f` returns, the caller continues as soon as a slot is
/// free, or without one after a short grace (`owed-grace` in `tidegate tunables`). A join, a scope or another wait inside `f`
/// takes a slot for as long as it lasts. Outside a pool, inside another `blocking` and in a pool without
/// [spare threads](crate::Builder::spare_threads) this is a plain call.
///
/// Up to 512 threads of a pool can block at once while others run
/// ([`Builder::max_blocking_threads`](crate::Builder::max_blocking_threads)). If more block, tasks may have to wait for one of these calls to
/// return; the pool prints a line to standard error that says so.
///
/// ```
/// let line = tidegate::join(|| tidegate::blocking(|| "read from a slow disk"), || 1 + 1).0;
/// assert_eq!(line, "read from a slow disk");
/// ```
pub fn blocking<R>(f: impl FnOnce() -> R) -> R {
    let Some(current) = WorkerThread::get() else {
        return f();
    };
    if current.shared().has_no_spares() || current.is_blocking() {
        return f();
    }
    current.enter_blocking();
    let phase = current.enter_phase(Phase::Blocked);
    let result = unwind::catch(f);
    let _ = current.enter_phase(phase);
    current.leave_blocking();
    result.unwrap_or_else(|payload| unwind::resume(payload))
}

impl PoolInner {
    /// A task waits and a slot is free, but the threads that could run it are in blocking calls: counts it, and prints it once.
    #[cold]
    pub(crate) fn report_exhausted(&self) {
        // Relaxed: a counter.
        if self.blocking_limit_hits.fetch_add(1, Ordering::Relaxed) > 0 {
            return;
        }
        // Relaxed: see `admit_if_alone`.
        let why = match self.refused.load(Ordering::Relaxed) {
            true => "the system refuses more threads".to_owned(),
            false => format!("the limit is {}", self.options.max_blocking_threads),
        };
        // Not while the line is written, which may take long.
        let blocked = self.ledger().blocked();
        tell(format_args!(
            "pool {}: tasks wait because {} threads are in blocking calls and no more can be started: {why} \
             (Builder::max_blocking_threads or {})",
            self.options.name.escape_debug(),
            blocked,
            MAX_BLOCKING_THREADS.variable.unwrap_or_default(),
        ));
    }
}

impl WorkerThread<'_> {
    /// Gives the slot away and goes on without one. What is forked from here on is public at once.
    pub(crate) fn enter_blocking(self) {
        self.set_blocking(true);
        space::blocks(self, true);
        self.expose();
        self.deque().shut();
        self.stop_running(Status::Blocked);
        self.shared().rouse();
    }

    /// Takes a slot again. Whether this worker was inside of `blocking`. A child made by `fork` needs no slot.
    pub(crate) fn leave_blocking(self) -> bool {
        if !self.is_blocking() || self.shared().is_inherited() {
            return false;
        }
        self.set_blocking(false);
        space::blocks(self, false);
        self.resume_running(Slotless::Owed);
        self.poll();
        true
    }
}

/// Answers what other workers have asked of this one, in a leaf that runs long without forking.
///
/// Costs one load when nobody has asked. Never needed for progress: thieves help themselves after a while.
///
/// ```
/// for chunk in 0..100 {
///     // … some microseconds of work on `chunk` …
///     # let _ = chunk;
///     tidegate::yield_point();
/// }
/// ```
#[inline]
pub fn yield_point() {
    if let Some(current) = WorkerThread::get() {
        current.poll();
    }
}
