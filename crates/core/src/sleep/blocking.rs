//! What happens to a worker's slot while its task is in a blocking call.

use crate::pool::PoolInner;
use crate::simulated;
use crate::sleep;
use crate::sleep::wake;
use crate::stats::Phase;
use crate::unwind;
use crate::worker::memory;
use crate::worker::{WorkerThread, give, watch};
use tidegate_policy::search::Waiting;
use tidegate_policy::slots::Status;
use tidegate_policy::tunables::MAX_BLOCKING_THREADS;
use tidegate_sync::atomic::Ordering;
use tidegate_sync::stderr::print_line;

/// Called when a task waits and a slot is free, but all threads that could run the task are in
/// blocking calls. Counts these cases and prints a line for the first one.
#[cold]
pub(crate) fn report_exhausted(pool: &PoolInner) {
    // Relaxed: a counter.
    if pool.blocking_limit_hits.fetch_add(1, Ordering::Relaxed) > 0 {
        return;
    }
    // Relaxed: see `members::is_alone`.
    let why = if pool.refused.load(Ordering::Relaxed) {
        "the system refuses more threads".to_owned()
    } else {
        format!(
            "the pool has started all it may: max_threads is {}, and max_blocking_threads ({}) adds {}",
            pool.options.max_threads,
            MAX_BLOCKING_THREADS.variable.unwrap_or_default(),
            pool.options.max_blocking_threads,
        )
    };
    // Read before the line is written: writing may take long, and the ledger must not stay locked
    // meanwhile.
    let blocked = pool.ledger().blocked();
    print_line(format_args!(
        "pool {}: tasks wait because {blocked} threads are in blocking calls, and {why}",
        pool.options.name.escape_debug(),
    ));
}

/// Runs `f` without a slot; see [`blocking`](fn@crate::blocking).
pub(crate) fn run<R>(f: impl FnOnce() -> R) -> R {
    let Some(current) = WorkerThread::get() else {
        return f();
    };
    if current.pool().has_no_spares() || current.is_blocking() {
        return f();
    }
    enter(current);
    simulated::switch("begins a blocking call");
    let phase = watch::enter_phase(current, Phase::Blocked);
    let result = unwind::catch(f);
    let _ = watch::enter_phase(current, phase);
    leave(current);
    result.unwrap_or_else(|payload| unwind::resume(payload))
}

/// Gives the slot away; the task continues without one. From now on, its forks become public
/// immediately.
pub(crate) fn enter(worker: WorkerThread<'_>) {
    worker.set_blocking(true);
    memory::blocks(worker, true);
    give::expose(worker);
    worker.deque().shut();
    sleep::stop_running(worker, Status::Blocked);
    wake::rouse(worker.pool());
}

/// Takes a slot again. Returns whether this worker was inside `blocking`.
pub(crate) fn leave(worker: WorkerThread<'_>) -> bool {
    if !worker.is_blocking() {
        return false;
    }
    worker.set_blocking(false);
    memory::blocks(worker, false);
    sleep::resume_running(worker, Waiting::Owed);
    worker.poll();
    true
}
