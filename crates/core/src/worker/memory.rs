//! What a worker and its pool do with the memory that tasks declare ([`crate::plan`]).
//!
//! In a pool without a plan, they do nothing. The same holds in a child process made by `fork`,
//! because another thread may have held the plan's lock during the fork.

use super::wait::{self, Awaited};
use super::watch;
use super::{Event, Worker, WorkerThread};
use crate::job::{HalfHeader, Task};
use crate::plan::{self, Awaits, Holders, Request, ReservationError, Round, Size, Step, address};
use crate::pool::PoolInner;
use crate::scope::ScopeCore;
use crate::sleep::wake;
use std::sync::Arc;
use tidegate_policy::memory::book;
use tidegate_policy::show_size;
use tidegate_sync::lock::MutexGuard;
use tidegate_sync::stderr::print_line;

/// The memory of a pool. A thread that sleeps for memory is woken by an event.
pub(crate) type Memory = plan::Memory<Arc<Event>>;
type Ordered = plan::Ordered<Arc<Event>>;

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
pub(crate) fn reserve(
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
        sleep_off(worker, bytes);
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
pub(crate) fn release(
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
    freed(pool);
}

/// Called when memory has become free. If a task could begin before, the change of the plan has
/// published nothing, although another task may be able to begin now.
fn freed(pool: &PoolInner) {
    if pool.memory.is_ordered() && pool.memory.has_work() {
        wake::work_visible(pool, None);
    }
}

/// Changes the plan, if the pool has one, and wakes the threads whose requests the change answers.
#[inline]
fn change<R>(pool: &PoolInner, with: impl FnOnce(&mut Ordered) -> R) -> Option<R> {
    if !pool.memory.is_ordered() {
        return None;
    }
    let (mut with, mut result) = (Some(with), None);
    change_plan(pool, &mut |plan| {
        result = with.take().map(|with| with(plan))
    });
    result
}

/// Compiled once for all changes.
#[cold]
fn change_plan(pool: &PoolInner, with: &mut dyn FnMut(&mut Ordered)) {
    let Some(mut plan) = lock(pool) else {
        return;
    };
    with(&mut plan);
    if settle(pool, plan) {
        // The change may have allowed a task to begin, and no other call publishes that task.
        wake::work_visible(pool, None);
    }
}

/// Ends a change of the plan: wakes the threads whose requests it answers. Returns whether it has
/// made work available where there was none before.
fn settle(pool: &PoolInner, plan: MutexGuard<'_, Ordered>) -> bool {
    let (answered, rises) = pool.memory.settle(plan);
    // The thread that changed the plan may be in the middle of a task, so it keeps its slot.
    answered.iter().for_each(Event::open_owed);
    rises
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
    let _ = settle(worker.pool(), plan);
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

    fn step(&mut self, plan: &mut Ordered, thread: usize) -> Option<Step<Arc<Event>>> {
        match self {
            Self::Next(draw) => plan.next(thread, draw),
            Self::Of(scope) => Some(Step::Start(plan.next_of(thread, address(*scope))?, None)),
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
#[inline]
pub(crate) fn begin(worker: WorkerThread<'_>, task: &Task) {
    change(worker.pool(), |plan| plan.begin(worker.index, task));
}

/// Records that the worker's topmost task has ended. Must be called before the threads that wait
/// for the task are notified.
#[inline]
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

impl From<Awaited<'_>> for Awaits {
    fn from(awaited: Awaited<'_>) -> Self {
        match awaited {
            Awaited::Half(half) | Awaited::HalfUnwinding(half) => Self::Half(address(half)),
            Awaited::Scope(scope) => Self::Scope(address(scope)),
            Awaited::Memory(_) => Self::Memory,
            Awaited::Outside(_) => Self::Outside,
        }
    }
}

/// Records that the worker's topmost task waits.
pub(crate) fn waits(worker: WorkerThread<'_>, awaited: Awaited<'_>) {
    change(worker.pool(), |plan| {
        plan.waits(worker.index, awaited.into())
    });
}

/// Records that the wait of the worker's topmost task has ended.
pub(crate) fn goes_on(worker: WorkerThread<'_>, awaited: Awaited<'_>) {
    change(worker.pool(), |plan| {
        plan.goes_on(worker.index, awaited.into())
    });
}

/// Announces that the scope has a task that the plan does not know about, because the task comes
/// from outside, or goes to a place or an inbox.
pub(crate) fn expect(pool: &PoolInner, scope: &ScopeCore) {
    // Not `change`, which wakes threads: the caller may hold the ledger, and a new task answers no
    // request.
    if let Some(mut plan) = pool.memory.ordered() {
        plan.expect(address(scope));
    }
}

/// Records that the scope has ended.
pub(crate) fn close(pool: &PoolInner, scope: &ScopeCore) {
    change(pool, |plan| plan.close(address(scope)));
}

/// Changes the budget; the error is a message for the user.
pub(crate) fn set_budget(pool: &PoolInner, bytes: usize) -> Result<(), String> {
    let bytes = bytes as u64;
    match change(pool, |plan| plan.set_budget(bytes)).flatten() {
        Some(Ok(())) => {
            freed(pool);
            Ok(())
        }
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

/// Sleeps for as many rounds as the hybrid rule demands for this many bytes.
fn sleep_off(worker: WorkerThread<'_>, bytes: u64) {
    let memory = &worker.pool().memory;
    let Some(mut sleepers) = memory.sleepers() else {
        return;
    };
    let rounds = sleepers.rounds(worker.index, bytes);
    if rounds == 0 {
        return;
    }
    let event = Arc::new(Event::for_this_thread());
    sleepers
        .at(own_cpu_slot(worker))
        .sleep(rounds, event.clone());
    let _ = memory.mirror(true, 0);
    drop(sleepers);
    memory.count_sleep();
    wait::until(worker, Awaited::Memory(&event));
}

/// Advances the rounds, and wakes a sleeper whose round has come. Returns whether a sleeper was
/// woken. If so, it may have received the worker's slot.
pub(crate) fn wake_sleeper(worker: WorkerThread<'_>, round: Round) -> bool {
    let memory = &worker.pool().memory;
    if !memory.has_work() {
        return false;
    }
    let Some(mut sleepers) = memory.sleepers() else {
        return false;
    };
    let cpu_slot = own_cpu_slot(worker);
    let due = match round {
        Round::Passes => sleepers.at(cpu_slot).pass(),
        Round::PassesSomewhere => sleepers.pass_somewhere(cpu_slot, |s| is_held(worker, s)),
        Round::Skipped => sleepers.skip(cpu_slot),
    };
    let _ = memory.mirror(sleepers.any(), 0);
    drop(sleepers);
    due.inspect(Event::open_kept).is_some()
}

/// Resets the thread's count of granted bytes. Called when a thread without frames begins a task.
#[inline]
pub(crate) fn forget_granted(worker: WorkerThread<'_>) {
    if let Some(mut sleepers) = worker.pool().memory.sleepers() {
        *sleepers.granted(worker.index) = 0;
    }
}

/// Whether any thread holds the CPU slot. Hints are checked first, to avoid the pool's lock. A
/// thread that was granted the CPU slot but does not run yet has set no hint, so the ledger is
/// checked, too.
fn is_held(worker: WorkerThread<'_>, cpu_slot: usize) -> bool {
    let pool = worker.pool();
    let has_it = |worker: &Worker| worker.position.cpu_slot() == Some(cpu_slot);
    pool.workers().any(has_it) || pool.ledger().cpu_slots().is_taken(cpu_slot)
}

fn own_cpu_slot(worker: WorkerThread<'_>) -> usize {
    worker.position.cpu_slot().unwrap_or(worker.index)
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use crate::pool::members;
    use crate::worker::{Admission, Membership};
    use crate::{Pool, policy::SharePolicy};
    use tidegate_policy::slots::Status;

    /// One thread runs. The other thread was granted the other CPU slot but does not run yet, so it
    /// has set no hint.
    #[test]
    fn granted_slot_counts_before_thread_runs() {
        let builder = Pool::builder().workers(2).share(SharePolicy::Off);
        let builder = builder.memory("hybrid:alpha=1,beta=0".parse().unwrap());
        let pool = PoolInner::bare(builder.options().unwrap());
        let admitted = members::admit_all(&pool, 2);
        let (own, granted) = (admitted[0], admitted[1]);
        let there = pool.ledger().cpu_slots().at(granted).unwrap();
        let membership = Membership::enter(pool.clone(), Admission::granted(own));
        let worker = membership.current();
        let event = Arc::new(Event::for_this_thread());
        let sleepers = || pool.memory.sleepers().unwrap();
        sleepers().at(there).sleep(1, event);
        let _ = pool.memory.mirror(true, 0);

        assert!(!wake_sleeper(worker, Round::PassesSomewhere));
        assert_eq!(pool.change().stop(granted, Status::Idle), None);
        assert!(wake_sleeper(worker, Round::PassesSomewhere));
        drop(membership);
        std::mem::forget(pool);
    }
}
