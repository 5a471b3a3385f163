//! How detached tasks come into a pool, without handles.

use crate::job::Task;
use crate::pool::PoolInner;
use crate::pool::enter;
use crate::simulated;
use crate::sleep::wake;
use crate::unwind::{self, UnhandledPanic};
use crate::worker::run;
use crate::worker::{RunShared, SharedTask, WorkerThread};
use std::sync::Arc;
use tidegate_policy::Priority;

/// Spawns a task without a handle. Its panic is reported.
pub(crate) fn spawn_alone(pool: &Arc<PoolInner>, f: impl FnOnce() + Send + 'static) {
    submit(pool, move |current| run_alone(f, current));
}

/// Like `spawn_alone`, but the tasks that one worker spawns with this function begin in the order
/// in which it spawned them.
///
/// Each task has a stand-in in the deque. Any worker may run the stand-ins, in any order, and each
/// runs the oldest task.
pub(crate) fn spawn_fifo(pool: &Arc<PoolInner>, f: impl FnOnce() + Send + 'static) {
    let Some(current) = WorkerThread::of(pool) else {
        // A task from outside waits in a queue anyway, which keeps the order.
        return spawn_alone(pool, f);
    };
    let spawner = current.index;
    let body = move |current: WorkerThread<'_>| run_alone(f, current);
    current.in_order.push(Task::detached(body, Some(current)));
    submit(pool, move |current| {
        let oldest = current.pool().worker(spawner).in_order.pop();
        oldest
            .expect("one for each stand-in")
            .run(current.as_runner());
    });
}

/// Puts a task without a handle into the queue of its class, behind the tasks there; `None` stands
/// for the class of the pool. Its panic is reported.
pub fn queue_alone(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    f: impl FnOnce(WorkerThread<'_>) + Send + 'static,
) {
    submit_queued(pool, class, move |current| {
        run_alone(|| f(current), current)
    });
}

/// Creates a task without a handle. The task holds the pool until it has run, and is in no queue
/// yet.
pub(crate) fn task_alone(pool: &PoolInner, f: impl FnOnce() + Send + 'static) -> Task {
    held_task(
        pool,
        move |current| run_alone(f, current),
        WorkerThread::get(),
    )
}

/// Submits a task without a handle to the pool. The task must not unwind. The pool does not end
/// before the task has run.
fn submit(pool: &Arc<PoolInner>, f: impl FnOnce(WorkerThread<'_>) + Send + 'static) {
    submit_by(pool, |caller| held_task(pool, f, caller), push_where_seen);
}

/// Submits a shared task, which must hold the pool, in its class; `None` stands for the class of
/// the pool.
#[inline]
pub fn submit_shared<P: RunShared>(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    task: Arc<SharedTask<P>>,
) {
    let task = |_: Option<WorkerThread<'_>>| Task::shared(task);
    match class {
        Some(class) => {
            submit_in_class(pool, class, task);
            answer_signals(pool);
        }
        None => submit_by(pool, task, push_where_seen),
    }
}

fn push_where_seen(current: WorkerThread<'_>, task: Task) {
    // An alternative queue can hide the task until its owner forks again, and a thread that is not
    // running a task might never do so.
    let stays = current.alt_queue.is_none() || current.victim.is_busy.get();
    if stays {
        run::push_or_pass_on(current, task);
    } else {
        run::pass_on(current, task);
    }
}

/// Like `submit`, but always puts the task into the queue of its class; `None` stands for the class
/// of the pool. The pool finds the task there even if all of its threads wait, and runs earlier
/// tasks first.
pub fn submit_queued(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    f: impl FnOnce(WorkerThread<'_>) + Send + 'static,
) {
    let task = |caller: Option<WorkerThread<'_>>| held_task(pool, f, caller);
    match pool.sources.classes.other(class) {
        Some(class) => submit_in_class(pool, class, task),
        None => submit_by(pool, task, run::pass_on),
    }
}

/// Submits a task by `push` if the caller is a worker of the pool, otherwise to the pool's queue.
#[inline]
fn submit_by(
    pool: &Arc<PoolInner>,
    task: impl FnOnce(Option<WorkerThread<'_>>) -> Task,
    push: impl FnOnce(WorkerThread<'_>, Task),
) {
    let caller = WorkerThread::get();
    let task = task(caller);
    match caller {
        Some(current) if std::ptr::eq(current.pool(), &**pool) => push(current, task),
        _ => queue(pool, task, caller, |task| pool.sources.injector.push(task)),
    }
}

/// Queues a task for a caller outside the pool, and measures the wait of some of these tasks.
fn queue(
    pool: &Arc<PoolInner>,
    task: Task,
    caller: Option<WorkerThread<'_>>,
    push: impl FnOnce(Task),
) {
    push(match pool.wait_sampler.draw() {
        None => task,
        Some(sample) => {
            let body = move |current: WorkerThread<'_>| {
                current.tally.queue_wait.record(sample.wait());
                task.run(current.as_runner());
            };
            Task::detached(body, caller)
        }
    });
    wake::work_visible(pool, None);
    enter::work_off_alone(pool);
    simulated::switch("spawns a task");
}

fn held_task(
    pool: &PoolInner,
    f: impl FnOnce(WorkerThread<'_>) + Send + 'static,
    caller: Option<WorkerThread<'_>>,
) -> Task {
    pool.hold();
    let body = move |current: WorkerThread<'_>| {
        f(current);
        current.pool().let_go();
    };
    Task::detached(body, caller)
}

/// Runs a closure without a handle, and reports its panic.
fn run_alone(f: impl FnOnce(), current: WorkerThread<'_>) {
    if let Err(payload) = unwind::catch(f) {
        current.pool().panics.report(payload, UnhandledPanic::Task);
    }
}

/// Called when the caller has spawned a task into a queue: no push to its deque has answered its
/// signals.
pub fn answer_signals(pool: &PoolInner) {
    if let Some(current) = WorkerThread::of(pool) {
        current.poll();
    }
}

/// Submits a task whose class is not that of the pool.
#[cold]
pub(crate) fn submit_in_class(
    pool: &Arc<PoolInner>,
    class: Priority,
    task: impl FnOnce(Option<WorkerThread<'_>>) -> Task,
) {
    let caller = WorkerThread::get();
    let task = task(caller);
    let Some(current) = caller.filter(|current| std::ptr::eq(current.pool(), &**pool)) else {
        return queue(pool, task, caller, |task| {
            pool.sources.classes.push(class, task)
        });
    };
    pool.sources.classes.push(class, task);
    wake::work_queued(pool, Some(current.worker()));
    simulated::switch("spawns a task");
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use crate::pool::members;
    use crate::worker::{Admission, Membership};
    use crate::{Pool, scope::ScopeCore};
    use std::ptr::NonNull;
    use tidegate_policy::SharePolicy;
    use tidegate_policy::slots::Status;
    use tidegate_sync::atomic::Ordering;

    /// A waiter may rob what the spawner forks, but must not run the task in the queue.
    #[test]
    fn idle_thread_wakes_rather_than_waiter() {
        let builder = Pool::builder().workers(3).share(SharePolicy::Off);
        let pool = PoolInner::bare(builder.options().unwrap());
        let admitted = members::admit_all(&pool, 3);
        for (t, status) in [(admitted[1], Status::Idle), (admitted[2], Status::Waiting)] {
            assert_eq!(pool.change().stop(t, status), None);
        }
        let membership = Membership::enter(pool.clone(), Admission::granted(admitted[0]));
        let (worker, waiter) = (membership.current(), pool.worker(admitted[2]));
        let scope: NonNull<ScopeCore> = NonNull::dangling();
        // Relaxed: everything runs on this thread.
        worker.base_scope.store(scope.as_ptr(), Ordering::Relaxed);
        waiter.waiting.scope.set(scope.as_ptr());
        waiter.waiting.may_help.set(true);
        let task = |caller: Option<WorkerThread<'_>>| held_task(&pool, |_| (), caller);
        submit_in_class(&pool, Priority::Urgent, task);
        let statuses = [1, 2].map(|t| pool.ledger().status(admitted[t]));
        assert_eq!(statuses, [Status::Running, Status::Waiting]);
        drop(membership);
        std::mem::forget(pool);
    }
}
