//! How detached tasks come into a pool, without handles.

use crate::job::Task;
use crate::pool::PoolInner;
use crate::pool::enter;
use crate::simulated;
use crate::sleep::wake;
use crate::unwind::{self, UnhandledPanic};
use crate::worker::WorkerThread;
use crate::worker::run;
use std::sync::Arc;
use tidegate_policy::Priority;

impl Task {
    /// Creates a task without a handle, which holds the pool until it has run. Its panic is
    /// reported.
    pub fn alone(pool: &PoolInner, f: impl FnOnce(WorkerThread<'_>) + Send + 'static) -> Self {
        pool.hold();
        let body = move |current: WorkerThread<'_>| {
            if let Err(payload) = unwind::catch(|| f(current)) {
                current.pool().panics.report(payload, UnhandledPanic::Task);
            }
            current.pool().let_go();
        };
        Self::detached(body, WorkerThread::get())
    }
}

/// Submits a detached task, which must hold the pool, and which the pool's threads find even if
/// they all wait.
///
/// With a class, the task goes into the queue of that class, behind the tasks there. Without one, a
/// worker of the pool pushes it where it keeps its own tasks, and any other caller puts it into the
/// queue of the pool's class.
#[inline]
pub fn submit(pool: &Arc<PoolInner>, class: Option<Priority>, task: Task) {
    let caller = WorkerThread::get();
    let current = caller.filter(|current| std::ptr::eq(current.pool(), &**pool));
    match (current, class) {
        (Some(current), None) => push_where_seen(current, task),
        (Some(current), Some(class)) => queue_here(current, class, task),
        (None, _) => queue_from_outside(pool, class, task, caller),
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

fn queue_here(current: WorkerThread<'_>, class: Priority, task: Task) {
    let pool = current.pool();
    let Some(class) = pool.sources.classes.other(Some(class)) else {
        return run::pass_on(current, task);
    };
    pool.sources.classes.push(class, task);
    wake::work_queued(pool, Some(current.worker()));
    simulated::switch("spawns a task");
}

/// Queues a task for a caller outside the pool, and measures the wait of some of these tasks.
fn queue_from_outside(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    task: Task,
    caller: Option<WorkerThread<'_>>,
) {
    let task = match pool.wait_sampler.draw() {
        None => task,
        Some(sample) => {
            let body = move |current: WorkerThread<'_>| {
                current.tally.queue_wait.record(sample.wait());
                task.run(current.as_runner());
            };
            Task::detached(body, caller)
        }
    };
    pool.sources.inject(class, task);
    wake::work_visible(pool, None);
    enter::work_off_alone(pool);
    simulated::switch("spawns a task");
}

/// Spawns a task without a handle. The tasks that one worker spawns with this function begin in the
/// order in which it spawned them.
///
/// Each task has a stand-in in the deque. Any worker may run the stand-ins, in any order, and each
/// runs the oldest task.
pub(crate) fn spawn_fifo(pool: &Arc<PoolInner>, f: impl FnOnce() + Send + 'static) {
    let task = Task::alone(pool, |_| f());
    let Some(current) = WorkerThread::of(pool) else {
        // A task from outside waits in a queue anyway, which keeps the order.
        return submit(pool, None, task);
    };
    let spawner = current.index;
    current.in_order.push(task);
    let stand_in = move |current: WorkerThread<'_>| {
        let oldest = current.pool().worker(spawner).in_order.pop();
        oldest
            .expect("one for each stand-in")
            .run(current.as_runner());
    };
    submit(pool, None, Task::detached(stand_in, Some(current)));
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
        submit(&pool, Some(Priority::Urgent), Task::alone(&pool, |_| ()));
        let statuses = [1, 2].map(|t| pool.ledger().status(admitted[t]));
        assert_eq!(statuses, [Status::Running, Status::Waiting]);
        drop(membership);
        std::mem::forget(pool);
    }
}
