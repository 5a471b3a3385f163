//! The operations that other modules perform on a pool's memory; [`crate::memory`] lists them.
//!
//! In a pool without a plan, they do nothing. The same holds in a child process made by `fork`,
//! because another thread may have held the plan's lock during the fork.

use super::error::{Holders, ReservationError, Size};
use super::ordered::{Ordered, Request, Step};
use super::sleepers;
use super::state::Memory;
use crate::job::{HalfHeader, Task};
use crate::pool::PoolInner;
use crate::scope::ScopeCore;
use crate::sleep::wake;
use crate::worker::Event;
use crate::worker::WorkerThread;
use crate::worker::wait::{self, Awaited};
use crate::worker::watch;
use std::sync::Arc;
use tidegate_policy::memory::book;
use tidegate_policy::show_size;
use tidegate_sync::lock::MutexGuard;
use tidegate_sync::stderr::print_line;

/// Which planned task a worker looks for, and in which situation.
pub(crate) enum Look<'a> {
    /// The next task in order, for a worker without frames. The closure returns a random number
    /// below its argument.
    Next(&'a mut dyn FnMut(usize) -> usize),
    /// A task of the scope that the worker waits for, if it is next in order.
    Of(&'a ScopeCore),
    /// The task that all waiting threads depend on.
    Rescue,
    /// No task: the worker gives its slot, which only threads with frames could use, to the first
    /// parked task. That task may be on the worker's own thread.
    Parked,
}

/// Reserves memory, and waits for it if necessary. Returns `None` for 0 bytes, or in a pool without
/// a plan.
pub(super) fn reserve(
    worker: WorkerThread<'_>,
    request: Request,
) -> Result<Option<book::Reservation>, ReservationError> {
    let (bytes, _) = request;
    if bytes == 0 {
        return Ok(None);
    }
    let memory = &worker.pool().memory;
    let reservation = if memory.is_ordered() {
        Some(ask(worker, request)?)
    } else {
        sleepers::sleep_off(worker, bytes);
        None
    };
    memory.declare(bytes);
    Ok(reservation)
}

/// Sends the request to the plan, and waits until it is granted or refused.
fn ask(worker: WorkerThread<'_>, request: Request) -> Result<book::Reservation, ReservationError> {
    let index = worker.index;
    let asked = change(worker.pool(), |plan| plan.ask(index, request));
    let event = match asked.expect("a pool with a plan") {
        Ok(answer) => return answer,
        Err(event) => event,
    };
    worker.pool().memory.count_sleep();
    wait::until(worker, Awaited::Memory(&event));
    let answer = change(worker.pool(), |plan| plan.answer(index));
    answer.expect("a pool with a plan")
}

/// Releases a reservation of `bytes` bytes. `parts` are its grants in the plan.
pub(super) fn release(
    pool: &PoolInner,
    bytes: u64,
    parts: impl Iterator<Item = book::Reservation>,
) {
    if pool.is_inherited() {
        return;
    }
    pool.memory.undeclare(bytes);
    for part in parts {
        let thread = WorkerThread::of(pool).map(|worker| worker.index);
        change(pool, |plan| plan.give_back(thread, part));
    }
}

/// Changes the plan, if the pool has one, and wakes the threads whose requests the change answers.
fn change<R>(pool: &PoolInner, with: impl FnOnce(&mut Ordered) -> R) -> Option<R> {
    let mut plan = lock(pool)?;
    let result = with(&mut plan);
    if pool.memory.settle(plan) {
        // The change may have allowed a task to begin, and no other call publishes that task.
        wake::work_visible(pool, None);
    }
    Some(result)
}

/// Locks the plan for a change, if the pool has one.
fn lock(pool: &PoolInner) -> Option<MutexGuard<'_, Ordered>> {
    let mut plan = pool.memory.ordered()?;
    plan.turn();
    Some(plan)
}

/// Adds tasks that the worker has forked. Returns an event to wait for if the worker must give its
/// slot to one of them.
pub(crate) fn fork(
    worker: WorkerThread<'_>,
    tasks: impl Iterator<Item = Task>,
) -> Option<Arc<Event>> {
    let mut plan = lock(worker.pool())?;
    let event = plan.fork(worker.index, tasks);
    // The caller publishes the work.
    let _ = worker.pool().memory.settle(plan);
    event
}

/// Finds a planned task for this worker, or gives the worker's slot to another thread.
pub(crate) fn take(worker: WorkerThread<'_>, mut look: Look<'_>) -> Option<Task> {
    while look.may_find(&worker.pool().memory) {
        let step = change(worker.pool(), |plan| look.step(plan, worker.index));
        match step.flatten()? {
            Step::Start(task, victim) => {
                if let Some(victim) = victim {
                    watch::stole(worker, worker.pool().worker(victim), 1);
                }
                return Some(task);
            }
            Step::Wake(event) => {
                // The worker has nothing to do, so its slot goes to the resumed thread.
                event.open_kept();
                return None;
            }
            Step::Again if look.repeats() && !is_wanted(worker) => {}
            Step::Again => return None,
        }
    }
    None
}

impl Look<'_> {
    /// Whether the plan may hold such a task, so that it is worth taking the plan's lock.
    fn may_find(&self, memory: &Memory) -> bool {
        match self {
            Self::Next(_) | Self::Rescue => memory.has_work(),
            Self::Of(_) => memory.unstarted() > 0,
            Self::Parked => memory.has_parked(),
        }
    }

    fn step(&mut self, plan: &mut Ordered, thread: usize) -> Option<Step> {
        match self {
            Self::Next(draw) => plan.next(thread, draw),
            Self::Of(scope) => Some(Step::Start(plan.next_of(thread, scope)?, None)),
            Self::Rescue => plan.rescue(thread),
            Self::Parked => plan.resume_parked(),
        }
    }

    fn repeats(&self) -> bool {
        matches!(self, Self::Next(_))
    }
}

/// Whether a worker must stop looking for a planned task, because a broadcast, a signal or the end
/// of the pool requires its attention.
fn is_wanted(worker: WorkerThread<'_>) -> bool {
    worker.inbox.len() > 0 || worker.is_called() || worker.pool().is_ending()
}

/// Takes a half back. Returns `false` if the half has already begun.
pub(crate) fn take_back(worker: WorkerThread<'_>, half: &HalfHeader) -> bool {
    change(worker.pool(), |plan| plan.take_back(half)) == Some(true)
}

/// Records that a task begins on this worker, wherever the task was taken from.
pub(crate) fn begin(worker: WorkerThread<'_>, task: &Task) {
    change(worker.pool(), |plan| plan.begin(worker.index, task));
}

/// Records that the worker's topmost task has ended. Must be called before the threads that wait
/// for the task are notified.
pub(crate) fn end(worker: WorkerThread<'_>) {
    change(worker.pool(), |plan| plan.end(worker.index));
}

/// Records that the worker has no frames left.
pub(crate) fn leave(worker: WorkerThread<'_>) {
    change(worker.pool(), |plan| plan.leave(worker.index));
}

/// Records that the worker's topmost task has given its slot away and continues without it
/// (`blocks`), or that it has a slot again.
pub(crate) fn blocks(worker: WorkerThread<'_>, blocks: bool) {
    change(worker.pool(), |plan| plan.blocks(worker.index, blocks));
}

/// Records that the worker's topmost task waits.
pub(crate) fn waits(worker: WorkerThread<'_>, awaited: Awaited<'_>) {
    change(worker.pool(), |plan| plan.waits(worker.index, awaited));
}

/// Records that the wait of the worker's topmost task has ended.
pub(crate) fn goes_on(worker: WorkerThread<'_>, awaited: Awaited<'_>) {
    change(worker.pool(), |plan| plan.goes_on(worker.index, awaited));
}

/// Announces that the scope has a task that the plan does not know about, because the task comes
/// from outside, or goes to a place or an inbox.
pub(crate) fn expect(pool: &PoolInner, scope: &ScopeCore) {
    // Not `change`, which wakes threads: the caller may hold the ledger, and a new task answers no
    // request.
    if let Some(mut plan) = pool.memory.ordered() {
        plan.expect(scope);
    }
}

/// Records that the scope has ended.
pub(crate) fn close(pool: &PoolInner, scope: &ScopeCore) {
    change(pool, |plan| plan.close(scope));
}

/// Changes the budget; the error is a message for the user.
pub(crate) fn set_budget(pool: &PoolInner, bytes: usize) -> Result<(), String> {
    let bytes = bytes as u64;
    match change(pool, |plan| plan.set_budget(bytes)).flatten() {
        Some(Ok(())) => Ok(()),
        Some(Err(serial)) => Err(format!(
            "Pool::set_budget: {} is less than what the serial run needs: expected from {} on",
            show_size(bytes),
            show_size(serial)
        )),
        None => Err(
            "Pool::set_budget: the pool has no budget: expected for a pool with MemoryPolicy::Budget"
                .into(),
        ),
    }
}

/// Prints a line about the worker's long wait for memory.
pub(crate) fn report_stall(worker: WorkerThread<'_>) {
    let pool = &worker.pool().options.name;
    let seen = change(worker.pool(), |plan| {
        let (request, budget) = plan.stalled(worker.index)?;
        Some((request, budget, plan.book().declared(), plan.holders()))
    });
    if let Some(((bytes, at), budget, declared, holders)) = seen.flatten() {
        print_line(format_args!(
            "pool {pool}: a task waits for memory: for {} at {at}, and {} of {} are declared; {}",
            Size(bytes),
            Size(declared),
            Size(budget),
            Holders(&holders)
        ));
    }
}
