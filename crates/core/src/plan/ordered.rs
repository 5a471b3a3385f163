//! The plan of a pool that keeps the depth-first order ([`tidegate_policy::memory::plan`]), and the
//! mapping of the plan's names to tasks, scopes and threads.
//!
//! It identifies threads by numbers, tasks and scopes by addresses. The plan is the only place that
//! holds a forked task until it begins. Tasks that come from outside, or that go to a place or an
//! inbox, are unknown to the plan until they begin; they come after all others.

use super::error::{Holder, ReservationError};
use crate::job::{HalfHeader, Task};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::panic::Location;
use tidegate_policy::memory::book::{self, Answer, Book, Until};
use tidegate_policy::memory::plan::{Command, Next, Reply};
use tidegate_policy::trace::{Orders, StreamRecorder};
use tidegate_policy::{MemoryPolicy, Rng};
use tidegate_sync::seed;

pub(crate) struct Ordered<E> {
    plan: Orders<Task, Option<RefCell<StreamRecorder>>>,
    /// Maps a task's address to the plan's name for the task. An entry lasts from the fork until
    /// the task begins or, for a half, until its joiner resumes.
    tasks: ByAddress<book::Task>,
    /// Maps a scope's address to the plan's name for the scope. An entry lasts from the first task
    /// of the scope until the scope ends.
    scopes: ByAddress<book::Scope>,
    /// For each thread, the events that its tasks sleep on, innermost last.
    asleep: Vec<Vec<E>>,
    /// Creates an event for which the calling thread will sleep.
    event: fn() -> E,
    /// For each thread, the unanswered requests of its tasks, innermost last.
    asks: Vec<Vec<Request>>,
    /// The granted requests, indexed by the number of the reservation.
    reservations: Vec<Option<Request>>,
    rng: Rng,
    /// Whether the last rescue found no task to begin, and the plan has not changed since.
    pub(crate) in_vain: bool,
    /// The value of `in_vain` before the current change.
    was_in_vain: bool,
}

/// The number of bytes requested, and the source location of the request.
pub(crate) type Request = (u64, &'static Location<'static>);

pub(crate) enum Step<E> {
    /// Run this task. If the task was stolen, the number is that of its victim.
    Start(Task, Option<usize>),
    /// Give the slot to the thread that sleeps on this event.
    Wake(E),
    /// Search again: a large request has come one step closer to its grant.
    Again,
}

/// What a task waits for; halves and scopes by their addresses.
#[derive(Clone, Copy)]
pub(crate) enum Awaits {
    Half(usize),
    Scope(usize),
    Memory,
    /// An event outside the pool.
    Outside,
}

type ByAddress<T> = HashMap<usize, T, BuildHasherDefault<Scatter>>;

/// A hash function for addresses. It need not be collision-resistant, because no attacker chooses
/// addresses.
#[derive(Default)]
struct Scatter(u64);

impl Hasher for Scatter {
    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, word: usize) {
        // Multiplying by the golden ratio moves close addresses far apart.
        self.0 = (self.0 ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        // The hash table uses the highest and the lowest bits of the hash.
        self.0 ^ self.0 >> 32
    }
}

/// Returns the entry at this index. Extends the list with default values if it is too short.
pub(super) fn entry<T: Default>(list: &mut Vec<T>, at: usize) -> &mut T {
    while list.len() <= at {
        list.push(T::default());
    }
    &mut list[at]
}

pub(crate) fn address<T>(of: &T) -> usize {
    std::ptr::from_ref(of).addr()
}

impl<E: Clone> Ordered<E> {
    /// Creates the plan for this policy. Returns `None` if the policy does not keep the depth-first
    /// order.
    pub(crate) fn new(
        memory: MemoryPolicy,
        workers: usize,
        recorder: Option<StreamRecorder>,
        event: fn() -> E,
    ) -> Option<Self> {
        Some(Self {
            plan: Orders::new(memory, workers, recorder.map(RefCell::new))?,
            tasks: HashMap::default(),
            scopes: HashMap::default(),
            asleep: vec![],
            event,
            asks: vec![],
            reservations: vec![],
            rng: Rng::new(seed::worker_seed(workers)),
            in_vain: false,
            was_in_vain: false,
        })
    }

    pub(crate) fn recorder(&self) -> Option<&RefCell<StreamRecorder>> {
        self.plan.recorder().as_ref()
    }

    pub(crate) fn book(&self) -> &Book {
        self.plan.plan().book()
    }

    pub(crate) fn has_parked(&self) -> bool {
        self.plan.plan().has_parked()
    }

    pub(crate) fn unstarted(&self) -> usize {
        self.plan.plan().unstarted()
    }

    pub(crate) fn has_work(&mut self) -> bool {
        self.apply(Command::HasWork).is_yes()
    }

    pub(crate) fn set_workers(&mut self, workers: usize) {
        self.apply(Command::SetWorkers(workers));
    }

    /// Sends a command to the plan. The plan uses `rng` for its random choices.
    fn apply(&mut self, command: Command<Task>) -> Reply<Task> {
        let Self { plan, rng, .. } = self;
        let draw: &mut dyn FnMut(usize) -> usize = &mut |many| rng.below(many as u64) as usize;
        plan.apply(command, draw)
    }

    /// Called before each change of the plan: a rescue may find a task again afterwards.
    pub(crate) fn turn(&mut self) {
        self.was_in_vain = std::mem::replace(&mut self.in_vain, false);
    }

    /// Returns the events of the sleeping threads whose requests can be answered now.
    pub(crate) fn settle(&mut self) -> Vec<E> {
        let mut answered = vec![];
        while let Some(t) = self.apply(Command::Settle).thread() {
            answered.push(self.wakes(t));
        }
        answered
    }

    /// Adds tasks that thread `t` has forked. Returns an event to sleep on if the thread must give
    /// its slot to one of them.
    pub(crate) fn fork(&mut self, t: usize, tasks: impl Iterator<Item = Task>) -> Option<E> {
        let moved = tasks.map(|task| self.put(t, task)).count();
        let gives_way = moved > 0 && self.apply(Command::GivesWay(t)).is_yes();
        gives_way.then(|| self.sleeps(t))
    }

    fn put(&mut self, t: usize, task: Task) {
        let header = task.as_raw().addr().get();
        let command = if task.half().is_some() {
            Command::Half(t, task)
        } else if let Some(scope) = task.scope().map(address) {
            Command::Spawn(t, self.open(scope), task)
        } else {
            Command::Detached(t, task)
        };
        let name = self.apply(command).task();
        self.tasks.insert(header, name);
    }

    /// Returns the plan's name for the scope at this address. The scope may be new to the plan.
    fn open(&mut self, scope: usize) -> book::Scope {
        if let Some(name) = self.scopes.get(&scope) {
            return *name;
        }
        let name = self.apply(Command::Open).scope();
        self.scopes.insert(scope, name);
        name
    }

    /// Announces that the scope has a task that the plan will not know about until the task begins.
    pub(crate) fn expect(&mut self, scope: usize) {
        let scope = self.open(scope);
        self.apply(Command::Expect(scope));
    }

    pub(crate) fn close(&mut self, scope: usize) {
        if let Some(scope) = self.scopes.remove(&scope) {
            self.apply(Command::Close(scope));
        }
    }

    /// Chooses the next step of thread `t`, which has no frames.
    pub(crate) fn next(
        &mut self,
        t: usize,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Step<E>> {
        let next = self.plan.apply(Command::Next(t), draw).next()?;
        Some(self.step(next))
    }

    /// Chooses the next step of thread `t` in a rescue, while all threads wait.
    pub(crate) fn rescue(&mut self, t: usize) -> Option<Step<E>> {
        let next = self.apply(Command::Rescue(t)).next();
        self.in_vain = next.is_none();
        Some(self.step(next?))
    }

    /// Resumes the first parked task.
    pub(crate) fn resume_parked(&mut self) -> Option<Step<E>> {
        let next = self.apply(Command::ResumeParked).next()?;
        Some(self.step(next))
    }

    fn step(&mut self, next: Next<Task>) -> Step<E> {
        match next {
            Next::Start(task, victim) => Step::Start(task, victim),
            Next::Resume(t) => Step::Wake(self.wakes(t)),
            Next::Again => Step::Again,
        }
    }

    /// Takes a task of the scope that thread `t` waits for, if such a task is next in order.
    pub(crate) fn next_of(&mut self, t: usize, scope: usize) -> Option<Task> {
        self.in_vain = self.was_in_vain;
        let scope = *self.scopes.get(&scope)?;
        let task = self.apply(Command::NextOf(t, scope)).taken();
        self.in_vain = self.was_in_vain && task.is_none();
        task
    }

    /// Takes a half back. Returns `false` if the half has already begun.
    pub(crate) fn take_back(&mut self, half: &HalfHeader) -> bool {
        let name = self.tasks.get(&address(half)).copied();
        let taken = name.and_then(|name| self.apply(Command::TakeBack(name)).taken());
        taken.is_some() && self.tasks.remove(&address(half)).is_some()
    }

    /// Records that a task begins on thread `t`, wherever the task was taken from.
    pub(crate) fn begin(&mut self, t: usize, task: &Task) {
        let (is_half, header) = (task.half().is_some(), task.as_raw().addr().get());
        let known = if is_half {
            self.tasks.contains_key(&header)
        } else {
            self.tasks.remove(&header).is_some()
        };
        if known {
            return;
        }
        let scope = task.scope().map(address);
        self.apply(match scope.and_then(|scope| self.scopes.get(&scope)) {
            Some(scope) => Command::BeginUnrelatedIn(t, *scope),
            None => Command::BeginUnrelated(t),
        });
    }

    pub(crate) fn end(&mut self, t: usize) {
        self.apply(Command::End(t));
    }

    pub(crate) fn leave(&mut self, t: usize) {
        self.apply(Command::Leave(t));
    }

    pub(crate) fn blocks(&mut self, t: usize, blocks: bool) {
        self.apply(Command::Blocks(t, blocks));
    }

    /// Records that the topmost task of thread `t` waits.
    pub(crate) fn waits(&mut self, t: usize, awaited: Awaits) {
        let until = match awaited {
            Awaits::Half(half) => self.tasks.get(&half).copied().map(Until::Half),
            Awaits::Scope(scope) => self.scopes.get(&scope).copied().map(Until::Scope),
            Awaits::Outside => None,
            // The plan has known about this wait since `ask`.
            Awaits::Memory => return,
        };
        self.apply(Command::Waits(t, until.unwrap_or(Until::Else)));
    }

    /// Records that the wait of the topmost task of thread `t` has ended.
    pub(crate) fn goes_on(&mut self, t: usize, awaited: Awaits) {
        self.apply(Command::GoesOn(t));
        if let Awaits::Half(half) = awaited {
            if let Some(name) = self.tasks.remove(&half) {
                self.apply(Command::Joined(name));
            }
        }
    }

    /// Requests memory for thread `t`. If there is no answer yet, returns the event that the thread
    /// must sleep on before it calls [`answer`](Self::answer).
    pub(crate) fn ask(
        &mut self,
        t: usize,
        request: Request,
    ) -> Result<Result<book::Reservation, ReservationError>, E> {
        let answer = self.apply(Command::Ask(t, request.0)).answer();
        match answer.expect("a request is answered at once") {
            Answer::Granted(reservation) => Ok(Ok(self.granted(reservation, request))),
            Answer::Refused => Ok(Err(self.refusal(request.0))),
            Answer::Later => {
                entry(&mut self.asks, t).push(request);
                Err(self.sleeps(t))
            }
        }
    }

    /// Returns the answer to the request of thread `t`, which was woken because there is one.
    pub(crate) fn answer(&mut self, t: usize) -> Result<book::Reservation, ReservationError> {
        let request = self.asks[t].pop().expect("a thread that asked");
        match self.apply(Command::Answer(t)).answer() {
            Some(Answer::Granted(reservation)) => Ok(self.granted(reservation, request)),
            Some(Answer::Refused) => Err(self.refusal(request.0)),
            Some(Answer::Later) | None => unreachable!("an answer woke the thread"),
        }
    }

    fn granted(&mut self, reservation: book::Reservation, request: Request) -> book::Reservation {
        *entry(&mut self.reservations, reservation.index()) = Some(request);
        reservation
    }

    /// Ends a reservation. `t` is the thread that drops the reservation, if that thread belongs to
    /// the pool.
    pub(crate) fn give_back(&mut self, t: Option<usize>, reservation: book::Reservation) {
        let (bytes, _) = self.reservations[reservation.index()]
            .take()
            .expect("a granted reservation");
        self.apply(Command::GiveBack(t, reservation, bytes));
    }

    /// Sets the budget. If `bytes` is too low, returns the lowest valid budget as the error.
    /// Returns `None` if the plan has no budget.
    pub(crate) fn set_budget(&mut self, bytes: u64) -> Option<Result<(), u64>> {
        let (_, serial) = self.plan.plan().budget()?;
        if bytes < serial {
            return Some(Err(serial));
        }
        self.apply(Command::SetBudget(bytes));
        Some(Ok(()))
    }

    /// Returns the request that thread `t` waits for, and the budget, or `None` if either is
    /// missing. This does not change the plan, so a rescue that has failed need not be retried.
    pub(crate) fn stalled(&mut self, t: usize) -> Option<(Request, u64)> {
        self.in_vain = self.was_in_vain;
        let (budget, _) = self.plan.plan().budget()?;
        Some((*self.asks.get(t)?.last()?, budget))
    }

    /// Creates an event for thread `t` and returns it. The thread must sleep on the event until the
    /// plan wakes it.
    fn sleeps(&mut self, t: usize) -> E {
        let event = (self.event)();
        entry(&mut self.asleep, t).push(event.clone());
        event
    }

    /// Removes and returns the event that thread `t` sleeps on.
    fn wakes(&mut self, t: usize) -> E {
        let event = entry(&mut self.asleep, t).pop();
        event.expect("the plan wakes only sleeping threads")
    }

    /// Returns the reservations, grouped by the source location where they were made, largest
    /// first.
    pub(crate) fn holders(&self) -> Vec<Holder> {
        let mut holders: Vec<Holder> = vec![];
        for (bytes, at) in self.reservations.iter().flatten() {
            if let Some(holder) = holders.iter_mut().find(|holder| holder.at == *at) {
                holder.bytes = holder.bytes.saturating_add(*bytes);
                holder.reservations += 1;
            } else {
                holders.push(Holder {
                    at,
                    bytes: *bytes,
                    reservations: 1,
                });
            }
        }
        let mut sorted: Vec<Holder> = vec![];
        for holder in holders {
            // Equal holders stay in their order.
            let at = sorted.partition_point(|before| before.bytes >= holder.bytes);
            sorted.insert(at, holder);
        }
        sorted
    }

    fn refusal(&self, bytes: u64) -> ReservationError {
        let (budget, serial) = self.book().budget();
        ReservationError::Refused {
            bytes,
            budget,
            serial,
            declared: self.book().declared(),
            holders: self.holders(),
        }
    }
}
