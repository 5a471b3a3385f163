//! The positions of workers: their CPU slots, groups and distances.

use super::{Worker, WorkerThread};
use crate::pool::PoolInner;
use tidegate_policy::slots::Ledger;

/// Binds the worker's thread to the CPU of its CPU slot.
pub(crate) fn bind_worker(pool: &PoolInner, worker: &Worker) {
    let cpu_slot = worker.position.cpu_slot();
    let cpu = cpu_slot.and_then(|cpu_slot| pool.layout().cpu(cpu_slot));
    worker.position.binding.to(cpu);
}

/// Records the CPU slot that the ledger has given the worker.
#[inline]
pub(crate) fn follow(worker: &Worker, ledger: &Ledger) {
    let cpu_slot = ledger.cpu_slots().at(worker.index);
    worker.position.set_cpu_slot(cpu_slot);
}

/// Returns the distance between the current CPU slots of two workers. For a worker that has none,
/// its last one counts.
pub(crate) fn distance(pool: &PoolInner, a: usize, b: usize) -> u32 {
    let cpu_slot = |t| pool.worker_if(t)?.position.last_cpu_slot();
    pool.layout().distance(cpu_slot(a), cpu_slot(b))
}

pub(crate) fn is_in_group(worker: WorkerThread<'_>, group: usize) -> bool {
    let layout = worker.pool().layout();
    layout.is_around(worker.position.cpu_slot(), group)
}

/// Called when this thread becomes one of the pool's own threads. Records its CPU slot and, if the
/// pool binds threads, binds the thread.
pub(crate) fn take_cpu_slot(worker: WorkerThread<'_>) {
    let pool = worker.pool();
    if pool.options.bind {
        worker.position.binding.arrive(&pool.options.usable);
    }
    follow(&worker, &pool.ledger());
    bind(worker);
}

/// Called when this thread is no longer one of the pool's own threads. Removes its binding.
pub(crate) fn leave_cpu_slot(worker: WorkerThread<'_>) {
    worker.position.binding.depart();
}

/// Binds this thread to the CPU of its CPU slot, if the pool binds threads.
pub(crate) fn bind(worker: WorkerThread<'_>) {
    let pool = worker.pool();
    if pool.options.bind {
        bind_worker(pool, &worker);
    }
}

/// Moves the worker to a free CPU slot of the group. Returns false if all are taken.
pub(super) fn move_to(worker: WorkerThread<'_>, group: usize) -> bool {
    let mut ledger = worker.pool().change();
    let moved = ledger.move_to(worker.index, group);
    follow(&worker, &ledger);
    drop(ledger);
    bind(worker);
    moved
}
