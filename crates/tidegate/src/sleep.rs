//! Giving slots up, sleeping, and waking others. The protocol and its argument are docs/sleep.md.
//!
//! All moves of slots go through the ledger ([`tidegate_policy::slots`]) under one lock, which is taken on the way to sleep
//! and on the way back only. `vacancy` and `searching` mirror what publishers must know without the lock.

use crate::events;
use crate::job::Task;
use crate::latch::{State, Thief};
use crate::pool::{Shared, signal};
use crate::scope::ScopeCore;
use crate::stats::Phase;
use crate::wait::Awaited;
use crate::worker::{Current, Worker};
use std::time::Duration;
use tidegate_policy::Wait;
use tidegate_policy::search::{Slotless, max_searchers, wakes_another};
use tidegate_policy::slots::{Ledger, Opened, Status, Wake};
use tidegate_policy::tunables::PARK_LOOK;
use tidegate_sync::atomic::Ordering;
use tidegate_sync::lock::MutexGuard;
use tidegate_sync::park::Parker;
use tidegate_sync::{barrier, clock};

impl Shared {
    /// The ledger under its lock. Whoever changes it calls [`publish`](Self::publish) before unlocking.
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.check_process();
        self.ledger.lock()
    }

    /// Mirrors whether somebody could be put to work.
    fn publish(&self, ledger: &Ledger) {
        // Relaxed: ordered by the full fences in `work_visible` and before each last look.
        self.vacancy.store(ledger.has_vacancy(), Ordering::Relaxed);
    }

    /// One worker more searches. `false`: enough of them do, go to sleep after one look.
    pub(crate) fn begin_search(&self, limited: bool) -> bool {
        // AcqRel read-modify-writes here and in `end_search`: a publisher that reads the count before a decrement is
        // ordered before the searcher's last look by the full fences on both sides.
        let most = if limited {
            max_searchers(self.slots())
        } else {
            usize::MAX
        };
        let one_more = |searching| (searching < most).then_some(searching + 1);
        self.searching
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more)
            .is_ok()
    }

    /// A searcher stops. If it found work it wakes the next, for whatever other work it did not look at.
    pub(crate) fn end_search(&self, found: bool) {
        let searching = self.searching.fetch_sub(1, Ordering::AcqRel) - 1;
        // Relaxed: a sleeper that comes later makes its own last look.
        let sleeping = usize::from(self.vacancy.load(Ordering::Relaxed));
        if found && wakes_another(searching, sleeping) {
            self.rouse(None);
        }
    }

    /// Work was made visible by `publisher`: wakes somebody, unless nobody sleeps or a searcher will come upon it.
    pub(crate) fn work_visible(&self, publisher: Option<&Worker>) {
        // Pairs with the heavy barrier (which contains a full fence) before a sleeper's last look.
        barrier::full();
        // Relaxed: ordered by the fence.
        let searching = self.searching.load(Ordering::Relaxed);
        let sleeping = usize::from(self.vacancy.load(Ordering::Relaxed));
        if wakes_another(searching, sleeping) {
            self.wake_for_work(publisher);
        }
    }

    fn wake_for_work(&self, publisher: Option<&Worker>) {
        let mut ledger = self.ledger();
        let may_rescue = |t| self.worker(t).may_help();
        let wake = ledger.wake_for_work(|t| self.may_rob(t, publisher), may_rescue);
        self.publish(&ledger);
        if let Wake::Rescue(t) = wake {
            // Under the lock: the waiter sees it when it sees that it runs.
            self.worker(t).set_rescue();
        }
        drop(ledger);
        self.carry_out(wake);
    }

    /// A slot may be free: if there is work to see, somebody is woken for it, else all who run are told that others are
    /// hungry.
    pub(crate) fn rouse(&self, publisher: Option<&Worker>) {
        if self.sees_work() {
            return self.wake_for_work(publisher);
        }
        let ledger = self.ledger();
        if ledger.has_vacancy() {
            self.raise_hunger(&ledger);
        }
    }

    fn raise_hunger(&self, ledger: &Ledger) {
        self.raise_at_running(ledger, signal::HUNGRY);
    }

    /// Raises a signal at all who run. One who was granted a slot and has not started yet begins with a search anyway.
    fn raise_at_running(&self, ledger: &Ledger, bits: u32) {
        ledger
            .running()
            .filter_map(|t| self.worker_if(t))
            .for_each(|w| w.deque.raise(bits));
    }

    fn carry_out(&self, wake: Wake) {
        match wake {
            Wake::Nobody => {}
            Wake::Thread(t) | Wake::Rescue(t) => self.unpark(t),
            Wake::Start(t) => {
                self.start_thread(t);
            }
        }
    }

    fn unpark(&self, t: usize) {
        events::wake(self, t);
        self.worker(t).wake();
    }

    /// Whether waiter `t` may rob what `publisher` has made visible; without a publisher, what anybody has.
    fn may_rob(&self, t: usize, publisher: Option<&Worker>) -> bool {
        let waiter = self.worker(t);
        if self.options.wait == Wait::HelpAny {
            return waiter.may_help();
        }
        match publisher {
            Some(publisher) => self.leads_to(waiter, publisher),
            None => self
                .workers()
                .any(|w| w.has_work() && self.leads_to(waiter, w)),
        }
    }

    /// Whether `worker` runs what `waiter` waits for, or what that waits for in turn.
    fn leads_to(&self, waiter: &Worker, worker: &Worker) -> bool {
        if waiter.awaits_scope_of(worker) {
            return true;
        }
        let mut next = waiter.waits_for();
        for _ in 0..self.worker_count() {
            let Some(Thief {
                worker: thief,
                generation: Some(generation),
                ..
            }) = next
            else {
                return false;
            };
            let thief = self.worker(thief);
            if thief.deque.generation() != generation {
                return false;
            }
            if thief.index == worker.index {
                return true;
            }
            next = thief.waits_for();
        }
        false
    }

    /// Whether any work can be seen that a thief may take: in a queue, public, or private and yet to be exposed.
    fn sees_work(&self) -> bool {
        let enough =
            |worker: &Worker| self.options.amount.take(worker.deque.waiting() as usize) > 0;
        self.has_queued() || self.workers().any(enough)
    }

    /// The latch that worker `t` waits for was opened; by worker `giver` of this pool, if by one.
    /// Whether the giver must stop running, because its slot went along.
    pub(crate) fn latch_opened(&self, t: usize, giver: Option<usize>) -> bool {
        let mut ledger = self.ledger();
        let opened = ledger.opened(t, giver);
        self.publish(&ledger);
        drop(ledger);
        if opened != Opened::Awake {
            self.unpark(t);
        }
        opened == Opened::Given
    }

    /// Changes the number of slots: wakes those who are owed one, or asks for some back.
    pub(crate) fn resize(&self, slots: usize) {
        let mut ledger = self.ledger();
        let served = ledger.set_slots(slots);
        self.publish(&ledger);
        if ledger.excess() > 0 {
            self.raise_at_running(&ledger, signal::GIVE_UP);
        }
        drop(ledger);
        served.into_iter().for_each(|t| self.unpark(t));
        self.rouse(None);
    }

    /// Puts a task into the mail of each thread of the pool, and wakes those that sleep. `task` is told how many threads
    /// there are and makes a task for each number.
    ///
    /// All under the ledger's lock: two rounds reach every mail in the same order, and nobody leaves in between.
    pub(crate) fn deliver_to_all<T: FnMut(usize) -> Task>(&self, tasks: impl FnOnce(usize) -> T) {
        let ledger = self.ledger();
        let threads: Vec<usize> = self.threads_in(&ledger).collect();
        let mut task = tasks(threads.len());
        for (number, thread) in threads.into_iter().enumerate() {
            let task = task(number);
            task.count();
            let worker = self.worker(thread);
            worker.mail.push(task);
            // A sleeper looks at its mail after each park, and the bit stays set until a park has taken it.
            worker.parker.unpark();
        }
    }

    /// Takes a free slot for a thread of nobody. `None`: none is free, or there are threads enough. Where the system has
    /// refused every thread the caller needs no slot: nobody else would run its task.
    pub(crate) fn admit_guest(&self) -> Option<usize> {
        let mut ledger = self.ledger();
        let alone = self.has_no_threads(&ledger);
        if !ledger.has_free() && !alone {
            return None;
        }
        let t = ledger.admit()?;
        if t >= self.room() {
            let served = ledger.stop(t, Status::Gone);
            debug_assert_eq!(served, None, "it held no slot");
            return None;
        }
        if !ledger.ready(t) {
            let overcommitted = ledger.overcommit(t);
            debug_assert!(overcommitted && alone, "a slot was free");
        }
        self.publish(&ledger);
        let worker = self.worker_or_new(t);
        worker.set_guest(true);
        self.pass_hunger_on(&ledger, worker);
        Some(t)
    }

    /// The same, if the system has refused every thread of the pool.
    pub(crate) fn admit_if_alone(&self) -> Option<usize> {
        // Relaxed: written by the thread that makes the pool, or else there are threads.
        if !self.refused.load(Ordering::Relaxed) {
            return None;
        }
        let alone = self.has_no_threads(&self.ledger());
        alone.then(|| self.admit_guest())?
    }

    /// Whether the system has refused every thread of the pool.
    fn has_no_threads(&self, ledger: &Ledger) -> bool {
        ledger.was_refused() && self.threads_in(ledger).next().is_none()
    }

    /// The threads that belong to the pool, guests left out.
    fn threads_in(&self, ledger: &Ledger) -> impl Iterator<Item = usize> {
        let here = |w: &&Worker| ledger.status(w.index) != Status::Gone && !w.is_guest();
        self.workers().filter(here).map(|w| w.index)
    }

    /// One who begins to run while others sleep is to publish at its first push.
    fn pass_hunger_on(&self, ledger: &Ledger, worker: &Worker) {
        if ledger.has_vacancy() {
            worker.deque.raise(signal::HUNGRY);
        }
    }

    /// Gives each of the first threads a slot, before any of them runs.
    pub(crate) fn admit_all(&self, threads: usize) -> Vec<usize> {
        let mut ledger = self.ledger();
        let admitted: Vec<usize> = (0..threads).filter_map(|_| ledger.admit()).collect();
        for t in &admitted {
            self.worker_or_new(*t);
            let has_slot = ledger.ready(*t);
            debug_assert!(has_slot, "as many slots as threads");
        }
        self.publish(&ledger);
        admitted
    }

    /// The system refused thread `t`: no more are tried. How many there are.
    pub(crate) fn refuse(&self, t: usize) -> usize {
        let mut ledger = self.ledger();
        // Relaxed: see `admit_if_alone`.
        self.refused.store(true, Ordering::Relaxed);
        let served = ledger.refuse(t);
        self.publish(&ledger);
        let threads = self.threads_in(&ledger).count();
        drop(ledger);
        served.into_iter().for_each(|t| self.unpark(t));
        threads
    }

    /// A guest leaves, or a thread of the pool ends.
    pub(crate) fn dismiss(&self, t: usize) {
        let mut ledger = self.ledger();
        let served = ledger.stop(t, Status::Gone);
        self.publish(&ledger);
        let hungry = ledger.has_vacancy();
        drop(ledger);
        served.into_iter().for_each(|t| self.unpark(t));
        if hungry {
            self.rouse(None);
        }
    }
}

/// The looks that remain to be taken before a sleeper parks until it is woken.
struct Looks(u32);

impl Looks {
    /// After the flags were raised. Without a barrier there are two: what an owner pushed before it could see our flag is
    /// visible after a short sleep.
    fn begin() -> Self {
        Self(if barrier::heavy() { 1 } else { 2 })
    }

    fn remain(&self) -> bool {
        self.0 > 0
    }

    /// Parks after a look.
    fn park(&mut self, parker: &Parker) {
        self.0 = self.0.saturating_sub(1);
        if self.remain() {
            parker.park_timeout(Duration::from_nanos(PARK_LOOK.default));
        } else {
            parker.park();
        }
    }
}

impl Current<'_> {
    /// Opens a latch of this pool: the joiner gets a free slot, or this worker's own.
    pub(crate) fn latch_opened(self, joiner: usize) {
        if self.shared().latch_opened(joiner, Some(self.index)) {
            self.tally.handovers.add(1);
            events::hand_over(self.shared(), self.index, joiner);
            self.set_must_stop(true);
        }
    }

    /// Sleeps for lack of work, its frames gone. `false`: the pool ends and so does this thread.
    pub(crate) fn rest(self) -> bool {
        let shared = self.shared();
        if self.must_stop() && !self.deque().is_empty() {
            self.sleep_owed(Slotless::Owed);
            return true;
        }
        self.set_must_stop(false);
        let served = {
            let mut ledger = shared.ledger();
            if shared.is_ending() {
                // Tasks that still wait are finished first, by whoever has a slot: this thread, or one that runs.
                let stays = shared.sees_work() && ledger.repay(self.index);
                // Under the lock: from here on no broadcast counts on this thread.
                self.set_guest(!stays);
                return stays;
            }
            let served = ledger.stop(self.index, Status::Idle);
            shared.publish(&ledger);
            if ledger.has_vacancy() && !cfg!(tidegate_fault = "hungry-after-look") {
                shared.raise_hunger(&ledger);
            }
            served
        };
        served.into_iter().for_each(|t| shared.unpark(t));
        self.asleep(Phase::NoWork, || self.park_idle())
    }

    fn park_idle(self) -> bool {
        let shared = self.shared();
        let mut looks = Looks::begin();
        loop {
            {
                let mut ledger = shared.ledger();
                let ending = shared.is_ending();
                let look = looks.remain() || ending;
                if self.may_run(&mut ledger, || look && shared.sees_work()) {
                    return true;
                }
                if ending {
                    // Under the lock, as in `rest`.
                    self.set_guest(true);
                    return false;
                }
            }
            if self.run_mail_asleep(Status::Idle) {
                // Signals may have been used up meanwhile.
                shared.rouse(None);
                looks = Looks::begin();
            } else {
                if cfg!(tidegate_fault = "hungry-after-look") {
                    shared.raise_hunger(&shared.ledger());
                }
                looks.park(&self.parker);
            }
        }
    }

    /// Whether this sleeper runs again: it was given a slot, or `sees_work` and a slot is free.
    fn may_run(self, ledger: &mut Ledger, sees_work: impl FnOnce() -> bool) -> bool {
        let shared = self.shared();
        let given = ledger.status(self.index) == Status::Running;
        if !given && !(sees_work() && ledger.ready_if_free(self.index)) {
            return false;
        }
        shared.publish(ledger);
        shared.pass_hunger_on(ledger, self.worker());
        true
    }

    /// Gives the slot up and sleeps until what is awaited is over, or there is something to rob. Returns with a slot, or
    /// overcommitted.
    pub(crate) fn sleep_until(self, awaited: Awaited<'_>) {
        self.deque().expose_all();
        self.set_awaited(awaited);
        self.stop_running(Status::Waiting);
        match awaited.latch() {
            Some(latch) => {
                if let Some(shut) = latch.fall_asleep(self.index) {
                    self.asleep(Phase::Latch, || self.park_waiting(awaited, shut.state()));
                    latch.get_up(shut);
                }
            }
            None => self.asleep(Phase::Latch, || self.park_waiting(awaited, State::New)),
        }
        self.resume_running(Slotless::Owed);
    }

    /// Parks until what is awaited is over or a slot was given. `latch` is what the latch said before it said that we
    /// sleep.
    fn park_waiting(self, awaited: Awaited<'_>, latch: State) {
        let shared = self.shared();
        let mut looks = self.tell_hunger(awaited, latch);
        loop {
            {
                let mut ledger = shared.ledger();
                let over = ledger.status(self.index) != Status::Waiting || awaited.is_over();
                let sees_help = || looks.remain() && self.sees_help(awaited, latch);
                if over || self.may_run(&mut ledger, sees_help) {
                    return;
                }
            }
            if self.run_mail_asleep(Status::Waiting) {
                // Signals may have been used up meanwhile.
                looks = self.tell_hunger(awaited, latch);
            } else {
                looks.park(&self.parker);
            }
        }
    }

    /// Whoever has what this waiter may run is to publish at its next push; and a slot is free now.
    fn tell_hunger(self, awaited: Awaited<'_>, latch: State) -> Looks {
        let shared = self.shared();
        if shared.options.wait == Wait::HelpAny || awaited.scope().is_some() {
            shared.raise_hunger(&shared.ledger());
        } else if let State::Taken(Thief { worker, .. }) | State::Kept(worker) = latch {
            shared.worker(worker).deque.raise(signal::HUNGRY);
        }
        shared.rouse(None);
        Looks::begin()
    }

    /// Whether there is something that this waiter may run.
    fn sees_help(self, awaited: Awaited<'_>, latch: State) -> bool {
        let shared = self.shared();
        if !awaited.may_help() {
            return false;
        }
        if shared.options.wait == Wait::HelpAny {
            return shared.sees_work();
        }
        if let State::Kept(keeper) = latch {
            return shared.worker(keeper).has_work();
        }
        awaited.scope().is_some_and(ScopeCore::has_queued) || shared.may_rob(self.index, None)
    }

    /// Stops running in the ledger.
    pub(crate) fn stop_running(self, to: Status) {
        let shared = self.shared();
        self.set_must_stop(false);
        let mut ledger = shared.ledger();
        let served = ledger.stop(self.index, to);
        shared.publish(&ledger);
        drop(ledger);
        served.into_iter().for_each(|t| shared.unpark(t));
    }

    /// Runs again: at once if a slot is free, else when one is handed over or the grace is over.
    pub(crate) fn resume_running(self, why: Slotless) {
        let shared = self.shared();
        let mut ledger = shared.ledger();
        let has_slot = ledger.ready(self.index);
        shared.publish(&ledger);
        shared.pass_hunger_on(&ledger, self.worker());
        drop(ledger);
        if !has_slot {
            self.asleep(Phase::Switching, || self.park_owed(why));
        }
    }

    /// Gives the slot up although it could go on.
    pub(crate) fn sleep_owed(self, why: Slotless) {
        self.deque().expose_all();
        self.stop_running(Status::Owed);
        self.shared().rouse(Some(self.worker()));
        self.resume_running(why);
    }

    fn park_owed(self, why: Slotless) {
        let shared = self.shared();
        let until = clock::now() + why.grace();
        loop {
            let left = until.saturating_sub(clock::now());
            self.parker.park_timeout(Duration::from_nanos(left.max(1)));
            self.run_mail_asleep(Status::Owed);
            let mut ledger = shared.ledger();
            let overcommits = left == 0 && ledger.overcommit(self.index);
            if overcommits {
                // To be paid back when its next task begins or waits.
                self.tally.overcommits.add(1);
            }
            if ledger.status(self.index) != Status::Owed {
                return shared.pass_hunger_on(&ledger, self.worker());
            }
        }
    }

    /// Whether this worker, at its base, must stop running: too many slots are held, or it holds none.
    pub(crate) fn is_in_excess(self) -> bool {
        let mut ledger = self.shared().ledger();
        !ledger.repay(self.index) || ledger.excess() > 0
    }

    /// Asked to give the slot up, or running without one: does so if the ledger still wants it.
    pub(crate) fn give_up(self) {
        let shared = self.shared();
        let (must, why) = {
            let mut ledger = shared.ledger();
            let preempted = ledger.excess() > 0;
            let must = !ledger.repay(self.index) || preempted;
            (
                must,
                if preempted {
                    Slotless::Preempted
                } else {
                    Slotless::Owed
                },
            )
        };
        if must {
            self.sleep_owed(why);
        }
    }

    /// A timed sleep between two looks, the slot kept.
    pub(crate) fn nap(self, nanos: u64) {
        self.asleep(Phase::Nap, || {
            self.parker.park_timeout(Duration::from_nanos(nanos));
        });
    }

    /// Sleeps, in phase `why`. From the moment at which it is woken until it runs it counts as switching.
    fn asleep<R>(self, why: Phase, sleep: impl FnOnce() -> R) -> R {
        let _ = self.take_woken_at();
        events::park(self.shared(), self.index, why);
        let before = self.tally.phases.enter(why);
        let result = sleep();
        self.tally.sleeps.add(1);
        if let Some(woken) = self.take_woken_at() {
            let _ = self.tally.phases.enter_at(Phase::Switching, woken);
        }
        let _ = self.tally.phases.enter(before);
        result
    }
}
