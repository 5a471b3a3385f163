//! Runs one task on top of the caller's frame, at the caller's request.
//!
//! The caller accepts that an unrelated task runs there, so this breaks no promise about waits. A
//! task in the worker's own deque may be a half whose joiner is in a frame below. So the worker
//! steals its oldest task as a thief would, instead of popping it. The joiner then finds that its
//! half was taken and its latch is open.

use crate::job::Task;
use crate::sleep;
use crate::worker::find::{Taker, find};
use crate::worker::wait;
use crate::worker::watch;
use crate::worker::{Worker, WorkerThread, steal_oldest, steal_own};
use tidegate_sync::clock;

/// Runs a task from the worker's own deque, or a part of a broadcast for this thread. Returns
/// whether there was one.
pub(crate) fn run_own(worker: WorkerThread<'_>) -> bool {
    worker.poll();
    run_found(worker, take_own(worker))
}

/// Runs a task from any worker or queue. Returns whether there was one.
pub(crate) fn run_any(worker: WorkerThread<'_>) -> bool {
    worker.poll();
    let own = || take_own(worker);
    let in_reverse = worker.searches_in_reverse();
    let mut rob = |victim: &Worker| {
        let is_other = victim.index != worker.index;
        is_other.then(|| take_from(worker, victim))?
    };
    let mut beyond =
        || wait::next_task(worker, || find(worker, Taker::OnTop(&mut rob), in_reverse));
    let task = if in_reverse {
        beyond().or_else(own)
    } else {
        own().or_else(beyond)
    };
    run_found(worker, task)
}

fn run_found(worker: WorkerThread<'_>, task: Option<Task>) -> bool {
    let found = task.is_some();
    if let Some(task) = task {
        wait::run_unrelated(worker, task);
        sleep::regain_slot(worker);
    }
    found
}

fn take_own(worker: WorkerThread<'_>) -> Option<Task> {
    if !worker.deque().is_empty() {
        worker.deque().expose_half();
    }
    steal_own(worker).or_else(|| worker.inbox.pop())
}

/// Steals a task from `victim`. If the victim has private tasks, exposes them by force rather than
/// by request, because the caller wants work now.
fn take_from(worker: WorkerThread<'_>, victim: &Worker) -> Option<Task> {
    if victim.deque.has_private() && worker.pool().expose_turn(clock::now()) {
        victim.deque.force_expose();
    }
    let task = steal_oldest(victim);
    if task.is_some() {
        watch::stole(worker, victim, 1);
    }
    task
}
