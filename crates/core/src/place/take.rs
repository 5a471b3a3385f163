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
    let in_reverse = worker.searches_in_reverse();
    (0..4).find_map(|n| match if in_reverse { 3 - n } else { n } {
        0 => take_here(worker, |_| true),
        1 => pool.injector.pop(),
        2 => pool.pop_of_scopes(),
        _ => Some(take_elsewhere(worker)?.0),
    })
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
    let (places, layout) = (&worker.pool().places, worker.pool().layout());
    // A worker without a CPU slot may not take strict tasks.
    let strict = worker.position.cpu_slot().is_some() || members::is_alone(worker.pool());
    let queues: &[bool] = if strict { &[true, false] } else { &[false] };
    let mut around = Some(layout.smallest(worker.position.cpu_slot()));
    while let Some(group) = around {
        for strict in queues {
            if let Some(task) = places.take(group, *strict, wanted) {
                return Some(task);
            }
        }
        around = layout.parent(group);
    }
    None
}

/// Takes a task from a place to which this worker does not belong.
pub(super) fn take_elsewhere(worker: WorkerThread<'_>) -> Option<Placed> {
    let open = take_beyond(worker, false, &|_| true);
    open.or_else(|| take_beyond(worker, true, &|_| true))
}

/// Takes a strict task of another place whose workers cannot get a slot now, because no slot is
/// free.
pub(crate) fn take_unserved(worker: WorkerThread<'_>) -> Option<Task> {
    let pool = worker.pool();
    // Relaxed: a hint.
    if pool.places.len() == 0 || pool.sleep.has_vacancy() {
        return None;
    }
    Some(take_beyond(worker, true, &|_| true)?.0)
}

/// Takes a task of the scope from any place.
pub(crate) fn take_of(worker: WorkerThread<'_>, scope: &ScopeCore) -> Option<Task> {
    let wanted = &|task: &Task| task.is_of(scope);
    let here = take_here(worker, wanted);
    let open = here.or_else(|| Some(take_beyond(worker, false, wanted)?.0));
    open.or_else(|| Some(take_beyond(worker, true, wanted)?.0))
}

/// Takes a task from a group to which this worker does not belong. If the task is `strict`, the
/// worker moves to a free CPU slot of that group first.
fn take_beyond(
    worker: WorkerThread<'_>,
    strict: bool,
    wanted: &dyn Fn(&Task) -> bool,
) -> Option<Placed> {
    let (pool, places) = (worker.pool(), &worker.pool().places);
    let alone = members::is_alone(pool);
    for group in groups_beyond(worker) {
        let left = worker.position.cpu_slot();
        let goes = || places.queue(group, true).holds(wanted) && (alone || move_to(worker, group));
        if strict && !goes() {
            continue;
        }
        let task = places.take(group, strict, wanted);
        if strict && left.is_some() && places.len() > 0 {
            // This worker has left its CPU slot, so another worker may now take it.
            wake::rouse(pool);
        }
        if let Some(task) = task {
            return Some((task, group));
        }
    }
    None
}

/// Returns the groups to which this worker does not belong, nearest first. The list is empty while
/// no task waits in any place.
fn groups_beyond(worker: WorkerThread<'_>) -> Vec<usize> {
    if worker.pool().places.len() == 0 {
        return Vec::new();
    }
    worker.pool().layout().beyond(worker.position.cpu_slot())
}
