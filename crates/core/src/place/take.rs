//! Takes tasks from places, in the order that docs/places.md specifies.

use super::stand::move_to;
use crate::job::Task;
use crate::pool::members;
use crate::scope::ScopeCore;
use crate::sleep::wake;
use crate::worker::WorkerThread;

/// A task, and the group whose queue it was in.
type Placed = (Task, usize);

/// Takes a task of the pool's own class from a place of this worker, from one of the pool's queues,
/// or from another place. Some searches check these in reverse order.
pub(crate) fn take_queued(worker: WorkerThread<'_>) -> Option<Task> {
    let pool = worker.pool();
    let mut sources = [0, 1, 2, 3];
    if worker.searches_in_reverse() {
        sources.reverse();
    }
    let take = |source| match source {
        0 => take_here(worker, |_| true),
        1 => pool.injector.pop(),
        2 => pool.pop_of_scopes(),
        _ => Some(take_elsewhere(worker)?.0),
    };
    sources.into_iter().find_map(take)
}

/// Takes a `wanted` task from a place of this worker, smallest place first.
#[inline]
pub(crate) fn take_here(worker: WorkerThread<'_>, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
    match worker.pool().places.len() {
        0 => None,
        _ => take_around(worker, &wanted),
    }
}

fn take_around(worker: WorkerThread<'_>, wanted: &dyn Fn(&Task) -> bool) -> Option<Task> {
    let places = &worker.pool().places;
    // A worker without a CPU slot may not take strict tasks.
    let strict = worker.position.cpu_slot().is_some() || members::is_alone(worker.pool());
    let mut around = worker.pool().layout().around(worker.position.cpu_slot());
    around.find_map(|group| {
        let own = if strict {
            places.take(group, true, wanted)
        } else {
            None
        };
        own.or_else(|| places.take(group, false, wanted))
    })
}

/// Takes a task from a place to which this worker does not belong.
pub(super) fn take_elsewhere(worker: WorkerThread<'_>) -> Option<Placed> {
    let open = take_open_beyond(worker, &|_| true);
    open.or_else(|| take_strict_beyond(worker, &|_| true))
}

/// Takes a strict task of another place whose workers cannot get a slot now, because no slot is
/// free.
pub(crate) fn take_unserved(worker: WorkerThread<'_>) -> Option<Task> {
    let pool = worker.pool();
    // Relaxed: a hint.
    if pool.places.len() == 0 || pool.sleep.has_vacancy() {
        return None;
    }
    Some(take_strict_beyond(worker, &|_| true)?.0)
}

/// Takes a task of the scope from any place.
pub(crate) fn take_of(worker: WorkerThread<'_>, scope: &ScopeCore) -> Option<Task> {
    let wanted = &|task: &Task| task.is_of(scope);
    if worker.pool().is_inherited() {
        // The only thread of a forked child process has no CPU slot.
        return worker.pool().places.take_anywhere(wanted);
    }
    let here = take_here(worker, wanted);
    here.or_else(|| {
        let open = take_open_beyond(worker, wanted);
        let (task, _) = open.or_else(|| take_strict_beyond(worker, wanted))?;
        Some(task)
    })
}

fn take_open_beyond(worker: WorkerThread<'_>, wanted: &dyn Fn(&Task) -> bool) -> Option<Placed> {
    let places = &worker.pool().places;
    let take = |group| Some((places.take(group, false, wanted)?, group));
    groups_beyond(worker).into_iter().find_map(take)
}

/// Moves to a group that has a strict task and a free CPU slot, and takes the task.
fn take_strict_beyond(worker: WorkerThread<'_>, wanted: &dyn Fn(&Task) -> bool) -> Option<Placed> {
    let (pool, places) = (worker.pool(), &worker.pool().places);
    let alone = members::is_alone(pool);
    let go = |group: usize| {
        let left = worker.position.cpu_slot();
        let there = places.queue(group, true).holds(wanted);
        if !(there && (alone || move_to(worker, group))) {
            return None;
        }
        let task = places.take(group, true, wanted);
        if left.is_some() && places.len() > 0 {
            // This worker has left its CPU slot, so another worker may now take it.
            wake::rouse(pool);
        }
        Some((task?, group))
    };
    groups_beyond(worker).into_iter().find_map(go)
}

/// Returns the groups to which this worker does not belong, nearest first. The list is empty while
/// no task waits in any place.
fn groups_beyond(worker: WorkerThread<'_>) -> Vec<usize> {
    if worker.pool().places.len() == 0 {
        return Vec::new();
    }
    worker.pool().layout().beyond(worker.position.cpu_slot())
}
