//! Tasks that are spawned into a class. docs/priorities.md has the protocol.

use super::{Handle, spawn_carried};
use std::panic::Location;
use std::sync::Arc;
use tidegate_core::Origin;
use tidegate_core::door::{self, PoolInner, carry, origin};
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
    let origin = origin::at(Location::caller());
    in_pool(door::pool_here("spawn_at_priority"), priority, origin, f)
}

/// Spawns a task of this class, which its own tasks inherit.
pub(crate) fn in_pool<T, F>(
    pool: Arc<PoolInner>,
    class: Priority,
    origin: Origin,
    f: F,
) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let suspended = carry::carry_unless_visible();
    let class = pool.sources.classes.other(Some(class));
    spawn_carried(pool, origin, suspended.carried.at_priority(class), f)
}
