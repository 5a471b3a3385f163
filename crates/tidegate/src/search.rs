//! How a worker without work finds some, and the life of a thread of the pool.
//!
//! Order: the own deque, the pool's queues, then a sweep over victims by the victim policy. A victim whose work is all
//! private gets a flag; if it does not answer, the thief moves the border itself (docs/deque.md). How long to go on
//! and when to park is the idle policy's decision; parking itself is in [`crate::sleep`].

use crate::alt_queue::Cursors;
use crate::events;
use crate::job::Task;
use crate::pool::{PoolInner, signal};
use crate::space::{self, Look, Round};
use crate::stats::Phase;
use crate::worker::{Worker, WorkerThread, steal_from};
use std::cell::Cell;
use tidegate_deque::{Miss, Steal};
use tidegate_policy::search::{FlagGap, flag_unanswered};
use tidegate_policy::slots::Status;
use tidegate_policy::trace::Thief;
use tidegate_policy::tunables::{SPINS_PER_RETRY, STEAL_RETRIES};
use tidegate_policy::{Idle, Nanos, Peers, Rest, Rng};
use tidegate_sync::atomic::Ordering;
use tidegate_sync::{clock, seed, spin_loop, thread};

/// A thread's memory between searches.
pub(crate) struct Searcher {
    thief: Thief,
    rng: Rng,
    pub(crate) flags: Flags,
    /// When the task was stolen that runs now.
    found: Option<Nanos>,
}

/// Which victims this thief has asked, and when.
#[derive(Default)]
pub(crate) struct Flags {
    gap: FlagGap,
    last: Option<Nanos>,
    asked: Option<(usize, Nanos)>,
    /// Whether hunger was raised at the last rest and nothing was found since, and when.
    hungry: bool,
    hungry_at: Option<Nanos>,
    pub(crate) cursors: Cursors,
}

impl Flags {
    /// The victim runs, but nothing of it is public: asks for what it has or will have, or takes matters in hand. Whether to try at
    /// once.
    ///
    /// A flag at one who has nothing is answered by its next push. Between two pushes a fork may be over, or a leaf begin that polls
    /// nothing: a thief that waited for something to ask for would come too late for either.
    pub(crate) fn press(&mut self, shared: &PoolInner, victim: &Worker) -> bool {
        let now = clock::now();
        if let Some((asked, since)) = self.asked {
            if flag_unanswered(since, now) {
                let silent = shared.worker(asked);
                if silent.deque.has_private() && !shared.expose_turn(now) {
                    return false;
                }
                self.asked = None;
                if silent.deque.has_private() {
                    return silent.deque.force_expose() && asked == victim.index;
                }
            }
        }
        // In this order: the owner writes at each push and pop what the last question reads.
        if self.ask(victim, now) && victim.deque.has_private() {
            self.asked.get_or_insert((victim.index, now));
        }
        false
    }

    /// The thief goes to rest. How long it is backoff before it raises hunger, which is a flag at everybody.
    fn rest(&mut self) -> Nanos {
        if self.hungry {
            self.gap.woken_in_vain();
        }
        let now = clock::now();
        let backoff = self.gap.remaining(self.last.max(self.hungry_at), now);
        self.hungry = true;
        self.hungry_at = Some(now + backoff);
        backoff
    }

    /// Raises a flag, if another may be raised already. Whether it may.
    fn ask(&mut self, victim: &Worker, now: Nanos) -> bool {
        let allowed = self.gap.allows(self.last, now);
        if allowed && victim.deque.raised() & signal::FLAG == 0 {
            self.last = Some(now);
            victim.deque.raise(signal::FLAG);
        }
        allowed
    }

    /// The victim had some. It is asked for more in advance, for when this has run.
    fn answered(&mut self, victim: &Worker) {
        self.asked = None;
        self.ask(victim, clock::now());
    }
}

impl Searcher {
    pub(crate) fn new(shared: &PoolInner, worker: usize) -> Self {
        Self {
            thief: Thief::new(
                &shared.worker(worker).notes,
                shared.options.idle_state,
                shared.options.victim,
                worker,
            ),
            rng: Rng::new(seed::worker_seed(worker)),
            flags: Flags::default(),
            found: None,
        }
    }
}

struct PeersOf<'a>(&'a PoolInner);

impl Peers for PeersOf<'_> {
    fn count(&self) -> usize {
        self.0.worker_count()
    }

    fn is_candidate(&self, worker: usize) -> bool {
        self.0
            .worker_if(worker)
            .is_some_and(|worker| !worker.is_gone())
    }

    fn distance(&self, thief: usize, victim: usize) -> u32 {
        self.0.distance(thief, victim)
    }

    fn last_victim(&self, worker: usize) -> Option<usize> {
        self.0.worker_if(worker)?.last_victim()
    }
}

impl WorkerThread<'_> {
    /// The life of a thread of the pool.
    pub(crate) fn live(self) {
        let mut searcher = Searcher::new(self.shared(), self.index);
        loop {
            self.poll_at_base();
            self.make_way();
            if self.must_stop() && !self.rest(searcher.flags.rest()) {
                return;
            }
            if let Some(task) = self.own_task().or_else(|| self.search(&mut searcher)) {
                self.run_at_base(task, &mut searcher);
            } else if self.inbox.len() > 0 {
                // Somebody may have left work to this worker's search.
                self.shared().rouse();
                self.run_inbox();
                self.shared().check_process();
            } else if !self.rest(searcher.flags.rest()) {
                return;
            }
        }
    }

    /// Runs what is left in the own deque and in the pool's queues, for a pool that has no threads.
    pub(crate) fn finish(self) {
        let mut searcher = Searcher::new(self.shared(), self.index);
        let planned = || space::take(self, Look::Next(&mut |_| 0));
        let next = || self.own_task().or_else(planned);
        while let Some(task) = next().or_else(|| self.take_queued()) {
            self.run_at_base(task, &mut searcher);
        }
    }

    /// Answers signals where no frames are: a slot that is wanted back is given back by resting.
    fn poll_at_base(self) {
        if !self.is_called() {
            return;
        }
        let signals = self.deque().answer();
        if signals & signal::LEAVE != 0 {
            self.set_must_stop(self.is_in_excess());
        }
        self.act_on(signals & !signal::LEAVE);
    }

    fn run_at_base(self, task: Task, searcher: &mut Searcher) {
        let started = searcher.found.take();
        self.tally.tasks.add(1);
        if self.unasked_until().is_none() {
            self.forget_preemptions();
        }
        space::forget_granted(self);
        self.enter_base(&task);
        self.set_busy(true);
        self.run_taken(task);
        self.shared().check_process();
        self.set_busy(false);
        if self.home().is_some() {
            self.set_home(None);
        }
        if let Some(started) = started {
            let unprofitable_steal = self.take_unprofitable_steal();
            let gap = &mut searcher.flags.gap;
            gap.task_ran(clock::now() - started, unprofitable_steal);
        }
    }

    /// Names the task at the base of the stack anew, for those who may rob its descendants.
    fn enter_base(self, task: &Task) {
        let scope = task
            .scope()
            .map_or(std::ptr::null_mut(), |s| std::ptr::from_ref(s).cast_mut());
        // Relaxed: only this thread writes it.
        let alone = self.deque().is_empty();
        // What an earlier task has spawned and left below is a stranger to this one: nothing may be robbed here then.
        let scope = if alone { scope } else { std::ptr::null_mut() };
        let same = !scope.is_null() && self.base_scope.load(Ordering::Relaxed) == scope;
        if same {
            return;
        }
        let generation = self.forget_base();
        // Release, after the new generation as `forget_base` is before it: a robber that acquires the new generation does
        // not see the old scope, see docs/waiting.md.
        self.base_scope.store(scope, Ordering::Release);
        self.tell_that_we_run(task, alone.then_some(generation), false);
    }

    /// The youngest task that this worker has.
    fn own_task(self) -> Option<Task> {
        let own = self.pop(0).or_else(|| self.take_alt());
        own.or_else(|| self.stolen_batch.pop_last())
    }

    /// Looks for work until the idle policy says to park, or there is inbox.
    fn search(self, searcher: &mut Searcher) -> Option<Task> {
        if self.inbox.len() > 0 {
            return None;
        }
        let task = self.look_for_work(searcher);
        if task.is_some() {
            searcher.thief.steal_succeeded(&self.notes, clock::now);
            searcher.flags.hungry = false;
        }
        task
    }

    fn look_for_work(self, searcher: &mut Searcher) -> Option<Task> {
        let shared = self.shared();
        let elastic = matches!(shared.options.idle, Idle::Elastic(_));
        if !shared.begin_search(elastic) {
            return self.find(searcher);
        }
        let _ = self.enter_phase(Phase::Stealing);
        let found = loop {
            if let Some(task) = self.find(searcher) {
                break Some(task);
            }
            self.poll_at_base();
            self.make_way();
            if self.must_stop() || shared.is_ending() || self.inbox.len() > 0 {
                break None;
            }
            let Searcher { thief, rng, .. } = searcher;
            let rest = thief.sweep_failed(&self.notes, clock::now, || rng.draw());
            // A sleeper for memory may have got the slot.
            if !self.take_rest(rest) || self.must_stop() {
                break None;
            }
            thief.rested(&self.notes, clock::now);
        };
        let _ = self.enter_phase(Phase::Busy);
        shared.end_search(found.is_some());
        found
    }

    /// Whether to look again.
    fn take_rest(self, rest: Rest) -> bool {
        match rest {
            Rest::Retry => (0..SPINS_PER_RETRY.default).for_each(|_| spin_loop()),
            Rest::Yield => thread::yield_now(),
            Rest::Sleep(nanos) => {
                // Who sleeps for memory comes first.
                if !space::wake_sleeper(self, Round::Skipped) {
                    self.nap(nanos);
                }
            }
            Rest::Park => return false,
        }
        true
    }

    /// One look at everything.
    fn find(self, searcher: &mut Searcher) -> Option<Task> {
        let shared = self.shared();
        let here = self.take_placed_here(|_| true);
        let near = here.or_else(|| shared.pop_queued());
        let near = near.or_else(|| self.take_placed_unserved());
        let mut draw = |many: usize| (searcher.rng.draw() % many as u64) as usize;
        let near = near.or_else(|| space::take(self, Look::Next(&mut draw)));
        if near.is_none() && self.must_stop() {
            // The slot went to one who was parked.
            return None;
        }
        if let Some(task) = near.or_else(|| self.take_back_placed(searcher)) {
            return Some(task);
        }
        if shared.memory.is_ordered() {
            // Nobody has a deque to steal from.
            return self.take_placed_elsewhere().map(|(task, _)| task);
        }
        loop {
            let Searcher { thief, rng, .. } = searcher;
            let victim = thief.next_victim(&self.notes, &PeersOf(shared), || rng.draw());
            let Some(victim) = victim else {
                if space::wake_sleeper(self, Round::PassesSomewhere) && self.must_stop() {
                    return None;
                }
                let (task, group) = self.take_placed_elsewhere()?;
                self.set_home(Some(group).filter(|group| !self.is_in_group(*group)));
                return Some(task);
            };
            let Some(victim) = shared.worker_if(victim) else {
                continue;
            };
            if victim.is_preempted() && shared.ledger().status(victim.index) == Status::Owed {
                // It goes on itself, with the slot that this worker leaves by resting.
                self.set_must_stop(true);
                return None;
            }
            if space::wake_sleeper(self, Round::Passes) && self.must_stop() {
                return None;
            }
            if let Some(task) = self.steal(victim, searcher) {
                return Some(task);
            }
            let rest = searcher.thief.attempt_failed(&self.notes, clock::now);
            if rest != Rest::Retry {
                self.take_rest(rest);
                searcher.thief.rested(&self.notes, clock::now);
                if self.must_stop() {
                    return None;
                }
            }
        }
    }

    /// Tries to steal what a task of this worker's place has forked elsewhere.
    fn take_back_placed(self, searcher: &mut Searcher) -> Option<Task> {
        let shared = self.shared();
        let mut takers = self.takers_of_own();
        takers.find_map(|t| self.steal(shared.worker(t), searcher))
    }

    fn steal(self, victim: &Worker, searcher: &mut Searcher) -> Option<Task> {
        let task = self.attempt(victim, &mut searcher.flags)?;
        searcher
            .thief
            .stolen_from(&self.notes, || victim.index as u64);
        self.set_last_victim(victim.index);
        searcher.found = Some(clock::now());
        Some(task)
    }

    /// Tries to steal from one victim.
    pub(crate) fn attempt(self, victim: &Worker, flags: &mut Flags) -> Option<Task> {
        for _ in 0..=STEAL_RETRIES.default {
            self.tally.attempts.add(1);
            if self.shared().options.counts_lengths() {
                self.tally.lengths_seen.add(victim.deque.waiting());
            }
            let (got, youngest, older) = self.take_batch(victim);
            match got {
                Steal::Success(k) => {
                    flags.answered(victim);
                    self.count_steal(victim, k);
                    if !older.is_empty() {
                        older.into_iter().for_each(|task| self.keep_in_batch(task));
                        // While they were in our hands a last look has not seen them.
                        self.shared().work_visible(Some(self.worker()));
                    }
                    return youngest;
                }
                Steal::Lost => self.tally.partly_failed.add(1),
                Steal::Empty => {
                    if let Some(task) = victim.stolen_batch.pop() {
                        self.count_steal(victim, 1);
                        return Some(task);
                    }
                    match self.steal_alt(victim, &mut flags.cursors) {
                        Ok(task) => {
                            self.count_steal(victim, 1);
                            return Some(task);
                        }
                        Err(Miss::Lost) => {
                            self.tally.partly_failed.add(1);
                            continue;
                        }
                        Err(Miss::Empty) => {}
                    }
                    let busy = victim.is_busy() || victim.deque.has_private();
                    if busy {
                        self.tally.partly_failed.add(1);
                    } else {
                        self.tally.purely_failed.add(1);
                    }
                    if !busy || !flags.press(self.shared(), victim) {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// Steals as many tasks as the steal amount says; the youngest of them, and the others.
    fn take_batch(self, victim: &Worker) -> (Steal, Option<Task>, Vec<Task>) {
        let mut youngest = None;
        let older = Cell::new(Vec::new());
        let amount = |waiting| {
            let amount = Thief::take(&self.notes, self.shared().options.amount, || waiting);
            // Before the theft: the victim may wait for us afterwards.
            older.set(Vec::with_capacity(amount.saturating_sub(1)));
            amount as u64
        };
        let got = steal_from(victim, amount, None, |task| {
            task.count();
            let mut tasks = older.take();
            tasks.extend(youngest.replace(task));
            older.set(tasks);
        });
        (got, youngest, older.into_inner())
    }

    pub(crate) fn count_steal(self, victim: &Worker, tasks: u64) {
        self.tally.steals.add(1);
        self.tally.stolen_tasks.add(tasks);
        self.note_steal(victim, tasks);
        events::steal(self.shared(), self.index, victim.index, tasks);
    }

    /// Keeps an older task of a batch while the youngest one runs: not in the deque, where it would lie below that one's
    /// descendants and hide them from those who wait for them.
    pub(crate) fn keep_in_batch(self, task: Task) {
        let joiner = self
            .stolen_batch
            .push_named(task, |latch| latch.set_keeper(self.index));
        self.shared().tell_joiner(joiner);
    }
}
