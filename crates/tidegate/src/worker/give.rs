//! Leaving a worker's tasks to others, wherever the worker keeps them.

use super::{WorkerThread, alt};
use crate::scope;

/// Leaves all tasks where thieves find them.
pub(crate) fn expose(worker: WorkerThread<'_>) {
    worker.deque().expose_all();
    alt::flush_to_stealable(worker);
}

/// Moves all tasks to the pool's queues, for a worker that has no frames and leaves or rests.
pub(crate) fn pass_all_on(worker: WorkerThread<'_>) {
    scope::clear_above(worker, 0);
    alt::flush_to_injector(worker);
    // What thieves have left of it; they pass over a worker that has left.
    while let Some(task) = worker.stolen_batch.pop() {
        scope::pass_on(worker, task);
    }
}

/// Moves this context's youngest tasks to the pool's queues, up to the first that a scope or joiner
/// waits for.
pub(crate) fn queue_detached(worker: WorkerThread<'_>) {
    alt::flush_detached(worker);
    while let Some(task) = worker.pop(worker.floor()) {
        if task.header().latch.is_detached() {
            scope::pass_on(worker, task);
        } else {
            let pushed = worker.push_task(task);
            debug_assert!(pushed.is_ok(), "it has just been there");
            return;
        }
    }
}
