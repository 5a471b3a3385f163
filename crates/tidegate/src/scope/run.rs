//! How workers run tasks of scopes, and where tasks go that a worker must not keep.

use super::{ScopeCore, end_context};
use crate::job::Task;
use crate::latch::Latch;
use crate::memory;
use crate::simulated;
use crate::sleep::wake;
use crate::unwind;
use crate::worker::{TaskSpan, WorkerThread};
use std::ptr::NonNull;
use tidegate_policy::WaitPolicy;

/// Empties the deque down to where this context began: runs the tasks of the covered scope, passes
/// other tasks on, and frees their positions.
pub(super) fn drain(worker: WorkerThread<'_>, scope: &ScopeCore) {
    let base = worker.floor();
    // One `catch` covers all tasks up to the next panic.
    while let Err(payload) = unwind::catch(|| run_covered(worker, scope, base)) {
        scope.store_panic(payload, worker);
    }
    if worker.deque().bottom() > base {
        worker.deque().lower(base);
    }
}

fn run_covered(worker: WorkerThread<'_>, scope: &ScopeCore, base: u64) {
    while let Some(task) = worker.pop(base) {
        if task.is_covered_by(scope) {
            task.run(worker.as_runner());
            simulated::switch("has run a task");
        } else if helps_any(worker) {
            help_other(worker, task);
        } else {
            pass_on(worker, task);
        }
    }
}

/// Not inlined into `run_covered`, which runs every task of a scope.
#[cold]
fn help_other(worker: WorkerThread<'_>, task: Task) {
    let _span = TaskSpan::begin(worker, || None);
    run_on_top(worker, task);
}

/// Whether this worker runs unrelated tasks while it waits. In a child made by `fork`, such tasks
/// belong to the parent.
fn helps_any(worker: WorkerThread<'_>) -> bool {
    let pool = worker.pool();
    pool.options.wait == WaitPolicy::HelpAny && !pool.is_inherited()
}

/// Runs a task that was taken from elsewhere, and then the tasks of the same scope that this task
/// leaves in the deque.
pub(crate) fn run_taken(worker: WorkerThread<'_>, task: Task) {
    memory::begin(worker, &task);
    worker.begin_task();
    let Some(scope) = task.scope().map(NonNull::from) else {
        // A half records its own end, before its joiner continues.
        let says_so = task.header().latch.is_half();
        let outer = worker.enter_context(std::ptr::null());
        task.run(worker.as_runner());
        worker.set_context(outer);
        if !says_so {
            memory::end(worker);
        }
        simulated::switch("has run a task");
        return;
    };
    task.count();
    let outer = worker.enter_context(scope.as_ptr());
    let ended = unwind::catch(|| task.run(worker.as_runner()));
    // SAFETY: the task's count is now this context's, so the scope waits.
    let core = unsafe { scope.as_ref() };
    if let Err(payload) = ended {
        core.store_panic(payload, worker);
    }
    drain(worker, core);
    worker.set_context(outer);
    memory::end(worker);
    // SAFETY: 1. this context holds that count, which is given back here.
    unsafe { end_context(scope, worker) };
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
    if task.header().latch.is_detached() && worker.pool().is_inherited() {
        // The parent runs this task, and nothing in this child waits for it.
        return;
    }
    task.count();
    match task.scope().map(|scope| scope.queue().clone()) {
        // No reference to the scope is held across the push: before the push returns, the task may
        // run and the scope may end.
        Some(queue) => queue.push(task),
        None => {
            let joiner = worker.pool().injector.push_named(task, Latch::set_queued);
            wake::wake_joiner(worker.pool(), joiner);
        }
    }
    wake::work_visible(worker.pool(), Some(worker.worker()));
    simulated::switch("queues a task");
}
