//! How a worker waits without running unrelated tasks.
//!
//! docs/waiting.md describes the protocol. A waiter robs only workers that run descendants of what
//! it waits for, spins a little, then gives up its slot and sleeps on the latch (`crate::sleep`).

pub use super::event::be_patient;
use super::event::{Event, Waiter};
use super::find::{Taker, find};
use super::memory::{self, Look};
use super::rob::Robber;
use super::run;
use super::watch;
use super::{TaskSpan, WorkerThread};
use super::{give, inbox};
use crate::job::{HalfHeader, Task};
use crate::latch::{Latch, State, Thief};
use crate::plan::Round;
use crate::pool::{PoolInner, signal};
use crate::scope::ScopeCore;
use crate::sleep;
use crate::sleep::blocking;
use crate::sleep::stall;
use crate::sleep::wake;
use crate::stats::Phase;
use crate::unwind;
use crate::worker::carry;
use std::time::Duration;
use tidegate_policy::search::{Theft, WaiterRest, waiter_rests};
use tidegate_policy::{Nanos, WaitPolicy};
use tidegate_sync::atomic::Ordering;
use tidegate_sync::{clock, spin_loop, thread};

#[derive(Clone, Copy)]
pub(crate) enum Awaited<'a> {
    Half(&'a HalfHeader),
    /// Like `Half`, but for a thread that is unwinding: the thread runs only parts of broadcasts
    /// while it waits, and also stops waiting if no thread has begun the half.
    HalfUnwinding(&'a HalfHeader),
    Scope(&'a ScopeCore),
    /// An event outside the pool. The waiter may not rob any task.
    Outside(&'a Event),
    /// Memory, or a turn in the order in which tasks get memory. The waiter may not rob any task,
    /// and gives up its slot immediately.
    Memory(&'a Event),
}

impl<'a> Awaited<'a> {
    pub(crate) fn is_over(self) -> bool {
        match self {
            Self::Outside(event) | Self::Memory(event) => event.is_open(),
            Self::Half(_) | Self::Scope(_) => self.latch().is_some_and(Latch::is_open),
            // The wait also ends if the half has not begun, because the waiter can take it back.
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

    /// Returns the phase in which the waiter's sleep is counted.
    pub(crate) fn phase(self) -> Phase {
        match self {
            Self::Memory(_) => Phase::Memory,
            Self::Half(_) | Self::HalfUnwinding(_) | Self::Scope(_) | Self::Outside(_) => {
                Phase::Latch
            }
        }
    }

    /// Whether the waiter may run tasks while it waits.
    pub(crate) fn may_help(self) -> bool {
        !matches!(self, Self::HalfUnwinding(_))
    }
}

/// Waits for a stolen half.
pub(crate) fn for_half(worker: WorkerThread<'_>, half: &HalfHeader) {
    worker.tally.stolen_joins.add(1);
    let from = clock::now();
    let thief = until(worker, Awaited::Half(half));
    let worked = from.saturating_sub(worker.exposed_at());
    match (Theft::judge(worked, clock::now() - from), thief) {
        (Theft::Regretted, Some(thief)) => {
            let thief = worker.pool().worker(thief.worker);
            thief.victim.unprofitable_steal.set(true);
        }
        // The flag makes this worker publish tasks at its next push, before the thief asks for
        // more.
        (Theft::Worthwhile, _) => worker.worker().deque.raise(signal::FLAG),
        (Theft::Regretted | Theft::Trifling, _) => {}
    }
}

/// Waits for a stolen half and runs only parts of broadcasts meanwhile. Returns `true` if no thread
/// had begun the half and the caller has taken it back.
pub(crate) fn for_half_unwinding(worker: WorkerThread<'_>, half: &HalfHeader) -> bool {
    loop {
        match half.latch.state() {
            State::Open => return false,
            // If the half is not in the queue, the thread that took it out is about to record that
            // in the latch.
            State::Kept(_) | State::Queued if worker.take_unbegun_half(half).is_none() => {
                thread::yield_now();
            }
            State::Kept(_) | State::Queued => return true,
            State::New | State::Taken(_) => {
                until(worker, Awaited::HalfUnwinding(half));
            }
        }
    }
}

/// Waits for the event, which `pool` brings about. Must be called on the thread for which the event
/// was made.
pub fn for_event(event: &Event, pool: &PoolInner) {
    match &*event.waiter {
        Waiter::Thread(parker) => {
            // If no worker is about to take the task that is waited for, it will not end soon.
            event.be_patient(|| pool.sources.has_unplaced() && pool.sleep.searching() == 0);
            while !event.is_open() {
                stall::park(pool, parker);
            }
        }
        Waiter::Blocked(..) => for_event_within(event, Nanos::MAX),
        Waiter::Worker(..) => {
            let worker = WorkerThread::get().expect("the worker that made the event");
            until(worker, Awaited::Outside(event));
        }
    }
}

/// Waits for an event from [`Event::for_blocked_thread`], but at most for `limit`. Meanwhile,
/// another thread uses the caller's slot and takes its tasks, as in
/// [`blocking`](crate::blocking()). The caller runs its parts of broadcasts, because the event may
/// depend on them.
pub fn for_event_within(event: &Event, limit: Nanos) {
    let until = clock::now().saturating_add(limit);
    let worker = WorkerThread::get();
    let mailed = || worker.is_some_and(|worker| worker.inbox.len() > 0);
    let left = || until.saturating_sub(clock::now());
    while !event.is_open() && left() > 0 {
        blocking::run(|| {
            while !event.is_open() && !mailed() && left() > 0 {
                event.park_timeout(Duration::from_nanos(left()));
            }
        });
        if let Some(worker) = worker {
            inbox::run(worker);
        }
    }
}

/// Waits for `awaited`, and afterwards restores this worker's previous state. Returns the thief of
/// the awaited half, if this worker has learned which worker that is.
///
/// Does not unwind: a thief may still run the awaited half, which is in a frame of this thread.
pub(crate) fn until(worker: WorkerThread<'_>, awaited: Awaited<'_>) -> Option<Thief> {
    unwind::no_unwind(|| wait_until(worker, awaited))
}

fn wait_until(worker: WorkerThread<'_>, awaited: Awaited<'_>) -> Option<Thief> {
    worker.pool().check_process();
    let _suspended = carry::carry();
    worker.tally.max_depth.raise_to(worker.deque().bottom());
    let outer = worker.waiting.thief();
    worker.waiting.set_thief(None);
    let busy = worker.victim.is_busy.replace(false);
    let blocked = blocking::leave(worker);
    worker.victim.rests.set(true);
    let phase = watch::enter_phase(worker, Phase::Stealing);
    let is_outside = matches!(awaited, Awaited::Outside(_));
    if is_outside && !worker.pool().replaces_threads() {
        give::queue_detached(worker);
    }
    memory::waits(worker, awaited);
    look_and_sleep(&mut Robber::new(worker, awaited));
    memory::goes_on(worker, awaited);
    // The ledger may have called this waiter after its wait had ended.
    wake::pass_call_on(worker);
    let _ = watch::enter_phase(worker, phase);
    worker.victim.rests.set(false);
    if blocked {
        blocking::enter(worker);
    }
    let thief = worker.waiting.thief();
    worker.waiting.set_thief(outer);
    worker.victim.is_busy.replace(busy);
    thief
}

/// Takes the task that a worker with tasks in progress runs next on top of them. `own` looks for a
/// task of the pool's own class.
pub(crate) fn next_task(
    worker: WorkerThread<'_>,
    own: impl FnOnce() -> Option<Task>,
) -> Option<Task> {
    let task = worker.pool().sources.classes.next(own);
    worker.set_dispatched(task.is_some());
    task
}

/// Runs an unrelated task on top of this worker's frames. Meanwhile, workers that may rob tasks of
/// the frames below must not take the tasks that this task forks.
///
/// Does not unwind: the task is in no queue any more, so it must run.
pub(crate) fn run_unrelated(worker: WorkerThread<'_>, task: Task) {
    unwind::no_unwind(|| run_on_waiter(worker, task));
}

fn run_on_waiter(worker: WorkerThread<'_>, task: Task) {
    let _suspended = carry::carry();
    let deque = worker.deque();
    let (waits_for, generation) = (worker.waiting.thief(), deque.generation());
    worker.waiting.set_thief(None);
    let spawned_at = worker.set_spawned_at(None);
    // Relaxed: only this thread writes it.
    let scope = worker.base_scope.load(Ordering::Relaxed);
    let alone = deque.is_empty();
    let own = worker.forget_base();
    // The generation is recorded only if the deque is empty. Otherwise, a robber would find older
    // tasks of this worker before the descendants of this task.
    run::record_thief(worker, &task, alone.then_some(own), true);
    worker.tally.tasks.add(1);
    let busy = worker.victim.is_busy.replace(true);
    let rested = worker.victim.rests.replace(worker.is_blocking());
    let span = TaskSpan::begin(worker, || None);
    let phase = watch::enter_phase(worker, Phase::Busy);
    run::run_on_top(worker, task);
    let _ = watch::enter_phase(worker, phase);
    drop(span);
    worker.set_spawned_at(spawned_at);
    worker.victim.rests.set(rested);
    worker.victim.is_busy.replace(busy);
    // The deque no longer holds any tasks that this task forked.
    deque.set_generation(generation);
    // Release, after the generation: as in `enter_base`.
    worker.base_scope.store(scope, Ordering::Release);
    worker.waiting.set_thief(waits_for);
    // The task may have answered another waiter's signal by publishing tasks that this waiter may
    // not take.
    if worker.pool().sleep.has_vacancy() {
        worker.worker().deque.raise(signal::HUNGRY);
    }
}

fn look_and_sleep(robber: &mut Robber<'_>) {
    let (worker, awaited) = (robber.worker, robber.awaited);
    let mut since = None;
    while !awaited.is_over() {
        if worker.must_stop() || !awaited.may_help() {
            sleep::sleep_until(worker, awaited);
            continue;
        }
        inbox::run(worker);
        if let Some(task) = helpful_task(robber) {
            let _ = worker.sleeper.take_call();
            help(robber, task);
            since = None;
        } else if !rest(worker, awaited, &mut since) {
            sleep::sleep_until(worker, awaited);
            since = None;
            look_for_parked(worker, awaited);
        }
    }
    sleep::regain_slot(worker);
}

/// Pauses before the next look of a waiter that has found nothing since `since`. Returns `false` if
/// the waiter must give up its slot.
fn rest(worker: WorkerThread<'_>, awaited: Awaited<'_>, since: &mut Option<Nanos>) -> bool {
    if matches!(awaited, Awaited::Memory(_)) {
        return false;
    }
    let now = clock::now();
    let since = *since.get_or_insert(now);
    match waiter_rests(since, now, sleep::slot_is_wanted(worker)) {
        WaiterRest::Spin => spin_loop(),
        WaiterRest::Yield => thread::yield_now(),
        WaiterRest::Park => return false,
    }
    true
}

/// Resumes a task that is parked in the memory plan, if this worker waits for memory and was woken
/// for a reason other than its own turn.
fn look_for_parked(worker: WorkerThread<'_>, awaited: Awaited<'_>) {
    let for_memory = matches!(awaited, Awaited::Memory(_));
    if for_memory && !awaited.is_over() && !worker.sleeper.is_rescue() {
        let _ = memory::take(worker, Look::Parked);
    }
}

/// Returns a task that the waiter may run. If the waiter was woken for a rescue, runs the task here
/// and returns `None`.
fn helpful_task(robber: &mut Robber<'_>) -> Option<Task> {
    let worker = robber.worker;
    if worker.sleeper.take_rescue() || worker.runs_queued(robber.awaited) {
        if memory::wake_sleeper(worker, Round::Skipped) {
            return None;
        }
        let leftmost = memory::take(worker, Look::Rescue);
        if leftmost.is_none() && worker.must_stop() {
            return None;
        }
        let find = || find(worker, Taker::Rescue, worker.searches_in_reverse());
        let queued = || next_task(worker, find);
        if let Some(task) = leftmost.or_else(queued) {
            let _ = worker.sleeper.take_call();
            worker.tally.rescues.add(1);
            run_unrelated(worker, task);
            return None;
        }
    }
    match worker.pool().options.wait {
        WaitPolicy::HelpAny => robber.any_task(),
        WaitPolicy::Descendants => robber.descendant(),
    }
}

fn help(robber: &Robber<'_>, task: Task) {
    let worker = robber.worker;
    // Checked after the theft. If the latch is still closed, the victim was still running what we
    // wait for when we robbed it, so the stolen task descends from that.
    if robber.awaited.is_over() && worker.pool().options.wait == WaitPolicy::Descendants {
        return run::pass_on(worker, task);
    }
    worker.tally.tasks.add(1);
    robber.record_thief_on_top(&task);
    worker.victim.is_busy.set(true);
    worker.victim.rests.set(false);
    // While an unrelated task runs on top of this worker's outer wait, no other worker may follow
    // that wait.
    worker.waiting.set_thief(None);
    let span = TaskSpan::begin(worker, || None);
    let _ = watch::enter_phase(worker, Phase::Busy);
    run::run_on_top(worker, task);
    let _ = watch::enter_phase(worker, Phase::Stealing);
    drop(span);
    worker.victim.rests.set(true);
    worker.victim.is_busy.set(false);
}
