//! Gives a worker's tasks to other workers, wherever the worker keeps them.

use super::run;
use super::{WorkerThread, alt};
use crate::job::Task;

/// Moves all tasks to where thieves find them.
pub(crate) fn expose(worker: WorkerThread<'_>) {
    worker.deque().expose_all();
    // Some alternative queues do not give all of their tasks to thieves.
    while let Some(task) = alt::take(worker) {
        alt::push_back_batch(worker, task);
    }
}

/// Moves all tasks to the pool's queues, for a worker that leaves or rests and has no task in
/// progress.
pub(crate) fn pass_all_on(worker: WorkerThread<'_>) {
    run::clear_above(worker, 0);
    // The rest of a stolen batch must be passed on, too: thieves skip a worker that has left.
    let next = || alt::take(worker).or_else(|| worker.stolen_batch.pop());
    while let Some(task) = next() {
        run::pass_on(worker, task);
    }
}

/// Moves this context's youngest tasks to the pool's queues, up to the first task that a scope or
/// joiner waits for.
pub(crate) fn queue_detached(worker: WorkerThread<'_>) {
    while let Some(task) = alt::take_if(worker, Task::is_detached) {
        run::pass_on(worker, task);
    }
    while let Some(task) = worker.pop(worker.floor()) {
        if task.is_detached() {
            run::pass_on(worker, task);
        } else {
            return run::push_or_pass_on(worker, task);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::Pool;
    use crate::job::Task;
    use crate::pool::enter;
    use crate::spawn;
    use std::sync::mpsc::channel;
    use tidegate_policy::SharePolicy;

    #[test]
    fn leaving_guest_passes_on_stolen_batch() {
        // A pool that shares the machine may have only one slot while another job is active. The
        // busy thread would hold that slot, and none would be free for the guest.
        let builder = Pool::builder().workers(2).share(SharePolicy::Off);
        let pool = builder.max_threads(3).build().unwrap();
        let (started, has_started) = channel();
        let (go_on, may_go_on) = channel::<()>();
        // While a thread of the pool waits here, it takes nothing from the guest.
        let busy = Task::alone(pool.inner(), move |_| {
            started.send(()).unwrap();
            may_go_on.recv().unwrap();
        });
        spawn::submit(pool.inner(), None, busy);
        has_started.recv().unwrap();
        while !pool.inner().ledger().has_free() {
            std::thread::yield_now();
        }
        let (ran, has_run) = channel();
        let guest = enter::take_part(pool.inner(), None, |guest| {
            assert!(guest.membership.is_guest.get());
            let task = Task::alone(pool.inner(), move |_| ran.send(7).unwrap());
            spawn::submit(pool.inner(), None, task);
            let queued = guest.pop(guest.floor()).expect("the task of this guest");
            guest.keep_in_batch(queued);
            guest.index
        });
        assert_eq!(pool.inner().worker(guest).stolen_batch.len(), 0);
        go_on.send(()).unwrap();
        assert_eq!(has_run.recv(), Ok(7));
    }
}
