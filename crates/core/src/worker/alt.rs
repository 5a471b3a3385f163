//! Operations of a worker that keeps its tasks in an alternative queue instead of its deque
//! ([`crate::sources::alt_queue`]).

use super::memory;
use super::run;
use super::wait::{self, Awaited};
use super::watch;
use super::{Worker, WorkerThread, steal_one};
use crate::job::{HalfHeader, Task};
use crate::latch::State;
use crate::scope::ScopeCore;
use crate::sleep::wake;
use crate::sources::alt_queue::{AltQueue, Cursors, Own};
use tidegate_deque::Miss;

/// Whether the alternative queue accepts no more spawned tasks.
pub(super) fn is_full(worker: WorkerThread<'_>) -> bool {
    let is_full = |alt: &AltQueue| alt.is_full(worker.stolen_batch.len());
    worker.alt_queue.as_ref().is_some_and(is_full)
}

/// Moves the tasks of the deque into the alternative queue. Returns whether the worker has such a
/// queue.
#[inline]
pub(super) fn move_out(worker: WorkerThread<'_>) -> bool {
    match &worker.worker().alt_queue {
        None => false,
        Some(alt) => {
            move_into(worker, alt);
            true
        }
    }
}

fn move_into(worker: WorkerThread<'_>, alt: &AltQueue) {
    worker.deque().expose_all();
    let (mut moved, mut gives_way) = (0, None);
    let tasks = std::iter::from_fn(|| steal_one(worker.worker(), None).1).inspect(|_| moved += 1);
    match alt {
        AltQueue::Own(own) => tasks.for_each(|task| put(worker, own, task)),
        AltQueue::Shared => tasks.for_each(|task| run::pass_on(worker, task)),
        AltQueue::Planned => gives_way = memory::fork(worker, tasks),
    }
    worker.deque().shut();
    if moved > 0 {
        wake::work_visible(worker.pool(), Some(worker.worker()));
    }
    if let Some(turn) = gives_way {
        wait::until(worker, Awaited::Memory(&turn));
    }
}

fn put(worker: WorkerThread<'_>, own: &Own, task: Task) {
    if let Some(half) = task.half() {
        // The half's joiner is this thread, or waits for this thread, so no thread sleeps on the
        // latch.
        let _ = half.latch.set_keeper(worker.index);
    }
    if let Err(task) = own.put(task) {
        run::pass_on(worker, task);
    }
}

/// Takes a task from the alternative queue to run it.
pub(super) fn take(worker: WorkerThread<'_>) -> Option<Task> {
    worker.own_queue()?;
    let task = take_away(worker);
    worker.tally.takes.add(1);
    worker.tally.failed_takes.add(u64::from(task.is_none()));
    task
}

/// Takes a task from the alternative queue in order to pass it on to other threads.
pub(super) fn take_away(worker: WorkerThread<'_>) -> Option<Task> {
    let own = worker.own_queue()?;
    let task = own.take();
    if own.offers() {
        // After a take, thieves may be able to reach tasks that only the owner could reach before.
        wake::work_visible(worker.pool(), Some(worker.worker()));
    }
    task
}

/// Like `take`, but returns the task only if it is `wanted`. Otherwise moves the task to where
/// every thief finds it.
pub(super) fn take_if(worker: WorkerThread<'_>, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
    let task = take(worker)?;
    if wanted(&task) {
        return Some(task);
    }
    push_back_batch(worker, task);
    None
}

/// Adds a task to those that this worker has stolen and not begun. Any worker may take it from
/// there, except a waiter that runs tasks of the pool's queues on top of its wait: the task may
/// descend from the frames below.
pub(super) fn push_back_batch(worker: WorkerThread<'_>, task: Task) {
    worker.keep_in_batch(task);
    wake::work_visible(worker.pool(), Some(worker.worker()));
}

/// Takes back a half that is no longer in the deque, if the half is in a queue and no thread has
/// begun it. Returns whether this succeeded.
pub(super) fn take_back(worker: WorkerThread<'_>, half: &HalfHeader) -> bool {
    match worker.alt_queue {
        None => return false,
        Some(AltQueue::Planned) => return memory::take_back(worker, half),
        Some(AltQueue::Own(_) | AltQueue::Shared) => {}
    }
    match half.latch.state() {
        State::Kept(keeper) if keeper == worker.index => {
            worker.stolen_batch.take(half).is_some() || pop_until(worker, half)
        }
        State::Queued => worker.pool().sources.injector.take(half).is_some(),
        _ => false,
    }
}

/// Takes tasks out of the worker's own queue until it finds `half`, and keeps the others as a
/// stolen batch. They were spawned inside the first half of the join or, if the queue returns the
/// oldest task first, are older than `half`.
fn pop_until(worker: WorkerThread<'_>, half: &HalfHeader) -> bool {
    while let Some(task) = take(worker) {
        if task.is_half(half) {
            return true;
        }
        push_back_batch(worker, task);
    }
    false
}

/// Robs the victim's alternative queue for a waiter of the scope. A task of a scope identifies its
/// scope, but a half does not identify its frame, so a waiter for a half never calls this.
pub(super) fn rob(
    worker: WorkerThread<'_>,
    victim: &Worker,
    scope: &ScopeCore,
    cursors: &mut Cursors,
) -> Option<Task> {
    let task = steal(victim, cursors).ok()?;
    watch::stole(worker, victim, 1);
    if task.is_of(scope) {
        return Some(task);
    }
    push_back_batch(worker, task);
    None
}

/// Tries to take a task from the alternative queue of `victim`.
pub(super) fn steal(victim: &Worker, cursors: &mut Cursors) -> Result<Task, Miss> {
    let own = victim.own_queue().ok_or(Miss::Empty)?;
    own.steal(cursors.of(victim.index))
}
