//! How a worker without work finds tasks, and the main loop of a thread of the pool.
//!
//! A worker looks at its own tasks first, then at the sources that the policy lists, and finally
//! sweeps over victims in the order of the victim policy. The idle policy decides how long the
//! worker looks and when it parks; [`crate::sleep`] does the parking.

#[cfg(all(test, not(any(loom, miri))))]
mod tests;

use super::custom_backoff::idle_state;
use super::find::{Taker, find};
use super::flags::Flags;
use super::inbox;
use super::memory;
use super::run;
use super::watch;
use super::{Worker, WorkerThread};
use super::{placed, stand};
use crate::job::Task;
use crate::options::IdleRule;
use crate::plan::Round;
use crate::pool::{PoolInner, signal};
use crate::sleep;
use crate::sleep::wake;
use crate::stats::Phase;
use tidegate_policy::search::SharedProcessor;
use tidegate_policy::slots::Status;
use tidegate_policy::trace::Thief;
use tidegate_policy::tunables::SPINS_PER_RETRY;
use tidegate_policy::{IdlePolicy, IdleState, Nanos, Peers, Rest, Rng};
use tidegate_sync::{clock, seed, spin_loop, thread};

/// A worker that looks for tasks, and what it remembers between two searches.
pub(crate) struct Search<'a> {
    worker: WorkerThread<'a>,
    thief: Thief,
    rng: Rng,
    flags: Flags,
    shared: SharedProcessor,
    /// When the current search made its first attempt to steal.
    first_attempt: Option<Nanos>,
    /// When the running task was stolen.
    stolen_at: Option<Nanos>,
    /// Whether this worker has neither taken a task nor searched since its start or its last rest.
    has_rested: bool,
    /// Whether another thread must be woken for the tasks that remain after the current one.
    must_rouse: bool,
    /// Whether the pool's own class has the turn, although other classes have tasks, and this
    /// worker has neither found a task of that class nor looked everywhere for one.
    serves_own: bool,
    /// Whether this worker has run parts of broadcasts last. A task comes next, if the worker finds
    /// one, even if more parts have arrived.
    has_run_inbox: bool,
}

struct PeersOf<'a>(&'a PoolInner);

impl Peers for PeersOf<'_> {
    fn count(&self) -> usize {
        self.0.worker_count()
    }

    fn is_candidate(&self, worker: usize) -> bool {
        self.0
            .worker_if(worker)
            .is_some_and(|worker| !worker.membership.is_gone.get())
    }

    fn distance(&self, thief: usize, victim: usize) -> u32 {
        stand::distance(self.0, thief, victim)
    }

    fn last_victim(&self, worker: usize) -> Option<usize> {
        self.0.worker_if(worker)?.victim.last_victim.get()
    }
}

impl<'a> Search<'a> {
    /// Creates the search of a thread of the pool. Calls the user's code that creates a backoff, if
    /// any.
    pub(crate) fn new(worker: WorkerThread<'a>) -> Self {
        Self::with(worker, idle_state(worker))
    }

    fn with(worker: WorkerThread<'a>, idle: IdleState) -> Self {
        let (pool, index) = (worker.pool(), worker.index);
        Self {
            worker,
            thief: Thief::new(&worker.notes, idle, pool.options.victim, index),
            rng: Rng::new(seed::worker_seed(index)),
            flags: Flags::default(),
            shared: SharedProcessor::UNKNOWN,
            first_attempt: None,
            stolen_at: None,
            has_rested: true,
            must_rouse: false,
            serves_own: false,
            has_run_inbox: false,
        }
    }

    /// Ends the search. The result owns the user's backoff, if any.
    pub(crate) fn into_thief(self) -> Thief {
        self.thief
    }

    /// Runs tasks until the thread must call its exit handler or leave.
    pub(crate) fn live(&mut self) {
        while self.run_next() {}
    }

    /// Runs a task or the parts of broadcasts in the inbox, or rests. Returns `false` if the thread
    /// must call its exit handler or leave.
    fn run_next(&mut self) -> bool {
        let worker = self.worker;
        self.poll_at_base();
        sleep::make_way(worker);
        if worker.must_stop() && !self.rest() {
            return false;
        }
        // Parts of broadcasts usually come after the worker's own tasks, but the classes may never
        // run out of tasks.
        let task = if worker.pool().sources.classes.len() > 0 && self.must_run_inbox() {
            None
        } else {
            self.task_at_hand().or_else(|| self.search())
        };
        self.has_run_inbox = false;
        if let Some(task) = task {
            self.run_at_base(task);
        } else if worker.inbox.len() > 0 {
            // Other threads may rely on this worker to search for their tasks. It runs its inbox
            // first, so another thread must search.
            wake::rouse(worker.pool());
            inbox::run_at_base(worker);
            self.has_run_inbox = true;
        } else {
            return self.rest();
        }
        true
    }

    /// Rests. Returns `false` if the thread must call its exit handler or leave.
    fn rest(&mut self) -> bool {
        self.has_rested = sleep::rest(self.worker, self.flags.rest());
        self.has_rested
    }

    /// Whether parts of broadcasts wait, and come before a search.
    #[inline]
    fn must_run_inbox(&self) -> bool {
        self.worker.inbox.len() > 0 && !self.has_run_inbox
    }

    /// Takes a task of another class, if it is that class's turn, one of this worker's own tasks, or
    /// one of the pool's queues. The thread that started this worker, or ended its rest, relies on
    /// it to search, but the task delays the search. So another thread must be woken for the
    /// remaining tasks. It is woken only after this worker has taken its task; otherwise it might
    /// be woken for that task alone.
    fn task_at_hand(&mut self) -> Option<Task> {
        let has_rested = std::mem::take(&mut self.has_rested);
        let worker = self.worker;
        let own = self.dispatch_by_class().or_else(|| worker.own_task());
        let task = own.or_else(|| self.queued_task())?;
        self.serves_own = false;
        self.must_rouse = has_rested;
        Some(task)
    }

    /// Looks once, if it will find a task in the pool's queues. So a worker that runs one such task
    /// after another is no searcher, and reads the clock only when it looks in reverse.
    fn queued_task(&mut self) -> Option<Task> {
        let looks = self.worker.pool().sources.has_only_own_class() && !self.must_run_inbox();
        looks.then(|| self.search_by(Self::find_once))?
    }

    /// Takes a task of another class than the pool's own, if it is that class's turn.
    #[inline]
    fn dispatch_by_class(&mut self) -> Option<Task> {
        let classes = &self.worker.pool().sources.classes;
        if std::mem::take(&mut self.serves_own) {
            // The search was given up early, because the worker had to stop or to run its inbox.
            classes.give_turn_back(None);
        }
        if classes.len() == 0 {
            return None;
        }
        let task = classes.dispatch();
        self.serves_own = task.is_none();
        task
    }

    /// Runs the remaining tasks in the deque of `worker`, a guest, and in the queues of its pool,
    /// which has no threads.
    pub(crate) fn finish(worker: WorkerThread<'a>) {
        // A guest never rests.
        let idle = IdleState::new(&IdlePolicy::None).expect("no parameter is out of range");
        let mut search = Self::with(worker, idle);
        let others = || find(worker, Taker::Last, worker.searches_in_reverse());
        let own = || worker.own_task().or_else(others);
        while let Some(task) = worker.pool().sources.classes.next(own) {
            search.run_at_base(task);
        }
    }

    /// Answers signals while no task is in progress. If the pool wants the slot back, the worker
    /// rests and so gives it back.
    fn poll_at_base(&self) {
        let worker = self.worker;
        if !worker.is_called() {
            return;
        }
        let signals = worker.deque().answer();
        if signals & signal::LEAVE != 0 {
            worker.set_must_stop(sleep::is_in_excess(worker));
        }
        worker.act_on(signals & !signal::LEAVE);
    }

    fn run_at_base(&mut self, task: Task) {
        let worker = self.worker;
        let stolen_at = self.stolen_at.take();
        worker.tally.tasks.add(1);
        worker.tally.base_tasks.add(1);
        if worker.sleeper.unasked_until().is_none() {
            worker.forget_preemptions();
        }
        memory::forget_granted(worker);
        run::enter_base(worker, &task);
        if std::mem::take(&mut self.must_rouse) {
            // The other thread is not woken earlier: until the latch of the task records that the
            // task is taken, its joiner keeps looking for it.
            wake::rouse(worker.pool());
        }
        worker.victim.is_busy.set(true);
        worker.set_dispatched(true);
        run::run_taken(worker, task);
        worker.victim.is_busy.set(false);
        placed::come_home(worker);
        if let Some(stolen_at) = stolen_at {
            let unprofitable = worker.victim.unprofitable_steal.swap(false);
            let gap = &mut self.flags.gap;
            gap.task_ran(clock::now() - stolen_at, unprofitable);
        }
    }

    /// Looks for work until the idle policy says to park, or parts of broadcasts must be run.
    fn search(&mut self) -> Option<Task> {
        let worker = self.worker;
        // The look at the queues may have given the slot away.
        if self.must_run_inbox() || worker.must_stop() {
            return None;
        }
        let idle = &worker.pool().options.idle;
        let elastic = matches!(idle, IdleRule::BuiltIn(IdlePolicy::Elastic(_)));
        if worker.pool().sleep.begin_search(elastic) {
            self.search_by(Self::search_on)
        } else {
            self.search_by(Self::find_once)
        }
    }

    fn search_by(&mut self, find: fn(&mut Self) -> Option<Task>) -> Option<Task> {
        self.first_attempt = None;
        let task = find(self)?;
        self.thief.steal_succeeded(&self.worker.notes, clock::now);
        self.flags.hungry = false;
        Some(task)
    }

    /// Looks for work repeatedly, as one of the workers that count as searching.
    fn search_on(&mut self) -> Option<Task> {
        let worker = self.worker;
        let pool = worker.pool();
        let _ = watch::enter_phase(worker, Phase::Stealing);
        let mut stepped_aside = false;
        let found = loop {
            if let Some(task) = self.find_once() {
                break Some(task);
            }
            self.poll_at_base();
            sleep::make_way(worker);
            if worker.must_stop() || pool.is_ending() || worker.inbox.len() > 0 {
                break None;
            }
            let rng = &mut self.rng;
            let rest = (self.thief).sweep_failed(&worker.notes, clock::now, || rng.draw());
            let spawned = self.task_of_backoff();
            if spawned.is_some() {
                break spawned;
            }
            if rest == Rest::Yield && pool.options.bind {
                stepped_aside |= self.yield_bound(!stepped_aside);
            } else if !self.take_rest(rest) {
                break None;
            }
            // The slot may have gone to a task that slept until memory was available.
            if worker.must_stop() {
                break None;
            }
            self.thief.rested(&worker.notes, clock::now);
        };
        let _ = watch::enter_phase(worker, Phase::Busy);
        if pool.sleep.end_search(found.is_some()) {
            wake::rouse(pool);
        }
        found
    }

    /// Yields the processor to which this worker is bound. If it is shared, steps aside: the worker
    /// does not count as searching meanwhile, and hands its duty over if this `is_first` in a search.
    /// Returns whether it did so.
    fn yield_bound(&mut self, is_first: bool) -> bool {
        let (pool, began) = (self.worker.pool(), clock::now());
        let steps_aside = self.shared.holds_at(began);
        if steps_aside && pool.sleep.end_search(is_first) {
            wake::rouse(pool);
        }
        thread::yield_now();
        self.shared.yielded(began, clock::now());
        if steps_aside {
            pool.sleep.begin_search(false);
        }
        steps_aside
    }

    /// Takes a task that the user's backoff has just spawned, if no thief has taken it.
    fn task_of_backoff(&self) -> Option<Task> {
        let worker = self.worker;
        let spawned = worker.pool().options.idle.is_custom() && worker.has_work();
        spawned.then(|| worker.own_task())?
    }

    /// Rests as the idle policy demands. Returns whether to search again.
    fn take_rest(&self, rest: Rest) -> bool {
        match rest {
            Rest::Retry => (0..SPINS_PER_RETRY.default).for_each(|_| spin_loop()),
            Rest::Yield => thread::yield_now(),
            Rest::Sleep(nanos) => {
                // Instead of sleeping, wake a task that sleeps until memory is available, even if
                // its rounds are not over.
                if !memory::wake_sleeper(self.worker, Round::Skipped) {
                    sleep::nap(self.worker, nanos);
                }
            }
            Rest::Park => return false,
        }
        true
    }

    /// Looks for a task in all sources and classes once.
    fn find_once(&mut self) -> Option<Task> {
        let worker = self.worker;
        let classes = &worker.pool().sources.classes;
        let above = if self.serves_own {
            None
        } else {
            classes.take_above()
        };
        let found = above.or_else(|| find(worker, Taker::Base(self), worker.searches_in_reverse()));
        if found.is_none() && worker.must_stop() {
            return None;
        }
        self.serves_own = false;
        found.or_else(|| classes.take_any())
    }

    /// Returns a random number below `many`.
    pub(super) fn draw(&mut self, many: usize) -> usize {
        (self.rng.draw() % many as u64) as usize
    }

    /// Tries each victim once, in the order of the victim policy.
    pub(super) fn sweep(&mut self) -> Option<Task> {
        let worker = self.worker;
        let pool = worker.pool();
        loop {
            let rng = &mut self.rng;
            let victim = (self.thief).next_victim(&worker.notes, &PeersOf(pool), || rng.draw());
            let Some(victim) = victim else {
                memory::wake_sleeper(worker, Round::PassesSomewhere);
                return None;
            };
            let Some(victim) = pool.worker_if(victim) else {
                continue;
            };
            if victim.sleeper.is_preempted.get()
                && pool.ledger().status(victim.index) == Status::Owed
            {
                // The victim can run its own tasks, with the slot that this worker frees by
                // resting.
                worker.set_must_stop(true);
                return None;
            }
            if memory::wake_sleeper(worker, Round::Passes) && worker.must_stop() {
                return None;
            }
            if let Some(task) = self.steal(victim) {
                return Some(task);
            }
            let rest = self.thief.attempt_failed(&worker.notes, clock::now);
            if rest != Rest::Retry {
                self.take_rest(rest);
                self.thief.rested(&worker.notes, clock::now);
                if worker.must_stop() {
                    return None;
                }
            }
        }
    }

    pub(super) fn steal(&mut self, victim: &Worker) -> Option<Task> {
        let worker = self.worker;
        let began = *self.first_attempt.get_or_insert_with(clock::now);
        let task = worker.attempt(victim, &mut self.flags)?;
        (self.thief).stolen_from(&worker.notes, || victim.index as u64);
        worker.victim.last_victim.set(Some(victim.index));
        let now = clock::now();
        worker.tally.steal_latency.record(now - began);
        self.stolen_at = Some(now);
        if self.flags.gap.is_shortest() {
            // The joiner will wait soon, and may then rob what this task forks.
            worker.deque.raise(signal::FLAG);
        }
        Some(task)
    }
}
