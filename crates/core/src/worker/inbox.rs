//! A thread's inbox, which holds its parts of broadcasts.

use super::give;
use super::{WorkerThread, wait};
use crate::sleep;
use crate::sleep::wake;
use tidegate_policy::slots::Status;

/// Runs the tasks that are in the inbox now, on top of a task that waits.
pub(crate) fn run(worker: WorkerThread<'_>) {
    run_each(worker, || ());
}

/// Like `run`, but for a thread that has no task in progress.
pub(crate) fn run_at_base(worker: WorkerThread<'_>) {
    run_each(worker, || worker.tally.base_tasks.add(1));
}

fn run_each(worker: WorkerThread<'_>, count: impl Fn()) {
    for _ in 0..worker.inbox.len() {
        let Some(task) = worker.inbox.pop() else {
            return;
        };
        wake::pass_call_on(worker);
        count();
        wait::run_unrelated(worker, task);
    }
}

/// Like `run`, but for a thread that sleeps: it runs the parts without a slot, then sleeps again
/// with `status`. Returns whether there was a part.
pub(crate) fn run_asleep(worker: WorkerThread<'_>, status: Status) -> bool {
    let pool = worker.pool();
    let rises = worker.inbox.len() > 0 && {
        let mut ledger = pool.change();
        let rises = ledger.rise(worker.index);
        let ledger = ledger.publish();
        if rises {
            wake::ask_late(&ledger, worker.worker());
        }
        rises
    };
    if !rises {
        return false;
    }
    worker.sleeper.set_needs_no_slot();
    match status {
        Status::Idle => run_at_base(worker),
        _ => run(worker),
    }
    give::expose(worker);
    sleep::stop_running(worker, status);
    true
}
