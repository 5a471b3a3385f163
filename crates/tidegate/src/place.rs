//! Places: groups of workers that share a cache, with queues of their own. The protocol is docs/places.md.
//!
//! A [`PlaceId`] names a group of CPU slots of one pool. Tasks that are put there wait in the group's queues; who looks for work finds them in
//! the order that [`take_queued`] and the search keep. Who stands where is the ledger's to say, and is mirrored in each worker.
//!
//! It does not choose places for tasks that name none: those stay where they were forked, and thieves come from near by first.

mod binding;

pub(crate) use binding::Binding;

use crate::job::Task;
use crate::layout::Layout;
use crate::pool::PoolInner;
use crate::pool::enter;
use crate::pool::members;
use crate::queue::Queue;
use crate::scope::ScopeCore;
use crate::sleep::wake;
use crate::space;
use crate::worker::{Worker, WorkerThread};
use std::sync::Arc;
use tidegate_policy::slots::{Ledger, Wake};
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::barrier;

/// A place of a pool: some of its workers, by default those that share a last-level cache ([`Builder::places`](crate::Builder::places)).
///
/// From [`Pool::places`](crate::Pool::places) or [`current_place`](fn@crate::current_place). A task that is put there ([`Scope::spawn_at`](crate::Scope::spawn_at),
/// [`Pool::install_at`](crate::Pool::install_at), [`Draft::at`](crate::interval::Draft::at)) is run by a worker of the place, or by another one that has nothing else to do.
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
    /// The number of the pool's layout.
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

    /// The same place, from which no other worker takes: what is put there waits for its own.
    #[must_use]
    pub fn strict(self) -> Self {
        Self {
            strict: true,
            ..self
        }
    }

    /// Its number in its pool, those of the smallest places first.
    pub(crate) fn number(self) -> usize {
        self.group as usize
    }

    /// Whether only the place's own workers may run what is put there.
    #[must_use]
    pub fn is_strict(self) -> bool {
        self.strict
    }
}

/// The queues of all groups.
pub(crate) struct Places {
    groups: Box<[Group]>,
    /// How many tasks lie in any of them.
    placed: AtomicUsize,
    /// How many workers run a task of a group in which they do not stand.
    away: AtomicUsize,
}

/// Which groups have a free CPU slot; none is asked for while nothing lies at any place.
pub(crate) type FreeGroups = Box<[bool]>;

#[derive(Default)]
struct Group {
    open: Queue,
    strict: Queue,
    /// How many workers that do not stand here run a task of this group.
    away: AtomicUsize,
}

impl Places {
    pub(crate) fn new(layout: &Layout) -> Self {
        Self {
            groups: (0..layout.groups()).map(|_| Group::default()).collect(),
            placed: AtomicUsize::new(0),
            away: AtomicUsize::new(0),
        }
    }

    /// How many tasks wait in any place.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // Acquire, as in `Queue::len`: who goes to sleep on 0 has looked after the putter's addition.
        self.placed.load(Ordering::Acquire)
    }

    /// Whether a task waits in any place, or a worker runs one of a place in which it does not stand.
    #[inline]
    pub(crate) fn in_use(&self) -> bool {
        // Relaxed: a hint, the second as well as the sum.
        self.len() > 0 || self.away.load(Ordering::Relaxed) > 0
    }

    fn queue(&self, group: usize, strict: bool) -> &Queue {
        let group = &self.groups[group];
        if strict { &group.strict } else { &group.open }
    }

    fn push(&self, group: usize, strict: bool, task: Task) {
        // Release pairs with the Acquire in `len`. Before the push: it never falls below 0.
        self.placed.fetch_add(1, Ordering::Release);
        self.queue(group, strict).push(task);
    }

    fn take(&self, group: usize, strict: bool, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
        let task = self.queue(group, strict).take_first(wanted)?;
        // Release: as in `push`.
        self.placed.fetch_sub(1, Ordering::Release);
        Some(task)
    }

    /// Takes a `wanted` task out of any place.
    fn take_anywhere(&self, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
        let queues = (0..self.groups.len()).flat_map(|group| [(group, false), (group, true)]);
        let mut queues = queues.filter(|_| self.len() > 0);
        queues.find_map(|(group, strict)| self.take(group, strict, &wanted))
    }

    /// For [`offer`](Self::offer).
    pub(crate) fn free_groups(&self, ledger: &Ledger) -> FreeGroups {
        let groups = if self.len() > 0 { self.groups.len() } else { 0 };
        (0..groups)
            .map(|group| ledger.cpu_slots().has_free_in(group))
            .collect()
    }

    /// Whether a task lies somewhere that is `wanted` and that one who gets a slot now could run, `strict` ones among them or not.
    pub(crate) fn offer(
        &self,
        free: &FreeGroups,
        strict: bool,
        wanted: impl Fn(&Task) -> bool,
    ) -> bool {
        let offers = |(group, free): (&Group, &bool)| {
            group.open.holds(&wanted) || (strict && *free && group.strict.holds(&wanted))
        };
        self.groups.iter().zip(free).any(offers)
    }

    /// The same by what the ledger says now.
    pub(crate) fn offers(
        &self,
        ledger: &Ledger,
        strict: bool,
        wanted: impl Fn(&Task) -> bool,
    ) -> bool {
        self.len() > 0 && self.offer(&self.free_groups(ledger), strict, wanted)
    }
}

/// The places that hold no others.
pub(crate) fn places(pool: &PoolInner) -> Vec<PlaceId> {
    let layout = pool.layout();
    (0..layout.leaves())
        .map(|group| PlaceId::new(layout, group))
        .collect()
}

/// # Panics
/// The place is one of another pool.
pub(crate) fn check_place(pool: &PoolInner, place: PlaceId) {
    assert!(
        place.layout == pool.layout().serial,
        "the place belongs to another pool than {:?}",
        pool.options.name
    );
}

/// The number of a place in this pool.
///
/// # Panics
/// The place is one of another pool.
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

/// How many workers a place has, and on which CPUs they stand.
pub(crate) fn extent_of(pool: &PoolInner, place: PlaceId) -> (usize, tidegate_machine::CpuList) {
    let group = group(pool, place);
    (
        pool.layout().workers_in(group),
        pool.layout().cpus_of(group),
    )
}

/// Puts a task, which has a count of its own if it is one of a scope, where `place` says.
pub(crate) fn put_at(pool: &PoolInner, place: PlaceId, task: Task) {
    if let Some(scope) = task.scope() {
        space::expect(pool, scope);
    }
    let group = group(pool, place);
    // Of the place of all everybody is a worker, with a CPU slot or without.
    let strict = place.strict && pool.layout().parent(group).is_some();
    pool.places.push(group, strict, task);
    if pool.is_inherited() {
        // There is nothing to wake.
        return;
    }
    // Pairs with the heavy barrier before a sleeper's last look, as in `work_visible`.
    barrier::full();
    let mut anybody = !strict;
    // Relaxed: ordered by the fence.
    if pool.sleep.has_vacancy() {
        let mut ledger = pool.ledger();
        let wake = ledger.wake_in(group);
        wake::publish(pool, &ledger);
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
        if is_in_group(current, group) {
            return current.call(|_| f());
        }
    }
    enter::install_by(pool, f, |task| put_at(pool, place, task))
}

/// Puts the thread that is this worker on the CPU of its CPU slot.
pub(crate) fn bind_worker(pool: &PoolInner, worker: &Worker) {
    let cpu = worker
        .cpu_slot()
        .and_then(|cpu_slot| pool.layout().cpu(cpu_slot));
    worker.binding.to(cpu);
}

/// How far apart two workers stand.
pub(crate) fn distance(pool: &PoolInner, a: usize, b: usize) -> u32 {
    let cpu_slot = |t| pool.worker_if(t).and_then(Worker::last_cpu_slot);
    pool.layout().distance(cpu_slot(a), cpu_slot(b))
}

/// A task and the group in whose queue it lay.
pub(crate) type Placed = (Task, usize);

/// The smallest place that this worker stands in.
pub(crate) fn place(worker: WorkerThread<'_>) -> PlaceId {
    let layout = worker.shared().layout();
    let group = layout.around(worker.cpu_slot()).next();
    PlaceId::new(layout, group.expect("the group of all has every CPU slot"))
}

pub(crate) fn is_in_group(worker: WorkerThread<'_>, group: usize) -> bool {
    worker
        .shared()
        .layout()
        .around(worker.cpu_slot())
        .any(|g| g == group)
}

/// Takes a task that waits in a place of this worker, or in one of the pool's queues, or in another place.
pub(crate) fn take_queued(worker: WorkerThread<'_>) -> Option<Task> {
    let here = take_placed_here(worker, |_| true);
    let queued = here.or_else(|| worker.shared().pop_queued());
    queued.or_else(|| take_placed_elsewhere(worker).map(|(task, _)| task))
}

/// Takes a `wanted` task that waits in a place in which this worker stands, the smallest place first.
#[inline]
pub(crate) fn take_placed_here(
    worker: WorkerThread<'_>,
    wanted: impl Fn(&Task) -> bool,
) -> Option<Task> {
    let places = &worker.shared().places;
    if places.len() == 0 {
        return None;
    }
    // Without a CPU slot one belongs to no place strictly.
    let strict = worker.cpu_slot().is_some() || members::is_alone(worker.shared());
    let mut around = worker.shared().layout().around(worker.cpu_slot());
    around.find_map(|group| {
        let own = strict.then(|| places.take(group, true, &wanted));
        own.flatten().or_else(|| places.take(group, false, &wanted))
    })
}

/// Takes what waits in another place.
pub(crate) fn take_placed_elsewhere(worker: WorkerThread<'_>) -> Option<Placed> {
    let open = take_open_beyond(worker, |_| true);
    open.or_else(|| take_strict_beyond(worker, |_| true))
}

/// Takes a task of a strict place on whose CPU slots nobody can come, because all slots are held.
pub(crate) fn take_placed_unserved(worker: WorkerThread<'_>) -> Option<Task> {
    let shared = worker.shared();
    // Relaxed: a hint.
    if shared.places.len() == 0 || shared.sleep.has_vacancy() {
        return None;
    }
    take_strict_beyond(worker, |_| true).map(|(task, _)| task)
}

/// Takes a task of the scope out of any place.
pub(crate) fn take_placed_of(worker: WorkerThread<'_>, scope: &ScopeCore) -> Option<Task> {
    let wanted = |task: &Task| task.is_of(scope);
    if worker.shared().is_inherited() {
        // The only thread of the child stands nowhere.
        return worker.shared().places.take_anywhere(wanted);
    }
    let here = take_placed_here(worker, wanted);
    let open = here.or_else(|| take_open_beyond(worker, wanted).map(|(task, _)| task));
    open.or_else(|| take_strict_beyond(worker, wanted).map(|(task, _)| task))
}

fn take_open_beyond(worker: WorkerThread<'_>, wanted: impl Fn(&Task) -> bool) -> Option<Placed> {
    let places = &worker.shared().places;
    groups_beyond(worker)
        .into_iter()
        .find_map(|group| Some((places.take(group, false, &wanted)?, group)))
}

/// Goes where a strict task lies and a CPU slot is free.
fn take_strict_beyond(worker: WorkerThread<'_>, wanted: impl Fn(&Task) -> bool) -> Option<Placed> {
    let (shared, places) = (worker.shared(), &worker.shared().places);
    let alone = members::is_alone(shared);
    let go = |group: usize| {
        let left = worker.cpu_slot();
        let there = places.queue(group, true).holds(&wanted);
        if !(there && (alone || move_to(worker, group))) {
            return None;
        }
        let task = places.take(group, true, &wanted);
        if left.is_some() && places.len() > 0 {
            // Somebody may now stand where this worker has stood.
            wake::rouse(shared);
        }
        Some((task?, group))
    };
    groups_beyond(worker).into_iter().find_map(go)
}

/// The groups in which this worker does not stand, the nearest first, if anything lies in any.
fn groups_beyond(worker: WorkerThread<'_>) -> Vec<usize> {
    if worker.shared().places.len() == 0 {
        return Vec::new();
    }
    worker.shared().layout().beyond(worker.cpu_slot())
}

/// This thread begins or ends its time as one of the pool's own, which may be bound.
pub(crate) fn take_cpu_slot(worker: WorkerThread<'_>) {
    let shared = worker.shared();
    if shared.options.bind {
        worker.binding.arrive(&shared.options.usable);
    }
    worker.set_cpu_slot(shared.ledger().cpu_slots().at(worker.index));
    bind(worker);
}

/// See [`take_cpu_slot`].
pub(crate) fn leave_cpu_slot(worker: WorkerThread<'_>) {
    worker.binding.depart();
}

/// Runs on the CPU of its CPU slot from now on, if threads are to be bound.
pub(crate) fn bind(worker: WorkerThread<'_>) {
    let shared = worker.shared();
    if shared.options.bind {
        bind_worker(shared, &worker);
    }
}

/// Goes to a free CPU slot of the group, if there is one. Whether it stands there.
fn move_to(worker: WorkerThread<'_>, group: usize) -> bool {
    let mut ledger = worker.shared().ledger();
    let moved = ledger.move_to(worker.index, group);
    worker.set_cpu_slot(ledger.cpu_slots().at(worker.index));
    drop(ledger);
    bind(worker);
    moved
}

/// The workers that run a task of a place of this worker's somewhere else.
pub(crate) fn takers_of_own(worker: WorkerThread<'_>) -> impl Iterator<Item = usize> {
    let shared = worker.shared();
    // Relaxed: a hint.
    let some = shared.places.away.load(Ordering::Relaxed) > 0;
    let around = some.then(|| shared.layout().around(worker.cpu_slot()));
    around.into_iter().flatten().flat_map(move |group| {
        // Relaxed: a hint.
        let away = shared.places.groups[group].away.load(Ordering::Relaxed) > 0;
        let count = if away { shared.worker_count() } else { 0 };
        let own = worker.index;
        let runs_it = move |t: &usize| {
            *t != own && shared.worker_if(*t).and_then(Worker::home) == Some(group)
        };
        (0..count).filter(runs_it)
    })
}

/// Says for which place the task at the base is run, if this worker does not stand there.
pub(crate) fn set_home(worker: WorkerThread<'_>, home: Option<usize>) {
    let places = &worker.shared().places;
    let groups = &places.groups;
    if let Some(before) = worker.home() {
        // Relaxed, here and below: hints.
        groups[before].away.fetch_sub(1, Ordering::Relaxed);
        places.away.fetch_sub(1, Ordering::Relaxed);
    }
    if let Some(home) = home {
        groups[home].away.fetch_add(1, Ordering::Relaxed);
        places.away.fetch_add(1, Ordering::Relaxed);
    }
    worker.note_home(home);
}
