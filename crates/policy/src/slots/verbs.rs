//! The verbs: the functions that change the ledger.

use super::{Fit, Ledger, Opened, Status, Verb, Wake};
use alloc::vec::Vec;

impl Ledger {
    /// Sets whether thread `t` is unpinned. When an unpinned thread gets a slot, it gets no CPU
    /// slot with it.
    pub fn set_unpinned(&mut self, t: usize, unpinned: bool) {
        self.cpu_slots.set_unpinned(t, unpinned);
    }

    /// If thread `t` holds a slot, moves it to a free CPU slot of `group`. Returns whether the
    /// thread moved.
    #[must_use]
    pub fn move_to(&mut self, t: usize, group: usize) -> bool {
        self.threads[t] == Status::Running && self.cpu_slots.move_to(t, group)
    }

    /// Admits a new thread. It is `Blocked` until [`ready`](Self::ready), because it does not run
    /// yet. Returns `None` at the limit.
    pub fn admit(&mut self) -> Option<usize> {
        if !self.has_room() {
            return None;
        }
        let gone = |status: &Status| *status == Status::Gone;
        if let Some(t) = self.threads.iter().position(gone) {
            self.mark(t, Verb::Admit, Status::Blocked);
            return Some(t);
        }
        self.threads.push(Status::Gone);
        let t = self.threads.len() - 1;
        self.mark(t, Verb::Admit, Status::Blocked);
        Some(t)
    }

    /// Starts no more threads from now on, not even to replace a thread that has left.
    pub fn complete(&mut self) {
        self.complete = true;
    }

    /// Records that the system refused to start thread `t`. From now on, no more threads are
    /// started, and the limit on threads no longer applies, because any thread that joins the pool
    /// already exists. Returns the owed thread that must be woken, like [`stop`](Self::stop).
    #[must_use]
    pub fn refuse(&mut self, t: usize) -> Option<usize> {
        self.refused = true;
        self.max_threads = usize::MAX;
        self.stop(t, Status::Gone)
    }

    fn grant(&mut self, t: usize, verb: Verb) {
        self.grant_in(t, verb, None);
    }

    /// Like `grant`, but on a CPU slot of the group `wanted` if one is free.
    fn grant_in(&mut self, t: usize, verb: Verb, wanted: Option<usize>) {
        self.held += 1;
        self.mark(t, verb, Status::Running);
        self.cpu_slots.take(t, wanted);
    }

    /// Records that a surplus thread is about to leave. The thread may call its exit handler first;
    /// it must then call [`leave_surplus`](Self::leave_surplus).
    pub fn retire(&mut self) {
        self.retiring += 1;
    }

    /// Retires the idle thread `t`, which must not be woken afterwards.
    pub fn leave_surplus(&mut self, t: usize) {
        self.retiring -= 1;
        let served = self.stop(t, Status::Blocked);
        debug_assert_eq!(served, None, "it held no slot");
    }

    /// Stops thread `t`, whose status becomes `to`. Returns the owed thread that now has the slot
    /// and must be woken, if any.
    #[must_use]
    pub fn stop(&mut self, t: usize, to: Status) -> Option<usize> {
        let had_slot = self.threads[t] == Status::Running;
        self.leave(t);
        self.held -= usize::from(had_slot);
        self.cpu_slots.leave(t);
        // Serve the owed threads first: a thread that gives up its slot although it could continue
        // is the last to get one back.
        let served = self.serve_owed();
        self.enter(t, Verb::Stop, to);
        served.or_else(|| self.serve_owed())
    }

    fn enter(&mut self, t: usize, verb: Verb, to: Status) {
        self.mark(t, verb, to);
        match to {
            Status::Idle => self.idle.push(t),
            Status::Waiting => self.waiting.push(t),
            Status::Owed => self.owed.push(t),
            Status::Blocked => {}
            // A different thread may get the number, and it must not start out unpinned.
            Status::Gone => self.cpu_slots.set_unpinned(t, false),
            Status::Running | Status::Overcommitted => unreachable!("stop() is for stopping"),
        }
    }

    fn leave(&mut self, t: usize) {
        let list = match self.threads[t] {
            Status::Idle => &mut self.idle,
            Status::Waiting => &mut self.waiting,
            Status::Owed => &mut self.owed,
            Status::Overcommitted => &mut self.debtors,
            _ => return,
        };
        list.retain(|other| *other != t);
    }

    fn serve_owed(&mut self) -> Option<usize> {
        if !self.has_free() {
            return None;
        }
        if !self.owed.is_empty() {
            let t = self.owed.remove(0);
            self.grant(t, Verb::ServeOwed);
            return Some(t);
        }
        while self.has_free() {
            let t = self.debtors.pop()?;
            self.grant(t, Verb::ServeOwed);
        }
        None
    }

    /// Records that thread `t` can continue unaided: its call returned, or it found work before it
    /// slept. Returns whether it has a slot. If not, it is owed one.
    #[must_use]
    pub fn ready(&mut self, t: usize) -> bool {
        match self.threads[t] {
            Status::Running | Status::Overcommitted => return true,
            Status::Owed => return false,
            _ => self.leave(t),
        }
        if self.has_free() {
            self.grant(t, Verb::Ready);
            return true;
        }
        self.enter(t, Verb::Ready, Status::Owed);
        false
    }

    /// If thread `t` sleeps, lets it run something that needs no slot. Returns whether it slept.
    /// The thread stops again with [`stop`](Self::stop).
    #[must_use]
    pub fn rise(&mut self, t: usize) -> bool {
        let slept = matches!(
            self.threads[t],
            Status::Idle | Status::Waiting | Status::Owed
        );
        if slept {
            self.leave(t);
            self.mark(t, Verb::Rise, Status::Overcommitted);
        }
        slept
    }

    /// Called when the idle thread `t` found work before it slept. Returns whether the thread now
    /// has a slot. If not, it stays idle.
    #[must_use]
    pub fn ready_if_free(&mut self, t: usize) -> bool {
        self.threads[t] == Status::Running || (self.has_free() && self.ready(t))
    }

    /// Lets thread `t` run without a slot, because its grace has ended. Returns `false` if the
    /// thread is no longer owed a slot, for instance because it has just got one.
    #[must_use]
    pub fn overcommit(&mut self, t: usize) -> bool {
        if self.threads[t] != Status::Owed {
            return false;
        }
        self.leave(t);
        self.mark(t, Verb::Overcommit, Status::Overcommitted);
        self.debtors.push(t);
        true
    }

    /// Called at a task boundary of thread `t`. If the thread runs without a slot and a slot is
    /// free, the thread takes it. Returns whether it now holds a slot.
    #[must_use]
    pub fn repay(&mut self, t: usize) -> bool {
        if self.threads[t] == Status::Overcommitted && self.has_free() {
            self.leave(t);
            self.grant(t, Verb::Repay);
        }
        self.threads[t] == Status::Running
    }

    /// Called when work became visible, so that a thread must look for it. `fit` returns what a
    /// waiter can do with the work. `has_work` checks whether there is still work before a thread
    /// is started.
    pub fn wake_for_work(
        &mut self,
        fit: impl Fn(usize) -> Fit,
        has_work: impl FnOnce(&Self) -> bool,
    ) -> Wake {
        if !self.has_free() {
            return Wake::Nobody;
        }
        if let Some(t) = self.grant_latest_waiter(|t| fit(t) == Fit::Robs) {
            return Wake::Waiter(t);
        }
        if let Some(t) = self.idle.pop() {
            self.grant(t, Verb::WakeForWork);
            return Wake::Thread(t);
        }
        if self.may_start() && !has_work(self) {
            return Wake::Gone;
        }
        if let Some(t) = self.start() {
            self.grant(t, Verb::WakeForWork);
            return Wake::Start(t);
        }
        if let Some(t) = self.grant_latest_waiter(|t| fit(t) == Fit::Queued) {
            return Wake::Waiter(t);
        }
        if self.running().next().is_none() {
            if let Some(t) = self.grant_latest_waiter(|t| fit(t) == Fit::Rescue) {
                return Wake::Rescue(t);
            }
        }
        if self.is_exhausted() {
            Wake::Exhausted
        } else {
            Wake::Nobody
        }
    }

    /// Called when work became visible that only workers in `group` may run. A thread without
    /// frames must look for it from a free CPU slot of the group, preferably a thread whose last
    /// CPU slot was in the group.
    pub fn wake_in(&mut self, group: usize) -> Wake {
        if !self.has_free() || !self.cpu_slots.has_free_in(group) {
            return Wake::Nobody;
        }
        let stood_there = |t: &usize| self.cpu_slots.was_in(*t, group);
        let latest = self.idle.iter().rposition(stood_there);
        if let Some(t) = latest
            .map(|at| self.idle.remove(at))
            .or_else(|| self.idle.pop())
        {
            self.grant_in(t, Verb::WakeIn, Some(group));
            return Wake::Thread(t);
        }
        let started = self.start();
        started.map_or(Wake::Nobody, |t| {
            self.grant_in(t, Verb::WakeIn, Some(group));
            Wake::Start(t)
        })
    }

    /// Gives a free slot to the latest waiter for which `wanted` is true.
    fn grant_latest_waiter(&mut self, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let mut latest_first = self.waiting.iter().rev().copied();
        let t = latest_first.find(|t| wanted(*t))?;
        self.leave(t);
        self.grant(t, Verb::WakeForWork);
        Some(t)
    }

    fn start(&mut self) -> Option<usize> {
        if self.may_start() { self.admit() } else { None }
    }

    /// Called when the latch that thread `t` waits for was opened. `giver` is the thread that
    /// opened the latch, if it is a running thread of this pool.
    pub fn opened(&mut self, t: usize, giver: Option<usize>) -> Opened {
        if self.threads[t] != Status::Waiting {
            return Opened::Awake;
        }
        self.leave(t);
        if self.has_free() {
            self.grant(t, Verb::Opened);
            return Opened::Free;
        }
        if giver.is_some_and(|giver| self.threads[giver] == Status::Running) {
            // `held` doesn't change: the slot only changes its holder.
            let giver = giver.unwrap_or(t);
            self.mark(t, Verb::Opened, Status::Running);
            self.mark(giver, Verb::Opened, Status::Overcommitted);
            self.cpu_slots.pass(giver, t);
            return Opened::Given;
        }
        self.enter(t, Verb::Opened, Status::Owed);
        Opened::Owed
    }

    /// Sets the number of slots. Returns the owed threads that must be woken: they now have slots.
    #[must_use]
    pub fn set_slots(&mut self, slots: usize) -> Vec<usize> {
        self.slots = slots;
        self.max_threads = self.max_threads.max(slots);
        core::iter::from_fn(|| self.serve_owed()).collect()
    }
}
