//! A worker's slot while its task is in a call that blocks.

use crate::memory;
use crate::pool::PoolInner;
use crate::sleep;
use crate::sleep::wake;
use crate::worker::{WorkerThread, give};
use tidegate_policy::search::Waiting;
use tidegate_policy::slots::Status;
use tidegate_policy::tunables::MAX_BLOCKING_THREADS;
use tidegate_sync::atomic::Ordering;
use tidegate_sync::stderr::print_line;

/// A task waits and a slot is free, but the threads that could run it are in blocking calls. Counts that, and prints it once.
#[cold]
pub(crate) fn report_exhausted(pool: &PoolInner) {
    // Relaxed: a counter.
    if pool.blocking_limit_hits.fetch_add(1, Ordering::Relaxed) > 0 {
        return;
    }
    // Relaxed: see `admit_if_alone`.
    let why = match pool.refused.load(Ordering::Relaxed) {
        true => "the system refuses more threads".to_owned(),
        false => format!("the limit is {}", pool.options.max_blocking_threads),
    };
    // Not while the line is written, which may take long.
    let blocked = pool.ledger().blocked();
    print_line(format_args!(
        "pool {}: tasks wait because {} threads are in blocking calls and no more can be started: {why} \
         (Builder::max_blocking_threads or {})",
        pool.options.name.escape_debug(),
        blocked,
        MAX_BLOCKING_THREADS.variable.unwrap_or_default(),
    ));
}

/// Gives the slot away; the task runs on without one. From here on its forks are public at once.
pub(crate) fn enter(worker: WorkerThread<'_>) {
    worker.set_blocking(true);
    memory::blocks(worker, true);
    give::expose(worker);
    worker.deque().shut();
    sleep::stop_running(worker, Status::Blocked);
    wake::rouse(worker.shared());
}

/// Takes a slot again. Returns whether this worker was inside `blocking`. A child made by `fork` needs no slot.
pub(crate) fn leave(worker: WorkerThread<'_>) -> bool {
    if !worker.is_blocking() || worker.shared().is_inherited() {
        return false;
    }
    worker.set_blocking(false);
    memory::blocks(worker, false);
    sleep::resume_running(worker, Waiting::Owed);
    worker.poll();
    true
}
