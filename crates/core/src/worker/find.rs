//! Takes tasks from the sources outside the worker's own deque. docs/sources.md describes the
//! sources and the takers.

use super::memory::{self, Look};
use super::stand;
use super::{Search, Worker, WorkerThread};
use crate::job::Task;
use crate::pool::members;
use crate::scope::ScopeCore;
use crate::sleep::wake;
use tidegate_policy::search::{Source, sources};

/// Who takes a task, and so which tasks it may be.
pub(crate) enum Taker<'t, 'w> {
    /// A worker without frames.
    Base(&'t mut Search<'w>),
    /// A guest that leaves a pool without threads. The other guests run their own forks.
    Last,
    /// A worker that runs any task on top of its frames. The closure robs a worker of one task.
    OnTop(&'t mut dyn FnMut(&Worker) -> Option<Task>),
    /// A worker that runs a task of the pool's queues on top of its frames.
    Rescue,
}

/// A task, and the group whose queue it was in.
type Placed = (Task, usize);

/// Looks into each source once, until there is a task. In the base, this may also give the worker's
/// slot away, which ends the search.
pub(crate) fn find(
    worker: WorkerThread<'_>,
    mut taker: Taker<'_, '_>,
    in_reverse: bool,
) -> Option<Task> {
    let pool = worker.pool();
    let sources = sources(pool.sources.places.in_use(), pool.memory.is_ordered());
    for n in 0..sources.len() {
        let n = if in_reverse { sources.len() - 1 - n } else { n };
        let task = taker.take(worker, sources[n]);
        if task.is_some() || (matches!(taker, Taker::Base(_)) && worker.must_stop()) {
            return task;
        }
    }
    None
}

impl Taker<'_, '_> {
    fn take(&mut self, worker: WorkerThread<'_>, source: Source) -> Option<Task> {
        let queues = &worker.pool().sources;
        match (source, self) {
            (Source::Injector, _) => queues.injector.pop(),
            (Source::ScopeQueues, _) => queues.scopes.pop(),
            (Source::OwnPlaces, _) => take_here(worker, |_| true),
            (Source::OtherPlaces, Self::Base(_)) => visit_elsewhere(worker),
            (Source::OtherPlaces, _) => Some(take_elsewhere(worker)?.0),
            (Source::Victims, Self::Base(search)) => search.sweep(),
            (Source::Victims, Self::OnTop(rob)) => worker.pool().workers().find_map(rob),
            (Source::Plan, Self::Base(search)) => {
                memory::take(worker, Look::Next(&mut |many| search.draw(many)))
            }
            (Source::Plan, Self::Last) => memory::take(worker, Look::Next(&mut |_| 0)),
            (Source::UnservedPlaces, Self::Base(_)) => take_unserved(worker),
            (Source::TakersOfOwn, Self::Base(search)) => {
                let mut takers = stand::takers_of_own(worker);
                takers.find_map(|t| search.steal(worker.pool().worker(t)))
            }
            (
                Source::Victims | Source::Plan | Source::UnservedPlaces | Source::TakersOfOwn,
                Self::Last | Self::OnTop(_) | Self::Rescue,
            ) => None,
        }
    }
}

/// Takes a `wanted` task from a place of this worker, smallest place first.
#[inline]
fn take_here(worker: WorkerThread<'_>, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
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
fn take_elsewhere(worker: WorkerThread<'_>) -> Option<Placed> {
    let open = take_beyond(worker, false, &|_| true);
    open.or_else(|| take_beyond(worker, true, &|_| true))
}

/// Called by a searching worker to take a task from another place. Until [`come_home`] is called,
/// that place's workers also try to steal the forks of this task from this worker.
fn visit_elsewhere(worker: WorkerThread<'_>) -> Option<Task> {
    let (task, group) = take_elsewhere(worker)?;
    // If the worker has moved to that place to take the task, it does not run the task from
    // outside.
    let home = Some(group).filter(|group| !stand::is_in_group(worker, *group));
    stand::set_home(worker, home);
    Some(task)
}

/// Takes a strict task of another place whose workers cannot get a slot now, because no slot is
/// free.
fn take_unserved(worker: WorkerThread<'_>) -> Option<Task> {
    let pool = worker.pool();
    // Relaxed: a hint.
    if pool.sources.places.len() == 0 || pool.sleep.has_vacancy() {
        return None;
    }
    Some(take_beyond(worker, true, &|_| true)?.0)
}

/// Takes a task of the scope from any place.
pub(super) fn take_placed_of(worker: WorkerThread<'_>, scope: &ScopeCore) -> Option<Task> {
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
