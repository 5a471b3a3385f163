//! Waiting without running anything unrelated.
//!
//! The protocol is docs/waiting.md. A waiter robs only those who run descendants of what it waits for, spins a little, then
//! gives its slot up and sleeps on the latch ([`crate::sleep`]).

use crate::job::{Header, Task};
use crate::latch::{Event, Latch, State, Thief};
use crate::scope::ScopeCore;
use crate::search::Flags;
use crate::space::{self, Look, Round};
use crate::stats::Phase;
use crate::worker::{Worker, WorkerThread, steal_one};
use tidegate_deque::Steal;
use tidegate_deque::split::Gen;
use tidegate_policy::Wait;
use tidegate_policy::search::gives_slot_up;
use tidegate_sync::atomic::Ordering;
use tidegate_sync::{clock, spin_loop, thread};

/// How many waits a robber follows from worker to worker.
pub(crate) const HOPS: usize = 8;

/// What a worker waits for.
#[derive(Clone, Copy)]
pub(crate) enum Awaited<'a> {
    Half(&'a Header),
    /// Like `Half`, but by a thread that is unwinding: it runs nothing, and goes on when no thread has begun the half.
    HalfUnwinding(&'a Header),
    Scope(&'a ScopeCore),
    /// Something outside the pool: nothing may be robbed.
    Outside(&'a Event),
    /// Memory, or a turn in the order in which tasks may have it: nothing may be robbed, and the slot is for others at once.
    Memory(&'a Event),
}

impl<'a> Awaited<'a> {
    pub(crate) fn is_over(self) -> bool {
        match self {
            Self::Outside(event) | Self::Memory(event) => event.is_open(),
            Self::Half(_) | Self::Scope(_) => self.latch().is_some_and(Latch::is_open),
            // An unstarted half can be taken back.
            Self::HalfUnwinding(half) => matches!(
                half.latch.state(),
                State::Open | State::Kept(_) | State::Queued
            ),
        }
    }

    pub(crate) fn latch(self) -> Option<&'a Latch> {
        match self {
            Self::Half(half) | Self::HalfUnwinding(half) => Some(&half.latch),
            Self::Scope(scope) => Some(scope.latch()),
            Self::Outside(_) | Self::Memory(_) => None,
        }
    }

    pub(crate) fn scope(self) -> Option<&'a ScopeCore> {
        match self {
            Self::Scope(scope) => Some(scope),
            Self::Half(_) | Self::HalfUnwinding(_) | Self::Outside(_) | Self::Memory(_) => None,
        }
    }

    /// What the waiter's sleep is counted as.
    pub(crate) fn phase(self) -> Phase {
        match self {
            Self::Memory(_) => Phase::Memory,
            Self::Half(_) | Self::HalfUnwinding(_) | Self::Scope(_) | Self::Outside(_) => {
                Phase::Latch
            }
        }
    }

    /// Whether the waiter may run anything meanwhile.
    pub(crate) fn may_help(self) -> bool {
        !matches!(self, Self::HalfUnwinding(_))
    }
}

impl WorkerThread<'_> {
    /// Waits for a stolen half.
    pub(crate) fn wait_for_half(self, half: &Header) {
        self.tally.stolen_joins.add(1);
        let from = clock::now();
        let thief = self.wait(Awaited::Half(half));
        let (worked, waited) = (from.saturating_sub(self.exposed_at()), clock::now() - from);
        if let Some(thief) = thief.filter(|_| waited > worked) {
            self.shared().worker(thief.worker).set_unprofitable_steal();
        }
    }

    /// Waits for a stolen half and runs nothing meanwhile. `true`: no thread had begun it, and it is the caller's again.
    pub(crate) fn wait_unwinding(self, half: &Header) -> bool {
        loop {
            match half.latch.state() {
                State::Open => return false,
                // If the half is not there, its next taker is about to say so in the latch.
                State::Kept(_) | State::Queued if self.take_unstarted(half).is_none() => {
                    // In a child made by `fork` that taker may be a thread of the parent.
                    self.shared().check_process();
                    thread::yield_now();
                }
                State::Kept(_) | State::Queued => return true,
                State::New | State::Taken(_) | State::Spawned => {
                    self.wait(Awaited::HalfUnwinding(half));
                }
            }
        }
    }

    /// Takes a half that no thread has begun out of the queue that its latch names.
    fn take_unstarted(self, half: &Header) -> Option<Task> {
        match half.latch.state() {
            State::Kept(keeper) => self.shared().worker(keeper).stolen_batch.take(half),
            State::Queued => self.shared().injector.take(half),
            State::New | State::Taken(_) | State::Open | State::Spawned => None,
        }
    }

    /// Waits; whatever this worker did before, it does again afterwards. The thief of what was awaited, if it was ever seen.
    pub(crate) fn wait(self, awaited: Awaited<'_>) -> Option<Thief> {
        self.tally.max_depth.raise_to(self.deque().bottom());
        let outer = self.waits_for();
        self.set_waits_for(None);
        let busy = self.set_busy(false);
        let blocked = self.leave_blocking();
        let phase = self.enter_phase(Phase::Stealing);
        if self.runs_queued(awaited) {
            self.queue_detached();
        }
        space::waits(self, awaited);
        self.look_and_sleep(awaited);
        space::goes_on(self, awaited);
        // The rescue may have come when the wait was over.
        let _ = self.take_rescue();
        let _ = self.enter_phase(phase);
        if blocked {
            self.enter_blocking();
        }
        let thief = self.waits_for();
        self.set_waits_for(outer);
        self.set_busy(busy);
        thief
    }

    fn look_and_sleep(self, awaited: Awaited<'_>) {
        let mut flags = Flags::default();
        let mut since = None;
        while !awaited.is_over() {
            if self.shared().is_inherited() {
                self.go_on_in_child(awaited);
                continue;
            }
            if self.must_stop() || !awaited.may_help() {
                self.sleep_until(awaited);
                continue;
            }
            self.run_inbox();
            if let Some(task) = self.helpful_task(awaited, &mut flags) {
                self.help(task, awaited);
                since = None;
                continue;
            }
            spin_loop();
            let now = clock::now();
            let at_once = matches!(awaited, Awaited::Memory(_));
            if at_once || gives_slot_up(*since.get_or_insert(now), now) {
                self.sleep_until(awaited);
                since = None;
                if at_once && !awaited.is_over() && !self.is_rescue() {
                    let _ = space::take(self, Look::Parked);
                }
            }
        }
        if !self.shared().is_inherited() {
            self.regain_slot();
        }
    }

    /// In a child made by `fork`: runs a part of what is awaited that lies here unbegun. If there is none, only the parent's threads
    /// could bring the end about, and the child is aborted.
    #[cold]
    fn go_on_in_child(self, awaited: Awaited<'_>) {
        let mailed = || {
            let scope = awaited.scope()?;
            self.inbox.take_first(|task| task.is_of(scope))
        };
        match self.unbegun_task(awaited).or_else(mailed) {
            Some(task) => self.help(task, awaited),
            None => self.shared().abort_child(),
        }
    }

    fn help(self, task: Task, awaited: Awaited<'_>) {
        // The look after the theft: if the latch was shut then, the victim was still at what we wait for when we
        // robbed it, and the task is descended from that.
        if awaited.is_over() && self.shared().options.wait == Wait::Descendants {
            return self.pass_on(task);
        }
        self.tally.tasks.add(1);
        let generation = self.deque().is_empty().then(|| self.deque().generation());
        self.tell_that_we_run(&task, generation, true);
        self.set_busy(true);
        // Nobody follows this worker's outer wait while something else runs on top of it.
        self.set_waits_for(None);
        let _ = self.enter_phase(Phase::Busy);
        self.run_on_top(task);
        let _ = self.enter_phase(Phase::Stealing);
        self.set_busy(false);
    }

    fn helpful_task(self, awaited: Awaited<'_>, flags: &mut Flags) -> Option<Task> {
        if self.take_rescue() || self.runs_queued(awaited) {
            if space::wake_sleeper(self, Round::Skipped) {
                return None;
            }
            let leftmost = space::take(self, Look::Rescue);
            if leftmost.is_none() && self.must_stop() {
                return None;
            }
            if let Some(task) = leftmost.or_else(|| self.take_queued()) {
                self.tally.helped_any.add(1);
                self.run_stranger(task);
                return None;
            }
        }
        if self.shared().options.wait == Wait::HelpAny {
            return self.any_task(flags);
        }
        if self.shared().memory.is_ordered() {
            // What it has forked lies in the plan.
            let scope = awaited.scope()?;
            let planned = space::take(self, Look::Of(scope));
            let queued = planned.or_else(|| scope.pop_queued());
            return queued.or_else(|| self.take_placed_of(scope));
        }
        match awaited {
            Awaited::Half(half) => {
                if let State::Taken(thief) = half.latch.state() {
                    self.set_waits_for(Some(thief));
                    return self.rob(thief, None, flags);
                }
                self.unbegun_task(awaited)
            }
            Awaited::Scope(scope) => {
                let unbegun = self.unbegun_task(awaited);
                unbegun.or_else(|| self.rob_scope(scope, flags))
            }
            Awaited::HalfUnwinding(_) | Awaited::Outside(_) | Awaited::Memory(_) => None,
        }
    }

    /// What is awaited, or a task of it, if it lies in a queue.
    fn unbegun_task(self, awaited: Awaited<'_>) -> Option<Task> {
        match awaited {
            Awaited::Half(half) => match half.latch.state() {
                State::Kept(keeper) => self.shared().worker(keeper).stolen_batch.take(half),
                State::Queued => self.shared().injector.take(half),
                State::New | State::Taken(_) | State::Open | State::Spawned => None,
            },
            Awaited::Scope(scope) => {
                let kept = || {
                    let mut workers = self.shared().workers();
                    workers.find_map(|w| w.stolen_batch.take_first(|task| task.is_of(scope)))
                };
                let own = || self.take_alt_if(|task| task.is_of(scope));
                let queued = own().or_else(|| scope.pop_queued()).or_else(kept);
                queued.or_else(|| self.take_placed_of(scope))
            }
            Awaited::HalfUnwinding(_) | Awaited::Outside(_) | Awaited::Memory(_) => None,
        }
    }

    /// Says in the latch of a half who runs it, and tells its joiner if that sleeps.
    pub(crate) fn tell_that_we_run(self, task: &Task, generation: Option<Gen>, on_top: bool) {
        let latch = &task.header().latch;
        if latch.is_half() {
            let joiner = latch.set_thief(Thief {
                worker: self.index,
                generation,
                on_top,
            });
            self.shared().tell_joiner(joiner);
        }
    }

    /// Runs a task that descends from nothing below on top of this worker's frames: meanwhile nobody who may rob what is
    /// below may have what it forks.
    pub(crate) fn run_stranger(self, task: Task) {
        let deque = self.deque();
        let (waits_for, generation) = (self.waits_for(), deque.generation());
        self.set_waits_for(None);
        // Relaxed: only this thread writes it.
        let scope = self.base_scope.load(Ordering::Relaxed);
        let alone = deque.is_empty();
        let own = self.forget_base();
        // Older tasks of this worker lie in front of the stranger's descendants, unless it is alone.
        self.tell_that_we_run(&task, alone.then_some(own), true);
        self.tally.tasks.add(1);
        let busy = self.set_busy(true);
        let phase = self.enter_phase(Phase::Busy);
        self.run_on_top(task);
        let _ = self.enter_phase(phase);
        self.set_busy(busy);
        // Nothing of the stranger's is left in the deque.
        deque.set_generation(generation);
        // Release, after the generation: as in `enter_base`.
        self.base_scope.store(scope, Ordering::Release);
        self.set_waits_for(waits_for);
    }

    /// Unrelated work, by the user's wish.
    fn any_task(self, flags: &mut Flags) -> Option<Task> {
        let shared = self.shared();
        // One at a time, the own deque included: older tasks of a batch would lie above this frame.
        let mut of = |worker: &Worker| {
            let robbed = self.rob_one(worker, Thief::unnamed(worker.index), flags);
            let kept = robbed.or_else(|| worker.stolen_batch.pop());
            kept.or_else(|| self.steal_alt(worker, &mut flags.cursors).ok())
        };
        self.take_queued()
            .or_else(|| shared.workers().find_map(&mut of))
            .or_else(|| self.take_alt())
    }

    /// Robs whoever runs a task of the scope.
    fn rob_scope(self, scope: &ScopeCore, flags: &mut Flags) -> Option<Task> {
        for worker in self.shared().workers() {
            let generation = worker.deque.generation();
            // After the generation: see `WorkerThread::enter_base`.
            if worker.runs_task_of(scope) {
                let thief = Thief {
                    worker: worker.index,
                    generation: Some(generation),
                    on_top: false,
                };
                let robbed = self.rob(thief, Some(scope), flags);
                let task = robbed.or_else(|| self.rob_foreign(worker, scope, flags));
                if task.is_some() {
                    return task;
                }
            }
        }
        None
    }

    /// Robs the queue that `worker` has in place of its deque: a task of the scope that we wait for says so itself, of a half nothing does.
    fn rob_foreign(self, worker: &Worker, scope: &ScopeCore, flags: &mut Flags) -> Option<Task> {
        let task = self.steal_alt(worker, &mut flags.cursors).ok()?;
        self.count_steal(worker, 1);
        if task.is_of(scope) {
            return Some(task);
        }
        self.push_back_batch(task);
        None
    }

    /// Robs the worker that has what we wait for, or the one that it waits for in turn.
    fn rob(self, first: Thief, scope: Option<&ScopeCore>, flags: &mut Flags) -> Option<Task> {
        let mut thief = first;
        for hop in 0..HOPS {
            let (victim, generation) = thief.robbable(hop)?;
            let victim = self.shared().worker(victim);
            if victim.index != self.index {
                if let Some(task) = self.rob_one(victim, thief, flags) {
                    return self.keep_or_pass_on(task, scope);
                }
            }
            let next = victim.waits_for()?;
            // After that load: while the generation lasts, what the victim waits for is descended from its base.
            if victim.deque.generation() != generation || next == thief {
                return None;
            }
            thief = next;
        }
        None
    }

    fn rob_one(self, victim: &Worker, thief: Thief, flags: &mut Flags) -> Option<Task> {
        self.tally.attempts.add(1);
        let (got, robbed) = steal_one(victim, thief.generation);
        match got {
            Steal::Success(_) => {
                self.count_steal(victim, 1);
            }
            Steal::Lost => self.tally.partly_failed.add(1),
            Steal::Empty => {
                self.tally.partly_failed.add(1);
                let current = victim.deque.generation();
                if victim.deque.has_private() && thief.generation.is_none_or(|g| g == current) {
                    let _ = flags.press(self.shared(), victim);
                }
            }
        }
        robbed
    }

    /// A robber runs halves, and tasks of the very scope that it waits for; others go to their queues.
    fn keep_or_pass_on(self, task: Task, scope: Option<&ScopeCore>) -> Option<Task> {
        let wanted = match (task.scope(), scope) {
            (Some(_), Some(scope)) => task.is_of(scope),
            (None, _) => task.header().latch.is_half(),
            (Some(_), None) => false,
        };
        if wanted {
            return Some(task);
        }
        self.pass_on(task);
        None
    }
}
