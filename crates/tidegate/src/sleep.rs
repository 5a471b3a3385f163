//! Giving the slot up, and sleeping. The protocol and its argument are docs/sleep.md; waking others is in [`crate::wake`].

use crate::events;
use crate::job::{Header, Task};
use crate::latch::{Latch, State};
use crate::pool::signal;
use crate::scope::ScopeCore;
use crate::space::{self, Round};
use crate::stats::Phase;
use crate::wait::Awaited;
use crate::worker::{Worker, WorkerThread};
use std::time::Duration;
use tidegate_policy::search::Slotless;
use tidegate_policy::slots::{Ledger, Status};
use tidegate_policy::tunables::{PARK_LOOK, SPACE_STALL, SURPLUS_KEEP_ALIVE};
use tidegate_policy::{Nanos, Wait};
use tidegate_sync::park::Parker;
use tidegate_sync::{barrier, clock};

/// The looks that remain to be taken before a sleeper parks until it is woken.
struct Looks(u32);

impl Looks {
    fn none() -> Self {
        Self(0)
    }

    /// After the flags were raised. Without a barrier there are two: what an owner pushed before it could see our flag is
    /// visible after a short sleep.
    fn begin() -> Self {
        Self(if barrier::heavy() { 1 } else { 2 })
    }

    fn remain(&self) -> bool {
        self.0 > 0
    }

    /// Parks after a look; `most` limits the last park.
    fn park(&mut self, parker: &Parker, most: Option<Nanos>) {
        self.0 = self.0.saturating_sub(1);
        let most = if self.remain() {
            Some(PARK_LOOK.default)
        } else {
            most
        };
        match most {
            Some(nanos) => {
                parker.park_timeout(Duration::from_nanos(nanos));
            }
            None => parker.park(),
        }
    }
}

impl WorkerThread<'_> {
    /// Opens a latch of this pool: the joiner gets a free slot, or this worker's own.
    pub(crate) fn latch_opened(self, joiner: usize) {
        if self.shared().latch_opened(joiner, Some(self.index)) {
            self.tally.handovers.add(1);
            events::hand_over(self.shared(), self.index, joiner);
            self.set_must_stop(true);
        }
    }

    /// Sleeps for lack of work, its frames gone. Before it asks anybody for work it is `backoff` for a while with what is made public
    /// unasked. `false`: the pool ends, and this thread has to call its exit handler or to leave.
    pub(crate) fn rest(self, backoff: Nanos) -> bool {
        let shared = self.shared();
        space::leave(self);
        let _ = space::wake_sleeper(self, Round::Skipped);
        if self.must_stop() {
            // What is left here is for whoever has a slot; this thread has no frames and is owed none.
            self.clear_above(0);
            self.flush_to_injector();
        }
        self.set_must_stop(false);
        let served = {
            let mut ledger = shared.ledger();
            self.set_unasked_until(None);
            let served = ledger.stop(self.index, Status::Idle);
            self.set_cpu_slot(None);
            shared.publish(&ledger);
            if ledger.has_vacancy() && backoff == 0 {
                shared.raise_hunger(&ledger);
            }
            served
        };
        served.into_iter().for_each(|t| shared.unpark(t));
        let stays = self.asleep(Phase::NoWork, || self.park_idle(backoff));
        self.bind();
        stays
    }

    fn park_idle(self, backoff: Nanos) -> bool {
        let shared = self.shared();
        if backoff > 0 && !shared.is_ending() {
            // Pairs with the same in `work_visible`: what was published while this thread still counted as a searcher.
            barrier::full();
            if self.may_run(&mut shared.ledger(), |ledger| shared.sees_published(ledger)) {
                return true;
            }
            self.parker.park_timeout(Duration::from_nanos(backoff));
            let ledger = shared.ledger();
            if ledger.status(self.index) == Status::Idle && ledger.has_vacancy() {
                shared.raise_hunger(&ledger);
            }
        }
        let since = clock::now();
        let mut looks = Looks::begin();
        loop {
            let is_surplus = {
                let mut ledger = shared.ledger();
                let ending = shared.is_ending();
                let look = looks.remain() || ending;
                if self.may_run(&mut ledger, |ledger| look && shared.sees_work(ledger)) {
                    return true;
                }
                if ending {
                    shared.advance_end(&ledger);
                }
                if self.is_dismissed() || self.retires(&mut ledger, since) {
                    return false;
                }
                ledger.has_surplus()
            };
            if self.run_mail_asleep(Status::Idle) {
                // Signals may have been used up meanwhile.
                shared.rouse();
                looks = Looks::begin();
            } else {
                looks.park(
                    &self.parker,
                    is_surplus.then_some(SURPLUS_KEEP_ALIVE.default),
                );
            }
        }
    }

    /// Whether this thread, idle `since` then, retires from a pool that has more threads than its limit because calls that
    /// blocked have returned. First it calls its exit handler; once that has returned, it leaves as soon as it is idle.
    fn retires(self, ledger: &mut Ledger, since: Nanos) -> bool {
        let is_idle = ledger.status(self.index) == Status::Idle;
        if !is_idle || self.stolen_batch.len() + self.inbox.len() > 0 {
            return false;
        }
        if !self.is_retiring() {
            let idle_for = clock::now().saturating_sub(since);
            if !ledger.has_surplus() || idle_for < SURPLUS_KEEP_ALIVE.default {
                return false;
            }
            ledger.retire();
            self.set_retiring(true);
        }
        if self.has_exited() {
            ledger.leave_surplus(self.index);
            self.set_retiring(false);
            // Under the lock, so that later broadcasts exclude this thread.
            self.set_guest(true);
        }
        true
    }

    /// Whether this sleeper runs again: it was given a slot, or `sees_work` and a slot is free.
    fn may_run(self, ledger: &mut Ledger, sees_work: impl FnOnce(&Ledger) -> bool) -> bool {
        let shared = self.shared();
        let given = ledger.status(self.index) == Status::Running;
        let runs = given || (sees_work(ledger) && ledger.ready_if_free(self.index));
        if runs {
            shared.publish(ledger);
            shared.on_start_running(ledger, self.worker());
        }
        runs
    }

    /// Gives the slot up and sleeps until what is awaited is over, or there is something to rob. Returns with a slot, or
    /// overcommitted.
    pub(crate) fn sleep_until(self, awaited: Awaited<'_>) {
        self.expose();
        self.set_awaited(awaited);
        self.stop_running(Status::Waiting);
        let asleep = || self.asleep(awaited.phase(), || self.park_waiting(awaited));
        match awaited.latch() {
            Some(latch) => {
                if latch.fall_asleep(self.index) {
                    asleep();
                    latch.get_up();
                }
            }
            None => asleep(),
        }
        self.resume_running(Slotless::Owed);
    }

    /// Parks until what is awaited is over or a slot was given.
    fn park_waiting(self, awaited: Awaited<'_>) {
        let shared = self.shared();
        let mut looks = Looks::none();
        let mut silent = matches!(awaited, Awaited::Memory(_)).then(clock::now);
        while shared.ledger().status(self.index) == Status::Waiting && !self.can_go_on(awaited) {
            if !looks.remain() {
                // At first; and after each wake-up, because it may mean that somebody else has what we wait for.
                looks = self.tell_hunger(awaited);
            }
            if self.may_run(&mut shared.ledger(), |ledger| {
                self.sees_help(awaited, ledger)
            }) {
                return;
            }
            if self.run_mail_asleep(Status::Waiting) {
                // What it ran may itself have waited, and used signals up.
                self.set_awaited(awaited);
                looks = Looks::none();
            } else if let Some(since) = silent.filter(|_| looks.0 <= 1) {
                self.parker
                    .park_timeout(Duration::from_nanos(SPACE_STALL.default));
                if clock::now() - since >= SPACE_STALL.default {
                    silent = None;
                    space::report_stall(self);
                }
            } else {
                looks.park(&self.parker, None);
            }
        }
    }

    /// Whether what is awaited is over, or is a half that nobody has begun: its joiner is owed a slot to run it.
    fn can_go_on(self, awaited: Awaited<'_>) -> bool {
        let unstarted = |half: &Header| match half.latch.state() {
            State::Kept(keeper) => self.shared().worker(keeper).stolen_batch.len() > 0,
            State::Queued => self.shared().injector.len() > 0,
            State::New | State::Taken(_) | State::Open | State::Spawned => false,
        };
        awaited.is_over() || matches!(awaited, Awaited::Half(half) if unstarted(half))
    }

    /// Whoever has what this waiter may run is to publish at its next push; and a slot is free now.
    fn tell_hunger(self, awaited: Awaited<'_>) -> Looks {
        let shared = self.shared();
        if shared.options.wait == Wait::HelpAny || awaited.scope().is_some() {
            shared.raise_hunger(&shared.ledger());
        } else if let Some(State::Taken(thief)) = awaited.latch().map(Latch::state) {
            self.set_waits_for(Some(thief));
            shared.worker(thief.worker).deque.raise(signal::HUNGRY);
        }
        shared.rouse();
        Looks::begin()
    }

    /// Whether there is something that this waiter may run.
    fn sees_help(self, awaited: Awaited<'_>, ledger: &Ledger) -> bool {
        let shared = self.shared();
        if !awaited.may_help() {
            return false;
        }
        let placed = || shared.places.offers(ledger, !self.unpinned(), |_| true);
        if shared.options.wait == Wait::HelpAny {
            return shared.sees_unplaced() || placed();
        }
        let unstarted = |scope: &ScopeCore| {
            let kept = |w: &Worker| w.stolen_batch.holds(|task| task.is_of(scope));
            let offers = |w: &Worker| w.runs_task_of(scope) && w.offers();
            let own = |task: &Task| task.is_of(scope);
            let placed = || shared.places.offers(ledger, !self.unpinned(), own);
            scope.has_queued() || placed() || shared.workers().any(|w| kept(w) || offers(w))
        };
        let queued = || self.runs_queued(awaited) && (shared.has_queued() || placed());
        awaited.scope().is_some_and(unstarted) || queued() || shared.may_rob(self.index, None)
    }

    /// Stops running in the ledger.
    pub(crate) fn stop_running(self, to: Status) {
        let shared = self.shared();
        self.set_must_stop(false);
        self.set_unasked_until(None);
        let mut ledger = shared.ledger();
        let served = ledger.stop(self.index, to);
        self.set_cpu_slot(None);
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
        shared.on_start_running(&ledger, self.worker());
        drop(ledger);
        if !has_slot {
            self.asleep(Phase::Switching, || self.park_owed(why));
        }
        self.bind();
    }

    /// Leaves all that waits here to others.
    pub(crate) fn expose(self) {
        self.deque().expose_all();
        self.flush_to_stealable();
    }

    /// Gives the slot up although it could go on.
    pub(crate) fn sleep_owed(self, why: Slotless) {
        self.expose();
        self.stop_running(Status::Owed);
        self.shared().rouse();
        self.resume_running(why);
    }

    /// What was run on top of the caller's frame may have opened a latch, and the slot went along: waits for another.
    pub(crate) fn regain_slot(self) {
        if self.must_stop() {
            self.sleep_owed(Slotless::Owed);
        }
    }

    fn park_owed(self, why: Slotless) {
        let shared = self.shared();
        let until = clock::now() + why.grace();
        loop {
            let left = until.saturating_sub(clock::now());
            self.parker.park_timeout(Duration::from_nanos(left.max(1)));
            if why == Slotless::Owed {
                // On top of a call that waits. Who is preempted is in the middle of a task, which may hold what its part of a broadcast wants.
                self.run_mail_asleep(Status::Owed);
            }
            let mut ledger = shared.ledger();
            if left == 0 && ledger.overcommit(self.index) {
                // To be paid back when its next task begins or waits.
                self.tally.overcommits.add(1);
                self.set_unasked_until(Some(clock::now() + why.spell()));
            }
            if ledger.status(self.index) != Status::Owed {
                return shared.on_start_running(&ledger, self.worker());
            }
        }
    }

    /// Between two tasks: who is owed a slot comes first, and who runs without one has to find one.
    pub(crate) fn make_way(self) {
        let shared = self.shared();
        if (shared.owes() || self.unasked_until().is_some()) && !shared.is_ending() {
            self.set_must_stop(self.is_in_excess());
        }
    }

    /// Whether this worker, at its base, must stop running: too many slots are held, somebody else is owed one, or it holds none.
    pub(crate) fn is_in_excess(self) -> bool {
        let must = {
            let mut ledger = self.shared().ledger();
            !self.repay(&mut ledger) || ledger.excess() > 0 || ledger.owes()
        };
        self.bind();
        must
    }

    /// Takes a free slot if this worker runs without one. Whether it has one now.
    fn repay(self, ledger: &mut Ledger) -> bool {
        let has_slot = ledger.repay(self.index);
        if has_slot {
            self.set_unasked_until(None);
            self.set_must_stop(false);
            self.set_cpu_slot(ledger.cpu_slots().at(self.index));
        }
        has_slot
    }

    /// Asked to give the slot up: does so if the ledger still wants it, or if it is others' `turn` and there are any. Who runs without one stops if the
    /// time is over for which it may, or its slot went to another.
    pub(crate) fn give_up(self, turn: bool) {
        if self.needs_no_slot() {
            return;
        }
        let must = {
            let mut ledger = self.shared().ledger();
            if self.repay(&mut ledger) {
                ledger.excess() > 0 || (turn && ledger.owes())
            } else {
                let over = |until| until <= clock::now();
                self.must_stop() || self.unasked_until().is_some_and(over)
            }
        };
        self.bind();
        if must {
            let before = self.add_preemption();
            let outer = self.set_preempted(true);
            self.sleep_owed(Slotless::Preempted { before });
            self.set_preempted(outer);
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
        let before = self.enter_phase(why);
        self.wake_affinity.fall_asleep();
        let result = sleep();
        self.wake_affinity.let_back();
        self.tally.sleeps.add(1);
        if let Some(woken) = self.take_woken_at() {
            let _ = self.tally.phases.enter_at(Phase::Switching, woken);
        }
        let _ = self.enter_phase(before);
        result
    }
}
