//! How a context of a scope runs the tasks that it has left in the worker's deque.

use super::{ScopeCore, end_context};
use crate::job::Task;
use crate::simulated;
use crate::unwind;
use crate::worker::memory;
use crate::worker::run;
use crate::worker::{TaskSpan, WorkerThread};
use std::ptr::NonNull;
use tidegate_policy::WaitPolicy;

/// Runs a task of this scope in a context of its own, and then the tasks of the scope that this task
/// leaves in the deque.
#[inline]
pub(crate) fn run_in_context(worker: WorkerThread<'_>, scope: NonNull<ScopeCore>, task: Task) {
    debug_assert_eq!(task.scope().map(NonNull::from), Some(scope));
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
}

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
        } else if worker.pool().options.wait == WaitPolicy::HelpAny {
            help_other(worker, task);
        } else {
            run::pass_on(worker, task);
        }
    }
}

/// Not inlined into `run_covered`, which runs every task of a scope.
#[cold]
fn help_other(worker: WorkerThread<'_>, task: Task) {
    let _span = TaskSpan::begin(worker, || None);
    run::run_on_top(worker, task);
}
