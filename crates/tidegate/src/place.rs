//! Places: groups of workers that share a cache, with queues of their own. The protocol is docs/places.md.
//!
//! A [`PlaceId`] names a group of CPU slots of one pool. Tasks that are put there wait in the group's queues; who looks for work finds them in
//! the order that [`WorkerThread::take_queued`] and the search keep. Who stands where is the ledger's to say, and is mirrored in each worker.
//!
//! It does not choose places for tasks that name none: those stay where they were forked, and thieves come from near by first.

mod binding;
mod layout;

pub(crate) use binding::Binding;
pub(crate) use layout::Layout;

use crate::job::Task;
use crate::pool::{PoolInner, global};
use crate::queue::Queue;
use crate::scope::ScopeCore;
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

/// The smallest place that the worker stands in which runs the calling task. None outside of a pool.
///
/// A task may find itself in another place after it has waited: places belong to those who run.
#[must_use]
pub fn current_place() -> Option<PlaceId> {
    WorkerThread::get().map(WorkerThread::place)
}

/// The smallest places of the pool whose task calls this, else of the global pool; see [`Pool::places`](crate::Pool::places).
#[must_use]
pub fn places() -> Vec<PlaceId> {
    match WorkerThread::get() {
        Some(current) => current.shared().places(),
        None => global().places(),
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

impl PoolInner {
    fn layout(&self) -> &Layout {
        &self.options.layout
    }

    /// The places that hold no others.
    pub(crate) fn places(&self) -> Vec<PlaceId> {
        let layout = self.layout();
        (0..layout.leaves())
            .map(|group| PlaceId::new(layout, group))
            .collect()
    }

    /// # Panics
    /// The place is one of another pool.
    pub(crate) fn check_place(&self, place: PlaceId) {
        assert!(
            place.layout == self.layout().serial,
            "the place belongs to another pool than {:?}",
            self.options.name
        );
    }

    /// The number of a place in this pool.
    ///
    /// # Panics
    /// The place is one of another pool.
    fn group(&self, place: PlaceId) -> usize {
        self.check_place(place);
        place.group as usize
    }

    /// See [`Pool::parent_of`](crate::Pool::parent_of).
    pub(crate) fn parent_of(&self, place: PlaceId) -> Option<PlaceId> {
        let parent = self.layout().parent(self.group(place))?;
        Some(PlaceId {
            strict: place.strict,
            ..PlaceId::new(self.layout(), parent)
        })
    }

    /// How many workers a place has, and on which CPUs they stand.
    pub(crate) fn extent_of(&self, place: PlaceId) -> (usize, tidegate_machine::CpuList) {
        let group = self.group(place);
        (
            self.layout().workers_in(group),
            self.layout().cpus_of(group),
        )
    }

    /// Puts a task, which has a count of its own if it is one of a scope, where `place` says.
    pub(crate) fn put_at(&self, place: PlaceId, task: Task) {
        if let Some(scope) = task.scope() {
            space::expect(self, scope);
        }
        let group = self.group(place);
        // Of the place of all everybody is a worker, with a CPU slot or without.
        let strict = place.strict && self.layout().parent(group).is_some();
        self.places.push(group, strict, task);
        if self.is_inherited() {
            // There is nothing to wake.
            return;
        }
        // Pairs with the heavy barrier before a sleeper's last look, as in `work_visible`.
        barrier::full();
        let mut anybody = !strict;
        // Relaxed: ordered by the fence.
        if self.vacancy.load(Ordering::Relaxed) {
            let mut ledger = self.ledger();
            let wake = ledger.wake_in(group);
            self.publish(&ledger);
            self.bind_woken(&ledger, wake);
            anybody |= ledger.cpu_slots().has_free_in(group);
            drop(ledger);
            if wake != Wake::Nobody {
                return self.carry_out(wake, None);
            }
        }
        if anybody {
            self.work_visible(None);
        }
    }

    /// See [`Pool::install_at`](crate::Pool::install_at).
    pub(crate) fn install_at<R: Send>(
        self: &Arc<Self>,
        place: PlaceId,
        f: impl FnOnce() -> R + Send,
    ) -> R {
        let group = self.group(place);
        if let Some(current) = WorkerThread::in_pool(self) {
            if current.is_in_group(group) {
                return current.call(|_| f());
            }
        }
        self.install_by(f, |task| self.put_at(place, task))
    }

    /// Puts the thread that is this worker on the CPU of its CPU slot.
    pub(crate) fn bind_worker(&self, worker: &Worker) {
        let cpu = worker
            .cpu_slot()
            .and_then(|cpu_slot| self.layout().cpu(cpu_slot));
        worker.binding.to(cpu);
    }

    /// How far apart two workers stand.
    pub(crate) fn distance(&self, a: usize, b: usize) -> u32 {
        let cpu_slot = |t| self.worker_if(t).and_then(Worker::last_cpu_slot);
        self.layout().distance(cpu_slot(a), cpu_slot(b))
    }
}

/// A task and the group in whose queue it lay.
pub(crate) type Placed = (Task, usize);

impl WorkerThread<'_> {
    /// The smallest place that this worker stands in.
    pub(crate) fn place(self) -> PlaceId {
        let layout = self.shared().layout();
        let group = layout.around(self.cpu_slot()).next();
        PlaceId::new(layout, group.expect("everybody cpu_slots among all"))
    }

    pub(crate) fn is_in_group(self, group: usize) -> bool {
        self.shared()
            .layout()
            .around(self.cpu_slot())
            .any(|g| g == group)
    }

    /// Takes a task that waits in a place of this worker, or in one of the pool's queues, or in another place.
    pub(crate) fn take_queued(self) -> Option<Task> {
        let here = self.take_placed_here(|_| true);
        let queued = here.or_else(|| self.shared().pop_queued());
        queued.or_else(|| self.take_placed_elsewhere().map(|(task, _)| task))
    }

    /// Takes a `wanted` task that waits in a place in which this worker stands, the smallest place first.
    #[inline]
    pub(crate) fn take_placed_here(self, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
        let places = &self.shared().places;
        if places.len() == 0 {
            return None;
        }
        // Without a CPU slot one belongs to no place strictly.
        let strict = self.cpu_slot().is_some() || self.shared().is_alone();
        let mut around = self.shared().layout().around(self.cpu_slot());
        around.find_map(|group| {
            let own = strict.then(|| places.take(group, true, &wanted));
            own.flatten().or_else(|| places.take(group, false, &wanted))
        })
    }

    /// Takes what waits in another place.
    pub(crate) fn take_placed_elsewhere(self) -> Option<Placed> {
        let open = self.take_open_beyond(|_| true);
        open.or_else(|| self.take_strict_beyond(|_| true))
    }

    /// Takes a task of a strict place on whose CPU slots nobody can come, because all slots are held.
    pub(crate) fn take_placed_unserved(self) -> Option<Task> {
        let shared = self.shared();
        // Relaxed: a hint.
        if shared.places.len() == 0 || shared.vacancy.load(Ordering::Relaxed) {
            return None;
        }
        self.take_strict_beyond(|_| true).map(|(task, _)| task)
    }

    /// Takes a task of the scope out of any place.
    pub(crate) fn take_placed_of(self, scope: &ScopeCore) -> Option<Task> {
        let wanted = |task: &Task| task.is_of(scope);
        if self.shared().is_inherited() {
            // The only thread of the child stands nowhere.
            return self.shared().places.take_anywhere(wanted);
        }
        let here = self.take_placed_here(wanted);
        let open = here.or_else(|| self.take_open_beyond(wanted).map(|(task, _)| task));
        open.or_else(|| self.take_strict_beyond(wanted).map(|(task, _)| task))
    }

    fn take_open_beyond(self, wanted: impl Fn(&Task) -> bool) -> Option<Placed> {
        let places = &self.shared().places;
        self.groups_beyond()
            .into_iter()
            .find_map(|group| Some((places.take(group, false, &wanted)?, group)))
    }

    /// Goes where a strict task lies and a CPU slot is free.
    fn take_strict_beyond(self, wanted: impl Fn(&Task) -> bool) -> Option<Placed> {
        let (shared, places) = (self.shared(), &self.shared().places);
        let alone = shared.is_alone();
        let go = |group: usize| {
            let left = self.cpu_slot();
            let there = places.queue(group, true).holds(&wanted);
            if !(there && (alone || self.move_to(group))) {
                return None;
            }
            let task = places.take(group, true, &wanted);
            if left.is_some() && places.len() > 0 {
                // Somebody may now stand where this worker has stood.
                shared.rouse();
            }
            Some((task?, group))
        };
        self.groups_beyond().into_iter().find_map(go)
    }

    /// The groups in which this worker does not stand, the nearest first, if anything lies in any.
    fn groups_beyond(self) -> Vec<usize> {
        if self.shared().places.len() == 0 {
            return Vec::new();
        }
        self.shared().layout().beyond(self.cpu_slot())
    }

    /// This thread begins or ends its time as one of the pool's own, which may be bound.
    pub(crate) fn take_cpu_slot(self) {
        let shared = self.shared();
        if shared.options.bind {
            self.binding.arrive(&shared.options.usable);
        }
        self.set_cpu_slot(shared.ledger().cpu_slots().at(self.index));
        self.bind();
    }

    /// See [`take_cpu_slot`](Self::take_cpu_slot).
    pub(crate) fn leave_cpu_slot(self) {
        self.binding.depart();
    }

    /// Runs on the CPU of its CPU slot from now on, if threads are to be bound.
    pub(crate) fn bind(self) {
        let shared = self.shared();
        if shared.options.bind {
            shared.bind_worker(&self);
        }
    }

    /// Goes to a free CPU slot of the group, if there is one. Whether it stands there.
    fn move_to(self, group: usize) -> bool {
        let mut ledger = self.shared().ledger();
        let moved = ledger.move_to(self.index, group);
        self.set_cpu_slot(ledger.cpu_slots().at(self.index));
        drop(ledger);
        self.bind();
        moved
    }

    /// The workers that run a task of a place of this worker's somewhere else.
    pub(crate) fn takers_of_own(self) -> impl Iterator<Item = usize> {
        let shared = self.shared();
        // Relaxed: a hint.
        let some = shared.places.away.load(Ordering::Relaxed) > 0;
        let around = some.then(|| shared.layout().around(self.cpu_slot()));
        around.into_iter().flatten().flat_map(move |group| {
            // Relaxed: a hint.
            let away = shared.places.groups[group].away.load(Ordering::Relaxed) > 0;
            let count = if away { shared.worker_count() } else { 0 };
            let own = self.index;
            let runs_it = move |t: &usize| {
                *t != own && shared.worker_if(*t).and_then(Worker::home) == Some(group)
            };
            (0..count).filter(runs_it)
        })
    }

    /// Says for which place the task at the base is run, if this worker does not stand there.
    pub(crate) fn set_home(self, home: Option<usize>) {
        let places = &self.shared().places;
        let groups = &places.groups;
        if let Some(before) = self.home() {
            // Relaxed, here and below: hints.
            groups[before].away.fetch_sub(1, Ordering::Relaxed);
            places.away.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(home) = home {
            groups[home].away.fetch_add(1, Ordering::Relaxed);
            places.away.fetch_add(1, Ordering::Relaxed);
        }
        self.note_home(home);
    }
}
