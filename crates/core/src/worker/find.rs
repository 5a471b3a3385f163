//! Takes tasks from the sources outside the worker's own deque. docs/sources.md describes the
//! sources and the takers.

use super::memory::{self, Look};
use super::{Search, Worker, WorkerThread, placed};
use crate::job::Task;
use crate::pool::PoolInner;
use tidegate_policy::search::{Source, sources};

/// How a worker takes a task. This decides which tasks it may have.
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

/// Returns the sources that the pool uses, in the order in which workers look into them.
pub(crate) fn sources_of(pool: &PoolInner) -> &'static [Source] {
    sources(pool.sources.places.in_use(), pool.memory.is_ordered())
}

/// Looks into each source once, until there is a task. In the base, this may also give the worker's
/// slot away, which ends the search.
pub(crate) fn find(
    worker: WorkerThread<'_>,
    mut taker: Taker<'_, '_>,
    in_reverse: bool,
) -> Option<Task> {
    let sources = sources_of(worker.pool());
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
            (Source::OwnPlaces, _) => placed::take_here(worker, |_| true),
            (Source::OtherPlaces, Self::Base(_)) => placed::visit_elsewhere(worker),
            (Source::OtherPlaces, _) => Some(placed::take_elsewhere(worker)?.0),
            (Source::Victims, Self::Base(search)) => search.sweep(),
            (Source::Victims, Self::OnTop(rob)) => worker.pool().workers().find_map(rob),
            (Source::Plan, Self::Base(search)) => {
                memory::take(worker, Look::Next(&mut |many| search.draw(many)))
            }
            (Source::Plan, Self::Last) => memory::take(worker, Look::Next(&mut |_| 0)),
            (Source::UnservedPlaces, Self::Base(_)) => placed::take_unserved(worker),
            (Source::TakersOfOwn, Self::Base(search)) => {
                let mut takers = placed::takers_of_own(worker);
                takers.find_map(|t| search.steal(worker.pool().worker(t)))
            }
            (
                Source::Victims | Source::Plan | Source::UnservedPlaces | Source::TakersOfOwn,
                Self::Last | Self::OnTop(_) | Self::Rescue,
            ) => None,
        }
    }
}
