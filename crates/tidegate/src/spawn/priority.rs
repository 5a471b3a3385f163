//! Tasks that are spawned into a class. docs/priorities.md has the protocol.

use super::packet::Packet;
use super::{Handle, held_task, queue, run_packet, spawn_carried, within_bound};
use crate::origin::Origin;
use crate::pool::PoolInner;
use crate::simulated;
use crate::sleep::wake;
use crate::worker::WorkerThread;
use crate::worker::carry;
use std::panic::Location;
use std::sync::Arc;
use tidegate_policy::Priority;

/// Like [`spawn`](fn@crate::spawn), but gives the task a class. The tasks that it spawns are of the
/// same class.
///
/// A worker that has ended a task continues with a task of the most urgent class that has any. So
/// however many tasks of other classes are queued, an urgent task begins as soon as a worker is
/// free. No class starves: each that has tasks begins one within
/// [`Builder::priority_aging`](crate::Builder::priority_aging) dispatches.
///
/// A class orders whole tasks. A task that runs is not interrupted, and what it forks (joins,
/// scopes, loops) is part of it. If a task waits for a less urgent one, by [`Handle::join`],
/// [`Handle::join_timeout`] or by awaiting the handle, the task that it waits for gets its class.
///
/// Forks inside a task with a class other than its pool's cost some 20 ns more, as with a
/// [`TaskLocal`](crate::TaskLocal) value.
///
/// To order the tasks of one scope by number, use
/// [`Scope::spawn_with_priority`](crate::Scope::spawn_with_priority). To divide the processors
/// between pools or programs, use [`Builder::weight`](crate::Builder::weight).
///
/// ```
/// use tidegate::policy::Priority;
///
/// let cleanup = tidegate::spawn_at_priority(Priority::Background, || "cleaned up");
/// let answer = tidegate::spawn_at_priority(Priority::Urgent, || 6 * 7);
/// assert_eq!((answer.join(), cleanup.join()), (42, "cleaned up"));
/// ```
#[track_caller]
pub fn spawn_at_priority<T, F>(priority: Priority, f: F) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let origin = Origin::at(Location::caller());
    in_pool(&crate::pool_here("spawn_at_priority"), priority, origin, f)
}

/// Spawns a task of this class, which its own tasks inherit.
pub(crate) fn in_pool<T, F>(
    pool: &Arc<PoolInner>,
    class: Priority,
    origin: Origin,
    f: F,
) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let suspended = carry::carry_unless_visible();
    let class = pool.classes.other(Some(class));
    spawn_carried(pool, origin, suspended.carried.at_priority(class), f)
}

/// Like `spawn`, for a class that is not the pool's.
#[cold]
pub(super) fn spawn_in_class<T, F>(
    pool: &Arc<PoolInner>,
    class: Priority,
    origin: Origin,
    f: F,
) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    within_bound(pool, |is_counted| {
        submit_packet(pool, class, origin, f, is_counted)
    })
}

pub(super) fn submit_packet<T, F>(
    pool: &Arc<PoolInner>,
    class: Priority,
    origin: Origin,
    f: F,
    is_counted: bool,
) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let packet = Packet::of(origin, f);
    let own = packet.clone();
    submit(pool, class, move |current| {
        run_packet(&own, Some(class), is_counted, current);
    });
    answer_signals(pool);
    Handle::new(packet, pool)
}

/// Called when the caller has spawned a task into a queue: no push to its deque has answered its
/// signals.
pub(super) fn answer_signals(pool: &PoolInner) {
    if let Some(current) = WorkerThread::of(pool) {
        current.poll();
    }
}

/// Submits a task whose class is not that of the pool.
#[cold]
pub(super) fn submit(
    pool: &Arc<PoolInner>,
    class: Priority,
    f: impl FnOnce(WorkerThread<'_>) + Send + 'static,
) {
    let caller = WorkerThread::get();
    let Some(current) = caller.filter(|current| std::ptr::eq(current.pool(), &**pool)) else {
        return queue(pool, f, caller, |task| pool.classes.push(class, task));
    };
    pool.classes.push(class, held_task(pool, f, caller));
    wake::work_queued(pool, Some(current.worker()));
    simulated::switch("spawns a task");
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::pool::members;
    use crate::worker::{Admission, Membership};
    use crate::{Pool, scope::ScopeCore};
    use std::panic::Location;
    use std::ptr::NonNull;
    use tidegate_policy::SharePolicy;
    use tidegate_policy::slots::Status;
    use tidegate_sync::atomic::Ordering;

    /// A waiter may rob what the spawner forks, but must not run the task in the queue.
    #[test]
    fn idle_thread_wakes_rather_than_waiter() {
        let builder = Pool::builder().workers(3).share(SharePolicy::Off);
        let pool = PoolInner::bare(Options::of(builder).unwrap());
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
        let origin = Origin::at(Location::caller());
        drop(in_pool(&pool, Priority::Urgent, origin, || ()));
        let statuses = [1, 2].map(|t| pool.ledger().status(admitted[t]));
        assert_eq!(statuses, [Status::Running, Status::Waiting]);
        drop(membership);
        std::mem::forget(pool);
    }
}
