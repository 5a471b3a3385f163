//! Who may run: the ledger of a pool's slots.
//!
//! A slot is the right to run on one processor. The ledger knows for each thread of the pool whether it runs, with or
//! without a slot, or why it does not, and decides to whom a slot goes. It wakes nobody: each verb returns what the
//! caller must do. The runtime keeps it under one lock; the simulator drives it directly.
//!
//! Order at every hand-over: a thread that is *owed* a slot (it has frames and is ready; it may hold a lock that all others
//! wait for), then, if there is work to find, a waiter that may rob exactly that work, then an idle thread, then a new
//! thread, then a waiter that may run any work from the pool's queues. If a slot is free and work lies in a queue but no thread
//! can run it because all of them wait, the latest waiter is *rescued*: it runs that work on top of its frame.
//!
//! A thread whose grace is over runs without a slot, and is *in debt*: the next slot that is free and that nobody is owed is its own.
//!
//! Who holds a slot stands somewhere ([`Stands`]), if it was said where there are stands.
//!
//! Invariant: while somebody is owed a slot or in debt, none is free.

use crate::stands::Stands;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// What a thread of the pool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Runs or searches, and holds a slot.
    Running,
    /// Runs without a slot: its grace was over.
    Overcommitted,
    /// Parked without frames, for lack of work.
    Idle,
    /// Parked on a latch, its frames below.
    Waiting,
    /// Ready, with frames, and without a slot.
    Owed,
    /// Inside a call that its task declared as blocking.
    Blocked,
    /// Has left the pool.
    Gone,
}

/// What to do so that work which became visible is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Wake {
    /// Nothing: no slot is free, or nobody is left to wake.
    Nobody,
    /// Wake this thread; it has a slot now.
    Thread(usize),
    /// Wake this waiter; it has a slot and is to run whatever lies in the pool's queues on top of its frame.
    Rescue(usize),
    /// Start a new thread under this number; it has a slot now.
    Start(usize),
    /// Nothing can be done: a slot is free, but the threads that could use it stand in blocking calls, and no more may be
    /// started.
    Exhausted,
}

/// What a waiter can do with work that became visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It may rob exactly that work.
    Robs,
    /// It may run what lies in the pool's queues if no thread without frames can.
    Queued,
    /// The same if nobody else ever would.
    Rescue,
    /// Nothing.
    Never,
}

/// What became of a waiter whose latch opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Opened {
    /// It was not asleep.
    Awake,
    /// Wake it: it got a free slot.
    Free,
    /// Wake it: it got the slot of the one who opened the latch, who must stop running.
    Given,
    /// It is owed a slot and waits for the next hand-over.
    Owed,
}

/// The ledger; see the module.
#[derive(Clone, Debug)]
pub struct Ledger {
    slots: usize,
    held: usize,
    /// How many threads run without a slot.
    overcommitted: usize,
    /// How many threads are [`Blocked`](Status::Blocked).
    blocked: usize,
    /// The limit on threads that are not in a blocking call.
    max_threads: usize,
    /// How many threads in blocking calls do not count towards `max_threads`.
    max_blocking: usize,
    /// The system has refused a thread: none is started any more.
    refused: bool,
    /// There are all threads that there will ever be.
    complete: bool,
    threads: Vec<Status>,
    idle: Vec<usize>,
    waiting: Vec<usize>,
    owed: VecDeque<usize>,
    debtors: Vec<usize>,
    stands: Stands,
}

impl Ledger {
    /// A ledger of `slots` slots for at most `max_threads` threads.
    #[must_use]
    pub fn new(slots: usize, max_threads: usize) -> Self {
        Self {
            slots,
            held: 0,
            overcommitted: 0,
            blocked: 0,
            max_threads: max_threads.max(slots),
            max_blocking: 0,
            refused: false,
            complete: false,
            threads: Vec::new(),
            idle: Vec::new(),
            waiting: Vec::new(),
            owed: VecDeque::new(),
            debtors: Vec::new(),
            stands: Stands::default(),
        }
    }

    /// Up to `threads` threads in blocking calls do not count towards the limit on threads.
    #[must_use]
    pub fn with_blocking(self, threads: usize) -> Self {
        Self {
            max_blocking: threads,
            ..self
        }
    }

    /// The same; who holds a slot stands on one of `stands`.
    #[must_use]
    pub fn with_stands(self, stands: Stands) -> Self {
        Self { stands, ..self }
    }

    /// Where those stand who hold slots.
    #[must_use]
    pub fn stands(&self) -> &Stands {
        &self.stands
    }

    /// Whether thread `t` is to have no stand with its slots.
    pub fn set_roaming(&mut self, t: usize, roams: bool) {
        self.stands.set_roaming(t, roams);
    }

    /// Thread `t`, if it holds a slot, goes to a free stand of `group`. Whether it stands there now.
    #[must_use]
    pub fn move_to(&mut self, t: usize, group: usize) -> bool {
        self.threads[t] == Status::Running && self.stands.move_to(t, group)
    }

    /// How many slots there are.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Whether somebody has a better right to a slot than who is between two tasks: is owed one, or in debt.
    #[must_use]
    pub fn owes(&self) -> bool {
        self.ready_without_slot() > 0
    }

    /// How many threads are owed a slot.
    #[must_use]
    pub fn owed(&self) -> usize {
        self.owed.len()
    }

    /// How many threads could use a slot that they have not: are owed one, or in debt.
    #[must_use]
    pub fn ready_without_slot(&self) -> usize {
        self.owed.len() + self.debtors.len()
    }

    /// How many threads run, with or without a slot.
    #[must_use]
    pub fn active(&self) -> usize {
        self.held + self.overcommitted
    }

    /// How many slots are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held
    }

    /// Whether any thread runs, with or without a slot.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.active() > 0
    }

    /// Whether a slot is free.
    #[must_use]
    pub fn has_free(&self) -> bool {
        self.held < self.slots
    }

    /// How many slots must be given back after a reduction.
    #[must_use]
    pub fn excess(&self) -> usize {
        self.held.saturating_sub(self.slots)
    }

    /// Whether somebody could be put to work: a slot is free, and a thread sleeps or may be started.
    #[must_use]
    pub fn has_vacancy(&self) -> bool {
        let somebody = self.may_start() || !self.idle.is_empty() || !self.waiting.is_empty();
        // Work that cannot be run has to be noticed.
        self.has_free() && (somebody || self.is_exhausted())
    }

    /// Whether no thread may be started any more because of those in blocking calls: they have reached their limit, or the
    /// system has refused a thread beside them.
    fn is_exhausted(&self) -> bool {
        let at_limit = self.refused || self.blocked >= self.max_blocking;
        self.blocked > 0 && at_limit && !self.complete && !self.may_start()
    }

    /// How many threads there are, apart from those that are gone.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads
            .iter()
            .filter(|status| **status != Status::Gone)
            .count()
    }

    /// What thread `t` does.
    #[must_use]
    pub fn status(&self, t: usize) -> Status {
        self.threads[t]
    }

    /// The threads that run, with or without a slot.
    pub fn running(&self) -> impl Iterator<Item = usize> + '_ {
        let runs = |status: &Status| matches!(status, Status::Running | Status::Overcommitted);
        self.threads
            .iter()
            .enumerate()
            .filter(move |(_, s)| runs(s))
            .map(|(t, _)| t)
    }

    /// The threads that have slots.
    pub fn holders(&self) -> impl Iterator<Item = usize> + '_ {
        self.running()
            .filter(|t| self.threads[*t] == Status::Running)
    }

    fn mark(&mut self, t: usize, status: Status) {
        for (count, counted) in [
            (&mut self.overcommitted, Status::Overcommitted),
            (&mut self.blocked, Status::Blocked),
        ] {
            *count -= usize::from(self.threads[t] == counted);
            *count += usize::from(status == counted);
        }
        self.threads[t] = status;
    }

    /// Admits a new thread that does not run yet (it is `Blocked` until [`ready`](Self::ready)); `None` at the limit.
    pub fn admit(&mut self) -> Option<usize> {
        if !self.has_room() {
            return None;
        }
        let gone = |status: &Status| *status == Status::Gone;
        if let Some(t) = self.threads.iter().position(gone) {
            self.mark(t, Status::Blocked);
            return Some(t);
        }
        self.threads.push(Status::Gone);
        let t = self.threads.len() - 1;
        self.mark(t, Status::Blocked);
        Some(t)
    }

    /// How many threads are in blocking calls.
    #[must_use]
    pub fn blocked(&self) -> usize {
        self.blocked
    }

    /// The threads that count towards the limit.
    fn counted(&self) -> usize {
        self.thread_count() - self.blocked.min(self.max_blocking)
    }

    fn has_room(&self) -> bool {
        self.counted() < self.max_threads
    }

    /// Whether calls that blocked have returned and left more threads than the limit allows: idle ones should leave.
    #[must_use]
    pub fn has_surplus(&self) -> bool {
        self.counted() > self.max_threads
    }

    /// No thread is started after those that were admitted, also in the place of one that is gone.
    pub fn complete(&mut self) {
        self.complete = true;
    }

    fn may_start(&self) -> bool {
        !self.refused && !self.complete && self.has_room()
    }

    /// Whether the system has refused a thread.
    #[must_use]
    pub fn was_refused(&self) -> bool {
        self.refused
    }

    /// The system refused thread `t`: no more are started, and who else comes along brings a thread. Returns the owed thread that must be woken, as
    /// [`stop`](Self::stop) does.
    #[must_use]
    pub fn refuse(&mut self, t: usize) -> Option<usize> {
        self.refused = true;
        self.max_threads = usize::MAX;
        self.stop(t, Status::Gone)
    }

    fn grant(&mut self, t: usize) {
        self.grant_in(t, None);
    }

    /// The same, on a stand of the group `wanted` if one is free.
    fn grant_in(&mut self, t: usize, wanted: Option<usize>) {
        self.held += 1;
        self.mark(t, Status::Running);
        self.stands.take(t, wanted);
    }

    /// Thread `t` stops running and becomes `to`. Returns the owed thread that must be woken: it has the slot now.
    #[must_use]
    pub fn stop(&mut self, t: usize, to: Status) -> Option<usize> {
        let had_slot = self.threads[t] == Status::Running;
        self.leave(t);
        self.mark(t, Status::Blocked);
        self.held -= usize::from(had_slot);
        self.stands.leave(t);
        // First the others: who leaves a slot although it could go on is the last to have it back.
        let served = self.serve_owed();
        self.enter(t, to);
        served.or_else(|| self.serve_owed())
    }

    fn enter(&mut self, t: usize, to: Status) {
        self.mark(t, to);
        match to {
            Status::Idle => self.idle.push(t),
            Status::Waiting => self.waiting.push(t),
            Status::Owed => self.owed.push_back(t),
            Status::Blocked => {}
            // The next thread of this number is another one.
            Status::Gone => self.stands.set_roaming(t, false),
            Status::Running | Status::Overcommitted => unreachable!("stop() is for stopping"),
        }
    }

    fn leave(&mut self, t: usize) {
        match self.threads[t] {
            Status::Idle => self.idle.retain(|other| *other != t),
            Status::Waiting => self.waiting.retain(|other| *other != t),
            Status::Owed => self.owed.retain(|other| *other != t),
            Status::Overcommitted => self.debtors.retain(|other| *other != t),
            _ => {}
        }
    }

    fn serve_owed(&mut self) -> Option<usize> {
        if !self.has_free() {
            return None;
        }
        if let Some(t) = self.owed.pop_front() {
            self.grant(t);
            return Some(t);
        }
        while self.has_free() {
            let t = self.debtors.pop()?;
            self.grant(t);
        }
        None
    }

    /// Thread `t` can go on by itself (its call returned, or it found work before it slept): whether it has a slot.
    /// Otherwise it is owed one.
    #[must_use]
    pub fn ready(&mut self, t: usize) -> bool {
        match self.threads[t] {
            Status::Running | Status::Overcommitted => return true,
            Status::Owed => return false,
            _ => self.leave(t),
        }
        if self.has_free() {
            self.grant(t);
            return true;
        }
        self.enter(t, Status::Owed);
        false
    }

    /// A sleeping thread `t` runs something that needs no slot. Whether it slept; it stops again by [`stop`](Self::stop).
    #[must_use]
    pub fn rise(&mut self, t: usize) -> bool {
        let slept = matches!(
            self.threads[t],
            Status::Idle | Status::Waiting | Status::Owed
        );
        if slept {
            self.leave(t);
            self.mark(t, Status::Overcommitted);
        }
        slept
    }

    /// An idle thread `t` found work before it slept: whether it has a slot. Otherwise it stays idle.
    #[must_use]
    pub fn ready_if_free(&mut self, t: usize) -> bool {
        self.threads[t] == Status::Running || (self.has_free() && self.ready(t))
    }

    /// The grace of thread `t` is over: it runs without a slot. Whether that is so (it may have got one just now).
    #[must_use]
    pub fn overcommit(&mut self, t: usize) -> bool {
        if self.threads[t] != Status::Owed {
            return false;
        }
        self.leave(t);
        self.mark(t, Status::Overcommitted);
        self.debtors.push(t);
        true
    }

    /// At a boundary: thread `t`, which may run without a slot, takes a free one. Whether it holds a slot now.
    #[must_use]
    pub fn repay(&mut self, t: usize) -> bool {
        if self.threads[t] == Status::Overcommitted && self.has_free() {
            self.leave(t);
            self.grant(t);
        }
        self.threads[t] == Status::Running
    }

    /// Work became visible: somebody is to look for it. `fit` tells what a waiter can do with it.
    pub fn wake_for_work(&mut self, fit: impl Fn(usize) -> Fit) -> Wake {
        if !self.has_free() {
            return Wake::Nobody;
        }
        if let Some(t) = self.grant_latest_waiter(|t| fit(t) == Fit::Robs) {
            return Wake::Thread(t);
        }
        if let Some(t) = self.idle.pop() {
            self.grant(t);
            return Wake::Thread(t);
        }
        if let Some(t) = self.start() {
            self.grant(t);
            return Wake::Start(t);
        }
        if let Some(t) = self.grant_latest_waiter(|t| fit(t) == Fit::Queued) {
            return Wake::Thread(t);
        }
        if self.running().next().is_none() {
            if let Some(t) = self.grant_latest_waiter(|t| fit(t) == Fit::Rescue) {
                return Wake::Rescue(t);
            }
        }
        match self.is_exhausted() {
            true => Wake::Exhausted,
            false => Wake::Nobody,
        }
    }

    /// Work became visible that is for those who stand in `group`: somebody without frames is to look for it from a free stand there, by preference
    /// one who has stood there last.
    pub fn wake_in(&mut self, group: usize) -> Wake {
        if !self.has_free() || !self.stands.has_free_in(group) {
            return Wake::Nobody;
        }
        let stood_there = |t: &usize| self.stands.was_in(*t, group);
        let latest = self.idle.iter().rposition(stood_there);
        if let Some(t) = latest
            .map(|at| self.idle.remove(at))
            .or_else(|| self.idle.pop())
        {
            self.grant_in(t, Some(group));
            return Wake::Thread(t);
        }
        let started = self.start();
        started.map_or(Wake::Nobody, |t| {
            self.grant_in(t, Some(group));
            Wake::Start(t)
        })
    }

    /// Gives a free slot to the waiter that is `wanted`, of several to the one that has waited least.
    fn grant_latest_waiter(&mut self, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let mut latest_first = self.waiting.iter().rev().copied();
        let t = latest_first.find(|t| wanted(*t))?;
        self.leave(t);
        self.grant(t);
        Some(t)
    }

    fn start(&mut self) -> Option<usize> {
        if self.may_start() { self.admit() } else { None }
    }

    /// The latch that thread `t` waits for was opened, by `giver` if that is a running thread of this pool.
    pub fn opened(&mut self, t: usize, giver: Option<usize>) -> Opened {
        if self.threads[t] != Status::Waiting {
            return Opened::Awake;
        }
        self.leave(t);
        if self.has_free() {
            self.grant(t);
            return Opened::Free;
        }
        if giver.is_some_and(|giver| self.threads[giver] == Status::Running) {
            // `held` stays: one slot changes hands.
            let giver = giver.unwrap_or(t);
            self.mark(t, Status::Running);
            self.mark(giver, Status::Overcommitted);
            self.stands.pass(giver, t);
            return Opened::Given;
        }
        self.enter(t, Status::Owed);
        Opened::Owed
    }

    /// Sets the number of slots. Returns the owed threads that must be woken: they have slots now.
    #[must_use]
    pub fn set_slots(&mut self, slots: usize) -> Vec<usize> {
        self.slots = slots;
        self.max_threads = self.max_threads.max(slots);
        core::iter::from_fn(|| self.serve_owed()).collect()
    }
}
