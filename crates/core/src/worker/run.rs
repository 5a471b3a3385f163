//! How a worker runs a task, and where tasks go that it must not keep.

use super::WorkerThread;
use super::memory;
use crate::job::Task;
use crate::latch::{Latch, Thief};
use crate::scope;
use crate::simulated;
use crate::sleep::wake;
use std::ptr::NonNull;
use tidegate_deque::split::Gen;
use tidegate_sync::atomic::Ordering;

/// Gives the base of the stack an identity for this task: a scope and a generation. Waiting
/// workers use it to check whether they may rob the task's descendants.
#[inline]
pub(super) fn enter_base(worker: WorkerThread<'_>, task: &Task) {
    let alone = worker.deque().is_empty();
    // If an earlier task has left tasks in the deque, they are unrelated to this task, so
    // nothing may be robbed here.
    let scope = task.scope().filter(|_| alone);
    let scope = scope.map_or(std::ptr::null_mut(), |s| std::ptr::from_ref(s).cast_mut());
    // No latch names an unnamed base as its own half's, so the next unnamed base may keep the
    // generation.
    let is_unnamed = scope.is_null() && task.half().is_none();
    // Relaxed: only this thread writes it.
    let same = !scope.is_null() && worker.base_scope.load(Ordering::Relaxed) == scope;
    if same || (is_unnamed && worker.own.base_is_unnamed.get()) {
        return;
    }
    let generation = worker.forget_base();
    // Release, stored after the new generation; `forget_base` clears the scope before it. So a
    // robber that acquires the new generation does not see the old scope, see docs/waiting.md.
    worker.base_scope.store(scope, Ordering::Release);
    record_thief(worker, task, alone.then_some(generation), false);
    worker.own.base_is_unnamed.set(is_unnamed);
}

/// Records in the latch of a half which worker runs it, and wakes the joiner if it sleeps.
#[inline]
pub(super) fn record_thief(
    worker: WorkerThread<'_>,
    task: &Task,
    generation: Option<Gen>,
    on_top: bool,
) {
    if let Some(half) = task.half() {
        let joiner = half.latch.set_thief(Thief {
            worker: worker.index,
            generation,
            on_top,
        });
        wake::wake_joiner(worker.pool(), joiner);
    }
}

/// Runs a task that was taken from elsewhere, and then the tasks of the same scope that this task
/// leaves in the deque.
pub(crate) fn run_taken(worker: WorkerThread<'_>, task: Task) {
    memory::begin(worker, &task);
    worker.begin_task();
    match task.scope().map(NonNull::from) {
        Some(scope) => scope::run_in_context(worker, scope, task),
        None => {
            // A half records its own end, before its joiner continues.
            let says_so = task.half().is_some();
            let outer = worker.enter_context(std::ptr::null());
            task.run(worker.as_runner());
            worker.set_context(outer);
            if !says_so {
                memory::end(worker);
            }
        }
    }
    worker.pool().check_process();
    simulated::switch("has run a task");
}

/// Like `run_taken`, but for a worker with tasks in progress: new tasks that remain in the deque
/// are moved to queues.
pub(crate) fn run_on_top(worker: WorkerThread<'_>, task: Task) {
    let base = worker.deque().bottom();
    run_taken(worker, task);
    clear_above(worker, base);
}

/// Moves the tasks above `base` to queues, where they are not in the way of the frames below.
pub(crate) fn clear_above(worker: WorkerThread<'_>, base: u64) {
    while let Some(task) = worker.pop(base) {
        pass_on(worker, task);
    }
    if worker.deque().bottom() > base {
        worker.deque().lower(base);
    }
}

/// Pushes a task. If there is no room, the task goes to a queue.
#[inline]
pub(crate) fn push_or_pass_on(worker: WorkerThread<'_>, task: Task) {
    if let Err(task) = worker.push_task(task) {
        pass_on(worker, task);
    }
}

/// Puts a task where other workers find it: its scope's queue, or the pool's.
pub(crate) fn pass_on(worker: WorkerThread<'_>, task: Task) {
    task.count();
    match task.scope().map(|scope| scope.queue().clone()) {
        // No reference to the scope is held across the push: before the push returns, the task may
        // run and the scope may end.
        Some(queue) => queue.push(task),
        None => {
            let injector = &worker.pool().sources.injector;
            let joiner = injector.push_named(task, Latch::set_queued);
            wake::wake_joiner(worker.pool(), joiner);
        }
    }
    wake::work_queued(worker.pool(), Some(worker.worker()));
    simulated::switch("queues a task");
}
