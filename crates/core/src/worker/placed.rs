//! Takes tasks from places, in the order that docs/places.md specifies.

use super::{Worker, WorkerThread, stand};
use crate::job::Task;
use crate::pool::members;
use crate::scope::ScopeCore;
use crate::sleep::wake;

/// A task, and the group whose queue it was in.
type Placed = (Task, usize);

/// Takes a `wanted` task from a place of this worker, smallest place first.
#[inline]
pub(super) fn take_here(worker: WorkerThread<'_>, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
    match worker.pool().sources.places.len() {
        0 => None,
        _ => take_around(worker, &wanted),
    }
}

fn take_around(worker: WorkerThread<'_>, wanted: &dyn Fn(&Task) -> bool) -> Option<Task> {
    let (places, layout) = (&worker.pool().sources.places, worker.pool().layout());
    // A worker without a CPU slot may not take strict tasks.
    let strict = worker.position.cpu_slot().is_some() || members::is_alone(worker.pool());
    let queues: &[bool] = if strict { &[true, false] } else { &[false] };
    for group in layout.around(worker.position.cpu_slot()) {
        for strict in queues {
            if let Some(task) = places.take(group, *strict, wanted) {
                return Some(task);
            }
        }
    }
    None
}

/// Takes a task from a place to which this worker does not belong.
pub(super) fn take_elsewhere(worker: WorkerThread<'_>) -> Option<Placed> {
    let open = take_beyond(worker, false, &|_| true);
    open.or_else(|| take_beyond(worker, true, &|_| true))
}

/// Called by a searching worker to take a task from another place. Until [`come_home`] is called,
/// that place's workers also try to steal the forks of this task from this worker.
pub(super) fn visit_elsewhere(worker: WorkerThread<'_>) -> Option<Task> {
    let (task, group) = take_elsewhere(worker)?;
    // If the worker has moved to that place to take the task, it does not run the task from
    // outside.
    let home = Some(group).filter(|group| !stand::is_in_group(worker, *group));
    set_home(worker, home);
    Some(task)
}

/// Takes a strict task of another place whose workers cannot get a slot now, because no slot is
/// free.
pub(super) fn take_unserved(worker: WorkerThread<'_>) -> Option<Task> {
    let pool = worker.pool();
    // Relaxed: a hint.
    if pool.sources.places.len() == 0 || pool.sleep.has_vacancy() {
        return None;
    }
    Some(take_beyond(worker, true, &|_| true)?.0)
}

/// Takes a task of the scope from any place.
pub(super) fn take_of(worker: WorkerThread<'_>, scope: &ScopeCore) -> Option<Task> {
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
    let (pool, places) = (worker.pool(), &worker.pool().sources.places);
    let alone = members::is_alone(pool);
    for group in groups_beyond(worker) {
        let left = worker.position.cpu_slot();
        let goes =
            || places.queue(group, true).holds(wanted) && (alone || stand::move_to(worker, group));
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
    if worker.pool().sources.places.len() == 0 {
        return Vec::new();
    }
    worker.pool().layout().beyond(worker.position.cpu_slot())
}

/// Returns the workers that run a task of one of this worker's places without belonging to that
/// place.
pub(super) fn takers_of_own(worker: WorkerThread<'_>) -> impl Iterator<Item = usize> {
    let (pool, layout) = (worker.pool(), worker.pool().layout());
    let mut takers = vec![];
    if pool.sources.places.any_away() {
        let around = layout.around(worker.position.cpu_slot());
        for group in around.filter(|group| pool.sources.places.is_away(*group)) {
            let runs_it = |w: &&Worker| w.position.home.get() == Some(group);
            let others = pool.workers().filter(|w| w.index != worker.index);
            takers.extend(others.filter(runs_it).map(|w| w.index));
        }
    }
    takers.into_iter()
}

/// Called when the task at the base of this worker's stack has ended. The worker no longer runs a
/// task of a group to which it does not belong.
#[inline]
pub(super) fn come_home(worker: WorkerThread<'_>) {
    if worker.position.home.get().is_some() {
        set_home(worker, None);
    }
}

/// Sets the group whose task this worker runs from outside.
fn set_home(worker: WorkerThread<'_>, home: Option<usize>) {
    let places = &worker.pool().sources.places;
    places.move_away(worker.position.home.get(), home);
    worker.position.home.set(home);
}
