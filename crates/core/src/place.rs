//! Places: groups of workers that share a cache (cache domains), each with its own queues.
//! docs/places.md describes the protocol.
//!
//! A [`PlaceId`] names a group of CPU slots of one pool. Tasks put there wait in the group's queues
//! (`sources::Places`). The ledger assigns CPU slots to workers, and each worker keeps a copy of its
//! own assignment (`worker::stand`).
//!
//! Tasks without a place stay where they were forked, and the nearest thieves steal them first.

use crate::job::Task;
use crate::layout::Layout;
use crate::pool::PoolInner;
use crate::pool::enter;
use crate::scope::Scope;
use crate::simulated;
use crate::sleep::wake;
use crate::worker::WorkerThread;
use crate::worker::memory;
use crate::worker::{carry, stand};
use std::sync::Arc;
use tidegate_policy::slots::Wake;
use tidegate_sync::barrier;

/// A place of a pool: some of its workers, by default those that share a last-level cache
/// ([`Builder::places`](crate::Builder::places)).
///
/// Obtained from [`Pool::places`](crate::Pool::places) or
/// [`current_place`](fn@crate::current_place). If a task is put at a place
/// ([`Scope::spawn_at`](crate::Scope::spawn_at), [`Pool::install_at`](crate::Pool::install_at),
/// `IntervalBuilder::at` of `tidegate`), a worker of the place runs it, or another worker that has
/// nothing else to do.
///
/// ```
/// use tidegate::Pool;
///
/// let pool = Pool::builder().workers(2).places("each:1".parse()?).build()?;
/// let places = pool.places();
/// assert_eq!(places.len(), 2);
/// let there = pool.install_at(places[1].strict(), || tidegate::current_place());
/// assert_eq!(there, Some(places[1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaceId {
    /// The serial number of the pool's layout; distinguishes the places of different pools.
    layout: u64,
    group: u32,
    strict: bool,
}

impl PlaceId {
    fn new(layout: &Layout, group: usize) -> Self {
        Self {
            layout: layout.serial,
            group: u32::try_from(group).expect("no more places than workers and their groups"),
            strict: false,
        }
    }

    /// Returns the strict form of this place: only the place's own workers run the tasks that are
    /// put there.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use tidegate::{Pool, current_place};
    ///
    /// let pool = Pool::builder().workers(2).places("each:1".parse()?).build()?;
    /// let there = pool.places()[1].strict();
    /// let ran_at = Mutex::new(None);
    /// pool.scope(|scope| scope.spawn_at(there, |_| *ran_at.lock().unwrap() = current_place()));
    /// assert_eq!(ran_at.into_inner()?, Some(pool.places()[1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn strict(self) -> Self {
        Self {
            strict: true,
            ..self
        }
    }

    /// Returns the index of the place in its pool. The smallest places come first.
    pub(crate) fn number(self) -> usize {
        self.group as usize
    }

    /// Whether only the place's own workers may run tasks that are put there. The default is false.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(1).build()?;
    /// assert!(!pool.places()[0].is_strict());
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    pub fn is_strict(self) -> bool {
        self.strict
    }
}

/// Returns the smallest places: those that contain no other place.
pub(crate) fn places(pool: &PoolInner) -> Vec<PlaceId> {
    let layout = pool.layout();
    let places = 0..layout.leaves();
    places.map(|group| PlaceId::new(layout, group)).collect()
}

/// Returns the smallest place that this worker belongs to.
pub(crate) fn place(worker: WorkerThread<'_>) -> PlaceId {
    let layout = worker.pool().layout();
    PlaceId::new(layout, layout.smallest(worker.position.cpu_slot()))
}

/// Returns the number of the smallest place that this worker belongs to, if it has a CPU slot.
pub fn number_here(worker: WorkerThread<'_>) -> Option<usize> {
    let slot = worker.position.cpu_slot();
    slot.map(|_| place(worker).number())
}

/// # Panics
/// If the place belongs to another pool.
pub fn check_place(pool: &PoolInner, place: PlaceId) {
    assert!(
        place.layout == pool.layout().serial,
        "the place belongs to another pool than {:?}",
        pool.options.name
    );
}

/// Returns the place's index in the pool's layout.
///
/// # Panics
/// If the place belongs to another pool.
fn group(pool: &PoolInner, place: PlaceId) -> usize {
    check_place(pool, place);
    place.group as usize
}

/// See [`Pool::parent_of`](crate::Pool::parent_of).
pub(crate) fn parent_of(pool: &PoolInner, place: PlaceId) -> Option<PlaceId> {
    let parent = pool.layout().parent(group(pool, place))?;
    Some(PlaceId {
        strict: place.strict,
        ..PlaceId::new(pool.layout(), parent)
    })
}

/// Returns the number of workers of a place, and the place's CPUs.
pub(crate) fn extent_of(pool: &PoolInner, place: PlaceId) -> (usize, tidegate_machine::CpuList) {
    let (group, layout) = (group(pool, place), pool.layout());
    (layout.workers_in(group), layout.cpus_of(group))
}

/// Puts a task at `place`. If the task belongs to a scope, the scope must have counted it already.
pub fn put_at(pool: &PoolInner, place: PlaceId, task: Task) {
    if let Some(scope) = task.scope() {
        memory::expect(pool, scope);
    }
    let group = group(pool, place);
    // For the group of all workers, `strict` makes no difference: every worker belongs to that
    // group, with or without a CPU slot.
    let strict = place.strict && pool.layout().parent(group).is_some();
    pool.sources.places.push(group, strict, task);
    wake_for(pool, group, strict);
    simulated::switch("queues a task at a place");
}

/// Wakes a worker for a task that the caller has put at this group.
fn wake_for(pool: &PoolInner, group: usize, strict: bool) {
    // Pairs with the heavy barrier before a sleeper's last look, as in `Sleep::must_wake`.
    barrier::full();
    let mut anybody = !strict;
    // Relaxed: ordered by the fence.
    if pool.sleep.has_vacancy() {
        let mut ledger = pool.change();
        let wake = ledger.wake_in(group);
        wake::bind_woken(pool, &ledger, wake);
        anybody |= ledger.cpu_slots().has_free_in(group);
        drop(ledger);
        if wake != Wake::Nobody {
            return wake::carry_out(pool, wake, None);
        }
    }
    if anybody {
        wake::work_visible(pool, None);
    }
}

/// See [`Pool::install_at`](crate::Pool::install_at).
pub(crate) fn install_at<R: Send>(
    pool: &Arc<PoolInner>,
    place: PlaceId,
    f: impl FnOnce() -> R + Send,
) -> R {
    let group = group(pool, place);
    if let Some(current) = WorkerThread::in_pool(pool) {
        if stand::is_in_group(current, group) {
            return current.call(|_| f());
        }
    }
    enter::erased(
        |_| f(),
        |body| enter::offer(pool, body, |task| put_at(pool, place, task)),
    )
}

impl<'scope> Scope<'scope> {
    /// Spawns a task that is run by a worker of `place`, or by another worker that has nothing else
    /// to do; see [`PlaceId`].
    ///
    /// The task waits in the place's queue behind all earlier tasks there, even if the caller
    /// itself is a worker of the place. The tasks that it spawns or forks belong to no place. A
    /// panic of the task is resumed when the scope ends.
    ///
    /// # Panics
    /// If the place and the scope belong to different pools.
    pub fn spawn_at<F>(&self, place: PlaceId, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let pool = self.pool();
        check_place(pool, place);
        let suspended = carry::carry_into(pool);
        let carried = suspended.carried;
        let task = self.task(move |scope| carried.run(|| f(scope)), WorkerThread::get());
        task.count();
        put_at(pool, place, task);
        if let Some(current) = WorkerThread::of(pool) {
            // This task is not pushed to the deque, so no push answers the signals.
            current.poll();
        }
    }
}
