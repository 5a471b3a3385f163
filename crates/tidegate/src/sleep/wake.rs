//! Who is woken when work becomes visible, a slot becomes free or a latch opens. The protocol and its argument are
//! docs/sleep.md.
//!
//! All moves of slots go through the ledger ([`tidegate_policy::slots`]) under one lock, which is taken on the way to sleep
//! and on the way back only. `vacancy` and `searching` mirror what publishers must know without the lock.

use super::blocking;
use crate::controller_handle::ControllerHandle;
use crate::events;
use crate::job::Task;
use crate::place::FreeGroups;
use crate::pool::{PoolInner, signal};
use crate::worker::HOPS;
use crate::worker::{Worker, WorkerThread};
use tidegate_policy::search::{max_searchers, wakes_another};
use tidegate_policy::slots::{Fit, Ledger, Opened, Status, Wake};
use tidegate_policy::{Nanos, Wait};
use tidegate_sync::atomic::Ordering;
use tidegate_sync::barrier;
use tidegate_sync::lock::MutexGuard;

/// What there was to do when somebody was to be woken.
struct Seen {
    /// Whether something lies in a queue of the pool for a waiter.
    queued: bool,
    /// Whether somebody runs.
    runs: bool,
    /// The groups with free CPU slots.
    free: FreeGroups,
}

impl PoolInner {
    /// The ledger under its lock. Whoever changes it calls [`publish`](Self::publish) before unlocking, but for who only takes a slot
    /// that it runs without: then `vacancy` may stay set for nothing.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.check_process();
        self.ledger.lock()
    }

    /// Mirrors whether somebody could be put to work.
    pub(crate) fn publish(&self, ledger: &Ledger) {
        // Relaxed: ordered by the full fences in `work_visible` and before each last look.
        self.vacancy.store(ledger.has_vacancy(), Ordering::Relaxed);
        // Relaxed: a worker that sees it late takes one more task.
        self.owes.store(ledger.owes(), Ordering::Relaxed);
        if ledger.is_active() {
            self.controller.iter().for_each(ControllerHandle::pool_acts);
        }
    }

    /// Whether somebody has a better right to a slot than who is between two tasks.
    pub(crate) fn owes(&self) -> bool {
        // Relaxed: as in `publish`.
        self.owes.load(Ordering::Relaxed)
    }

    /// One worker more searches. `false`: enough of them do, go to sleep after one look.
    pub(crate) fn begin_search(&self, limited: bool) -> bool {
        let most = if limited {
            max_searchers(self.slots())
        } else {
            usize::MAX
        };
        let one_more = |searching| (searching < most).then_some(searching + 1);
        // AcqRel read-modify-writes here and in `end_search`: a publisher that reads the count before a decrement is
        // ordered before the searcher's last look by the full fences on both sides. Relaxed for a count that is only read.
        self.searching
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more)
            .is_ok()
    }

    /// A searcher stops. If it found work it wakes the next, for whatever other work it did not look at.
    pub(crate) fn end_search(&self, found: bool) {
        // AcqRel: see `begin_search`.
        let searching = self.searching.fetch_sub(1, Ordering::AcqRel) - 1;
        if !found {
            return;
        }
        // Pairs with the same in `work_visible`: a publisher that left the waking to us is seen here, or sees that we have gone.
        barrier::full();
        // Relaxed: ordered by the fence.
        let sleeping = usize::from(self.vacancy.load(Ordering::Relaxed));
        if wakes_another(searching, sleeping) {
            self.rouse();
        }
    }

    /// Work was made visible by `publisher`: wakes somebody, unless nobody sleeps or a searcher will come upon it.
    pub(crate) fn work_visible(&self, publisher: Option<&Worker>) {
        if publisher.is_some_and(|publisher| self.is_leaving(publisher)) {
            return;
        }
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
        if self.is_inherited() {
            // There is nothing to wake.
            return;
        }
        let mut ledger = self.ledger();
        let seen = Seen {
            queued: self.can_rescue(),
            runs: ledger.running().next().is_some(),
            free: self.places.free_groups(&ledger),
        };
        let wake = ledger.wake_for_work(|t| self.fit(t, publisher, &seen));
        self.publish(&ledger);
        self.bind_woken(&ledger, wake);
        if let Wake::Rescue(t) = wake {
            // Under the lock: the waiter sees it when it sees that it runs.
            self.worker(t).sleeper.set_rescue();
        }
        drop(ledger);
        self.carry_out(wake, publisher);
    }

    /// What waiter `t` can do with what `publisher` has made visible; without a publisher, with what anybody has.
    fn fit(&self, t: usize, publisher: Option<&Worker>, seen: &Seen) -> Fit {
        let waiter = self.worker(t);
        // A waiter that rouses others looks for itself.
        let rouses = WorkerThread::in_pool(self).is_some_and(|current| current.index == t);
        // Who stands nowhere is given no strict task, and would only take the slot from one who is.
        let strict = !waiter.unpinned();
        let placed = || self.places.offer(&seen.free, strict, |_| true);
        let awaited = |task: &Task| waiter.waiting.is_for(task);
        let own =
            || waiter.waiting.is_for_a_scope() && self.places.offer(&seen.free, strict, awaited);
        let helps_any = || publisher.is_some() || self.sees_unplaced() || placed();
        let robs = || match self.options.wait {
            Wait::HelpAny => waiter.waiting.may_help.get() && helps_any(),
            Wait::Descendants => {
                self.may_rob(t, publisher) || (waiter.waiting.may_help.get() && own())
            }
        };
        if !rouses && robs() {
            Fit::Robs
        } else if !waiter.waiting.may_help.get() || !(seen.queued || placed()) {
            Fit::Never
        } else if seen.runs && waiter.waiting.for_memory.get() && self.memory.has_parked() {
            // Or somebody else who does, and has a thread.
            Fit::Queued
        } else if !rouses && waiter.waiting.may_run_queued.get() {
            Fit::Queued
        } else {
            Fit::Rescue
        }
    }

    /// A slot may be free: if there is work to see, somebody is woken for it, else all who run are told that others are
    /// hungry, and work is looked for once more.
    pub(crate) fn rouse(&self) {
        if self.finds_work() {
            return self.wake_for_work(None);
        }
        {
            let ledger = self.ledger();
            if !ledger.has_vacancy() {
                return;
            }
            self.raise_hunger(&ledger);
        }
        // What was pushed between the first look and the signal. Without a barrier each push takes the signals, and so comes after ours or is
        // seen by this look.
        let _ = barrier::heavy();
        if self.finds_work() {
            self.wake_for_work(None);
        }
    }

    pub(crate) fn raise_hunger(&self, ledger: &Ledger) {
        self.raise_at(ledger.running(), signal::HUNGRY);
    }

    /// Asks those who run without a slot, and not for a while that is theirs, to stop while none is free.
    pub(crate) fn ask_overcommitted(&self, ledger: &Ledger, now: Nanos) {
        let is_over = |worker: &Worker| {
            worker
                .sleeper
                .unasked_until()
                .is_none_or(|until| until <= now)
        };
        let to_stop = |t: &usize| {
            ledger.status(*t) == Status::Overcommitted && self.worker_if(*t).is_some_and(is_over)
        };
        if !ledger.has_free() {
            self.raise_at(ledger.running().filter(to_stop), signal::GIVE_UP);
        }
    }

    /// Asks all who have a slot to give it up, while there are too many.
    pub(crate) fn ask_holders(&self, ledger: &Ledger) {
        if ledger.excess() > 0 {
            self.raise_at(ledger.holders(), signal::GIVE_UP);
        }
    }

    /// Raises a signal at these threads. One that was granted a slot and has no worker yet begins with a search anyway, and the share controller asks again in
    /// each cycle.
    pub(crate) fn raise_at(&self, threads: impl Iterator<Item = usize>, bits: u32) {
        let workers = threads.filter_map(|t| self.worker_if(t));
        workers.for_each(|worker| worker.deque.raise(bits));
    }

    /// The woken thread runs where it will stand: on its old CPU it would have to wait for who computes there in order to leave it.
    pub(crate) fn bind_woken(&self, ledger: &Ledger, wake: Wake) {
        if let (true, Wake::Thread(t) | Wake::Rescue(t)) = (self.options.bind, wake) {
            self.worker(t).set_cpu_slot(ledger.cpu_slots().at(t));
            self.bind_worker(self.worker(t));
        }
    }

    pub(crate) fn carry_out(&self, wake: Wake, publisher: Option<&Worker>) {
        match wake {
            Wake::Nobody => {}
            Wake::Thread(t) | Wake::Rescue(t) => {
                if publisher.is_some() {
                    // It goes on computing where it is.
                    self.worker(t).sleeper.wake_affinity.keep_off_here();
                }
                self.unpark(t);
            }
            Wake::Start(t) => {
                self.start_thread(t);
            }
            Wake::Exhausted => blocking::report_exhausted(self),
        }
    }

    pub(crate) fn unpark(&self, t: usize) {
        events::wake(self.name(), t);
        self.worker(t).sleeper.wake();
    }

    /// Somebody else has a half now whose joiner sleeps: it looks again.
    pub(crate) fn tell_joiner(&self, joiner: Option<usize>) {
        if let Some(joiner) = joiner {
            self.unpark(joiner);
        }
    }

    /// Whether waiter `t` may rob what `publisher` has made visible; without a publisher, what anybody has.
    pub(crate) fn may_rob(&self, t: usize, publisher: Option<&Worker>) -> bool {
        let waiter = self.worker(t);
        if !waiter.waiting.may_help.get() {
            return false;
        }
        if self.options.wait == Wait::HelpAny {
            return true;
        }
        match publisher {
            // What lies in another queue than the deque a scope's waiter may have, a joiner not.
            Some(publisher) if publisher.alt_queue.is_some() => waiter.awaits_scope_of(publisher),
            Some(publisher) => self.leads_to(waiter, publisher),
            None => {
                let awaited = |task: &Task| waiter.waiting.is_for(task);
                let kept =
                    |w: &Worker| waiter.waiting.is_for_a_scope() && w.stolen_batch.holds(awaited);
                let offers = |w: &Worker| w.offers() && waiter.awaits_scope_of(w);
                let robs = |w: &Worker| w.has_work() && self.leads_to(waiter, w);
                self.workers().any(|w| robs(w) || offers(w) || kept(w))
            }
        }
    }

    /// Whether `worker` runs what `waiter` waits for, or what that waits for in turn.
    fn leads_to(&self, waiter: &Worker, worker: &Worker) -> bool {
        if waiter.awaits_scope_of(worker) {
            return true;
        }
        let mut next = waiter.waiting.thief();
        for hop in 0..HOPS {
            let Some((thief, generation)) = next.and_then(|thief| thief.robbable(hop)) else {
                return false;
            };
            let thief = self.worker(thief);
            if thief.deque.generation() != generation {
                return false;
            }
            if thief.index == worker.index {
                return true;
            }
            next = thief.waiting.thief();
        }
        false
    }

    /// Whether any work can be seen that who gets a slot now may take: in a queue, public, or private and yet to be exposed.
    pub(crate) fn sees_work(&self, ledger: &Ledger) -> bool {
        self.sees_unplaced() || self.sees_placed(ledger)
    }

    /// The same for who has not locked the ledger; it is locked only if something lies at a place.
    pub(crate) fn finds_work(&self) -> bool {
        self.sees_unplaced() || (self.places.len() > 0 && self.sees_placed(&self.ledger()))
    }

    /// The same apart from what lies at places.
    pub(crate) fn sees_unplaced(&self) -> bool {
        let enough = |worker: &Worker| {
            self.has_enough(worker) || worker.stolen_batch.len() > 0 || worker.offers()
        };
        self.has_queued() || self.workers().any(|w| enough(w) && !self.is_leaving(w))
    }

    /// Whether so many tasks lie in the worker's deque that a thief takes some.
    fn has_enough(&self, worker: &Worker) -> bool {
        let waiting = worker.deque.waiting() as usize;
        self.options.amount.take(waiting) > 0
    }

    /// Whether work can be seen that its publisher has left to whoever looks: in a queue, or public.
    pub(crate) fn sees_published(&self, ledger: &Ledger) -> bool {
        let public = |worker: &Worker| worker.deque.public_len() > 0 && self.has_enough(worker);
        let published =
            |worker: &Worker| public(worker) || worker.stolen_batch.len() > 0 || worker.offers();
        let queued = self.has_queued() || self.sees_placed(ledger);
        queued || self.workers().any(|w| published(w) && !self.is_leaving(w))
    }

    /// Whether a task lies at a place where a worker that gets a slot now may take it.
    fn sees_placed(&self, ledger: &Ledger) -> bool {
        self.places.offers(ledger, true, |_| true)
    }

    /// Whether the worker is a guest of a pool that ends: what it still forks it runs itself.
    fn is_leaving(&self, worker: &Worker) -> bool {
        self.is_ending() && worker.membership.is_guest.get()
    }

    /// The latch that worker `t` waits for was opened; by worker `giver` of this pool, if by one.
    /// Whether the giver must stop running, because its slot went along.
    pub(crate) fn latch_opened(&self, t: usize, giver: Option<usize>) -> bool {
        let mut ledger = self.ledger();
        let opened = ledger.opened(t, giver);
        self.publish(&ledger);
        drop(ledger);
        if let (Opened::Given, Some(giver)) = (opened, giver) {
            self.worker(giver).set_cpu_slot(None);
        }
        if opened != Opened::Awake {
            self.unpark(t);
        }
        opened == Opened::Given
    }

    /// Sets the number of slots to what is wanted and others leave: wakes those who are owed one, or asks for some back.
    pub(crate) fn resize(&self) {
        let mut ledger = self.ledger();
        let (controller, wanted) = (self.controller.as_ref(), self.wanted());
        let slots = controller.map_or(wanted, |controller| controller.slots(wanted, self.most()));
        self.set_slots(slots);
        let served = ledger.set_slots(slots);
        self.publish(&ledger);
        self.ask_holders(&ledger);
        // The plan may be locked under the ledger, and not the other way round.
        self.memory.set_workers(slots);
        drop(ledger);
        served.into_iter().for_each(|t| self.unpark(t));
        self.rouse();
        // A thread that is woken wakes the next; a waiter that is woken does not.
        for _ in 1..slots {
            // Relaxed: a hint.
            if !self.vacancy.load(Ordering::Relaxed) || !self.finds_work() {
                break;
            }
            self.wake_for_work(None);
        }
    }

    /// Puts a task into the inbox of each thread of the pool, and wakes those that sleep. `task` is told how many threads
    /// there are and makes a task for each number.
    ///
    /// All under the ledger's lock: two rounds reach every inbox in the same order, and nobody leaves in between.
    pub(crate) fn deliver_to_all<T: FnMut(usize) -> Task>(&self, tasks: impl FnOnce(usize) -> T) {
        let ledger = self.ledger();
        let threads: Vec<usize> = self.threads_in(&ledger).collect();
        let mut task = tasks(threads.len());
        for (number, thread) in threads.into_iter().enumerate() {
            let task = task(number);
            task.count();
            let worker = self.worker(thread);
            worker.inbox.push(task);
            // A sleeper looks at its inbox after each park, and the bit stays set until a park has taken it. One that is preempted looks later.
            worker.sleeper.parker.unpark();
        }
        // Before the user's closure is dropped that `task` may own.
        drop(ledger);
    }

    /// Takes a free slot for a thread of nobody. `None`: none is free, or there are threads enough. Where the system has
    /// refused every thread the caller needs no slot: nobody else would run its task.
    pub(crate) fn admit_guest(&self) -> Option<usize> {
        if self.is_closed() {
            return None;
        }
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
        ledger.set_unpinned(t, true);
        if !ledger.ready(t) {
            let overcommitted = ledger.overcommit(t);
            debug_assert!(overcommitted && alone, "a slot was free");
        }
        self.publish(&ledger);
        let worker = self.worker_or_new(t);
        worker.membership.is_guest.set(true);
        worker.set_cpu_slot(None);
        worker.set_unpinned(true);
        self.on_start_running(&ledger, worker);
        Some(t)
    }

    /// The same, if the system has refused every thread of the pool.
    pub(crate) fn admit_if_alone(&self) -> Option<usize> {
        self.is_alone().then(|| self.admit_guest())?
    }

    /// Whether the system has refused every thread of the pool.
    pub(crate) fn is_alone(&self) -> bool {
        // Relaxed: written by the thread that makes the pool, or else there are threads.
        let refused = self.refused.load(Ordering::Relaxed);
        // A closed pool takes no guests, whatever becomes of it.
        refused && !self.is_closed() && self.has_no_threads(&self.ledger())
    }

    fn has_no_threads(&self, ledger: &Ledger) -> bool {
        ledger.was_refused() && self.threads_in(ledger).next().is_none()
    }

    /// The threads that belong to the pool, guests left out.
    fn threads_in(&self, ledger: &Ledger) -> impl Iterator<Item = usize> {
        let here =
            |w: &&Worker| ledger.status(w.index) != Status::Gone && !w.membership.is_guest.get();
        self.workers().filter(here).map(|w| w.index)
    }

    /// One who begins to run was not there when the others were asked: while somebody sleeps it is to publish at its first push, and while too
    /// many run it is to leave.
    pub(crate) fn on_start_running(&self, ledger: &Ledger, worker: &Worker) {
        if ledger.has_vacancy() {
            worker.deque.raise(signal::HUNGRY);
        }
        if ledger.excess() > 0 && ledger.status(worker.index) == Status::Running {
            worker.deque.raise(signal::GIVE_UP);
        }
        worker.set_cpu_slot(ledger.cpu_slots().at(worker.index));
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
        if self.is_closed() {
            ledger.complete();
        }
        self.publish(&ledger);
        admitted
    }

    /// Thread `t` was not started: no more are tried. What was sent to it is for anybody.
    pub(crate) fn refuse(&self, t: usize) {
        let mut ledger = self.ledger();
        // Relaxed: see `admit_if_alone`.
        self.refused.store(true, Ordering::Relaxed);
        // Before the pool can end without this thread.
        while let Some(part) = self.worker(t).inbox.pop() {
            self.injector.push(part);
        }
        let served = ledger.refuse(t);
        self.publish(&ledger);
        drop(ledger);
        served.into_iter().for_each(|t| self.unpark(t));
        // Its slot is free.
        self.rouse();
        self.advance_end(&self.ledger());
    }

    /// How many threads belong to the pool, guests left out.
    pub(crate) fn thread_count(&self) -> usize {
        self.threads_in(&self.ledger()).count()
    }

    /// A guest leaves, or a thread of the pool ends.
    pub(crate) fn dismiss(&self, t: usize) {
        let mut ledger = self.ledger();
        let served = ledger.stop(t, Status::Gone);
        self.publish(&ledger);
        self.advance_end(&ledger);
        let hungry = ledger.has_vacancy() && !self.is_over();
        drop(ledger);
        served.into_iter().for_each(|t| self.unpark(t));
        if hungry {
            self.rouse();
        }
    }
}
