//! How a worker gives up its slot and sleeps. docs/sleep.md describes the protocol and why no work
//! is missed; [`crate::sleep::wake`] wakes the sleepers.

pub(crate) mod blocking;
pub(crate) mod look;
mod looks;
mod sleeper;
pub(crate) mod stall;
mod state;
pub(crate) mod wake;
mod wake_affinity;

pub(crate) use sleeper::Sleeper;
pub(crate) use state::{Change, Look, Sleep};

use crate::job::HalfHeader;
use crate::latch::{Latch, State};
use crate::plan::Round;
use crate::pool::PoolInner;
use crate::pool::end;
use crate::pool::members;
use crate::pool::signal;
use crate::stats::Phase;
use crate::worker::WorkerThread;
use crate::worker::give;
use crate::worker::inbox;
use crate::worker::memory;
use crate::worker::stand;
use crate::worker::wait::Awaited;
use crate::worker::watch;
use look::Reach;
use looks::{Asked, Looks};
use tidegate_policy::search::Waiting;
use tidegate_policy::slots::{Ledger, Status};
use tidegate_policy::tunables::SURPLUS_KEEP_ALIVE;
use tidegate_policy::{Nanos, WaitPolicy};
use tidegate_sync::{barrier, clock};

/// Lets a thread that has no task in progress sleep until there is work. For the first `backoff`
/// nanoseconds, the thread raises no hungry signal, so it only gets work that becomes public
/// anyway. Returns `false` if the thread must call its exit handler or leave, because the pool ends
/// or has too many threads.
pub(crate) fn rest(worker: WorkerThread<'_>, mut backoff: Nanos) -> bool {
    let pool = worker.pool();
    memory::leave(worker);
    let _ = memory::wake_sleeper(worker, Round::Skipped);
    if worker.must_stop() {
        // This thread's tasks must go to workers that have a slot: it has no task in progress, so
        // it is not owed a slot.
        give::pass_all_on(worker);
    }
    worker.set_must_stop(false);
    let (served, asked) = {
        let mut ledger = pool.change();
        // Threads of a pool that is shutting down park without a time limit: the shutdown advances
        // in stages under the lock, and each stage unparks the sleepers.
        if pool.is_ending() {
            backoff = 0;
        }
        worker.sleeper.set_unasked_until(None);
        let served = ledger.stop(worker.index, Status::Idle);
        worker.position.set_cpu_slot(None);
        let ledger = ledger.publish();
        (served, ask_if_vacant(pool, &ledger, backoff == 0))
    };
    wake::serve(pool, served);
    let stays = asleep(worker, Phase::NoWork, || park_idle(worker, backoff, asked));
    stand::bind(worker);
    stays
}

/// If `asks` is set and a slot is free, raises the hungry signal for a thread that goes to sleep.
/// If no slot is free, that is not necessary, because the thread that frees the next slot looks for
/// work.
fn ask_if_vacant(pool: &PoolInner, ledger: &Ledger, asks: bool) -> Asked {
    if asks && ledger.has_vacancy() {
        wake::raise_hunger(pool, ledger)
    } else {
        Asked::NoOther
    }
}

fn park_idle(worker: WorkerThread<'_>, backoff: Nanos, mut asked: Asked) -> bool {
    let pool = worker.pool();
    if backoff > 0 {
        // Pairs with the full fence in `Sleep::must_wake`. The look below finds work that was
        // published while this thread still counted as a searcher.
        barrier::full();
        let look = |ledger: &Ledger| look::any(pool, Reach::Published, ledger);
        if sleeps_on(worker, pool.change(), look).is_none() {
            return true;
        }
        worker.sleeper.park_for(backoff);
        let ledger = pool.ledger();
        let is_idle = ledger.status(worker.index) == Status::Idle;
        asked = ask_if_vacant(pool, &ledger, is_idle);
    }
    let since = clock::now();
    let mut looks = Looks::begin(asked.order());
    loop {
        let is_surplus = {
            let ledger = pool.change();
            let ending = pool.is_ending();
            let look =
                |ledger: &Ledger| (looks.remain() || ending) && look::any(pool, Reach::All, ledger);
            let Some(mut ledger) = sleeps_on(worker, ledger, look) else {
                return true;
            };
            if ending {
                pool.advance_end(&ledger);
            }
            if end::is_dismissed(worker) || retires(worker, &mut ledger, since) {
                return false;
            }
            ledger.has_surplus()
        };
        if inbox::run_asleep(worker, Status::Idle) {
            // This thread has just run parts of broadcasts, which may have consumed signals.
            looks = wake::rouse_and_look(pool);
        } else {
            let most = is_surplus.then_some(SURPLUS_KEEP_ALIVE.default);
            let _ = looks.park(pool, &worker.sleeper.parker, most);
        }
    }
}

/// Whether this thread leaves the pool. A thread leaves after it has been idle for long enough
/// since `since`, if blocking calls have returned and the pool now has more threads than its limit.
/// The first `true` makes it call its exit handler; once the handler has returned, the thread
/// leaves as soon as it is idle again.
fn retires(worker: WorkerThread<'_>, ledger: &mut Ledger, since: Nanos) -> bool {
    let is_idle = ledger.status(worker.index) == Status::Idle;
    if !is_idle || worker.stolen_batch.len() + worker.inbox.len() > 0 {
        return false;
    }
    if !worker.membership.is_retiring.get() {
        let idle_for = clock::now().saturating_sub(since);
        if !ledger.has_surplus() || idle_for < SURPLUS_KEEP_ALIVE.default {
            return false;
        }
        ledger.retire();
        worker.membership.is_retiring.set(true);
    }
    if worker.membership.has_exited.get() {
        ledger.leave_surplus(worker.index);
        worker.membership.is_retiring.set(false);
        // Set under the ledger's lock, so that later broadcasts exclude this thread.
        worker.membership.is_guest.set(true);
    }
    true
}

/// Returns the ledger if this sleeper sleeps on. It runs again if another thread has given it a
/// slot, or if `sees_work` returns true and a slot is free.
fn sleeps_on<'a>(
    worker: WorkerThread<'_>,
    mut ledger: Change<'a>,
    sees_work: impl FnOnce(&Ledger) -> bool,
) -> Option<Change<'a>> {
    let given = ledger.status(worker.index) == Status::Running;
    if given || (sees_work(&ledger) && ledger.ready_if_free(worker.index)) {
        wake::on_start_running(&ledger.publish(), worker.worker());
        return None;
    }
    Some(ledger)
}

/// Gives up the slot and sleeps until `awaited` is complete or there is a task to rob. Afterwards,
/// the worker has a slot or is overcommitted.
pub(crate) fn sleep_until(worker: WorkerThread<'_>, awaited: Awaited<'_>) {
    give::expose(worker);
    worker
        .waiting
        .set_awaited(awaited, worker.runs_queued(awaited));
    stop_running(worker, Status::Waiting);
    let asleep = || asleep(worker, awaited.phase(), || park_waiting(worker, awaited));
    match awaited.latch() {
        Some(latch) => {
            if latch.fall_asleep(worker.index) {
                asleep();
                latch.get_up();
            }
        }
        None => asleep(),
    }
    resume_running(worker, Waiting::Owed);
}

/// Parks until `awaited` is complete or another thread gives this one a slot.
fn park_waiting(worker: WorkerThread<'_>, awaited: Awaited<'_>) {
    let pool = worker.pool();
    let mut looks = Looks::none();
    let after = pool.options.stall_report as Nanos * 1_000_000_000;
    let mut silent = (after > 0 && matches!(awaited, Awaited::Memory(_))).then(clock::now);
    while pool.ledger().status(worker.index) == Status::Waiting && !can_go_on(worker, awaited) {
        if !looks.remain() {
            // Work is requested before the first park and after each wake-up, because the awaited
            // task may have moved to another worker.
            looks = request_work(worker, awaited);
        }
        let look = |ledger: &Ledger| look::sees_help(worker, ledger);
        if sleeps_on(worker, pool.change(), look).is_none() {
            return;
        }
        if inbox::run_asleep(worker, Status::Waiting) {
            // This thread has just run parts of broadcasts. They may have waited themselves, and
            // consumed signals.
            worker
                .waiting
                .set_awaited(awaited, worker.runs_queued(awaited));
            looks = Looks::none();
        } else if let Some(since) = silent.filter(|_| looks.is_last()) {
            looks.report(pool);
            worker.sleeper.park_for(after);
            if clock::now() - since >= after {
                silent = None;
                memory::report_stall(worker);
            }
        } else if looks.park(pool, &worker.sleeper.parker, stall::pause(pool)) {
            looks = Looks::none();
        } else if !looks.remain() {
            // It was not woken, so no task has moved that it could ask for.
            stall::look(pool);
            looks = Looks::begin(true);
        }
    }
}

/// Whether `awaited` is complete, or is a half that no thread has begun. In the second case, the
/// joiner is owed a slot to run the half.
fn can_go_on(worker: WorkerThread<'_>, awaited: Awaited<'_>) -> bool {
    let unstarted = |half: &HalfHeader| {
        let queue = worker.queue_of(half);
        queue.is_some_and(|queue| queue.holds(&|task| task.is_half(half)))
    };
    awaited.is_over() || matches!(awaited, Awaited::Half(half) if unstarted(half))
}

/// Asks the workers that may have tasks for this waiter to publish some at their next push. Then
/// rouses another thread, because a slot is free now.
fn request_work(worker: WorkerThread<'_>, awaited: Awaited<'_>) -> Looks {
    let pool = worker.pool();
    if pool.options.wait == WaitPolicy::HelpAny || awaited.scope().is_some() {
        let _ = wake::raise_hunger(pool, &pool.ledger());
    } else if let Some(State::Taken(thief)) = awaited.latch().map(Latch::state) {
        worker.waiting.set_thief(Some(thief));
        pool.worker(thief.worker).deque.raise(signal::HUNGRY);
    }
    wake::rouse_and_look(pool)
}

/// Records in the ledger that this worker stops running, and wakes the threads that get its slot.
pub(crate) fn stop_running(worker: WorkerThread<'_>, to: Status) {
    let pool = worker.pool();
    worker.set_must_stop(false);
    worker.sleeper.set_unasked_until(None);
    let mut ledger = pool.change();
    let served = ledger.stop(worker.index, to);
    worker.position.set_cpu_slot(None);
    drop(ledger);
    wake::serve(pool, served);
}

/// Makes this worker run again: immediately if a slot is free or the pool does not preempt,
/// otherwise when another thread hands one over or the grace period has passed.
pub(crate) fn resume_running(worker: WorkerThread<'_>, why: Waiting) {
    let pool = worker.pool();
    let mut ledger = pool.change();
    let runs =
        ledger.ready(worker.index) || (!pool.preempts() && overcommit(worker, &mut ledger, why));
    let ledger = ledger.publish();
    wake::on_start_running(&ledger, worker.worker());
    drop(ledger);
    if !runs {
        asleep(worker, Phase::Switching, || park_owed(worker, why));
    }
    stand::bind(worker);
}

/// Gives up the slot although this worker could continue, and waits for another slot.
pub(crate) fn sleep_owed(worker: WorkerThread<'_>, why: Waiting) {
    give::expose(worker);
    stop_running(worker, Status::Owed);
    wake::rouse(worker.pool());
    resume_running(worker, why);
}

/// Waits for another slot if this worker has lost its own: a task that ran on top of the caller's
/// frame may have opened a latch and given the slot to the joiner.
pub(crate) fn regain_slot(worker: WorkerThread<'_>) {
    if worker.must_stop() {
        sleep_owed(worker, Waiting::Owed);
    }
}

fn park_owed(worker: WorkerThread<'_>, why: Waiting) {
    let pool = worker.pool();
    let until = clock::now() + why.grace();
    loop {
        let left = until.saturating_sub(clock::now());
        let has_parts = why == Waiting::Owed && worker.inbox.len() > 0;
        if !has_parts {
            worker.sleeper.park_for(left.max(1));
        }
        if why == Waiting::Owed {
            // The thread is in a call that waits, so it may run parts of broadcasts. A preempted
            // thread must not: it is in the middle of a task, which may hold a lock that a part of
            // a broadcast needs.
            inbox::run_asleep(worker, Status::Owed);
        }
        let mut ledger = pool.change();
        if left == 0 {
            overcommit(worker, &mut ledger, why);
        }
        if ledger.status(worker.index) != Status::Owed {
            return wake::on_start_running(&ledger.publish(), worker.worker());
        }
    }
}

/// Lets this worker, if it is owed a slot, run without one until its next task begins or waits.
/// Returns whether it was owed one.
fn overcommit(worker: WorkerThread<'_>, ledger: &mut Ledger, why: Waiting) -> bool {
    let is_owed = ledger.overcommit(worker.index);
    if is_owed {
        worker.tally.overcommitted.add(1);
        worker
            .sleeper
            .set_unasked_until(Some(clock::now() + why.spell()));
    }
    is_owed
}

/// Whether a waiter that runs nothing should give its slot away immediately, because slots are
/// short or a task waits in a queue.
pub(crate) fn slot_is_wanted(worker: WorkerThread<'_>) -> bool {
    let pool = worker.pool();
    pool.sleep.is_short() || pool.memory.has_work() || pool.sources.has_unplaced()
}

/// Whether a worker that waits within a task may keep its slot for a while.
#[must_use]
pub fn may_linger(worker: WorkerThread<'_>) -> bool {
    // If the pool has no threads, whoever could end the wait is in a frame below.
    let is_alone = || members::is_alone(worker.pool());
    !worker.must_stop() && !slot_is_wanted(worker) && !is_alone()
}

/// Called between two tasks. If slots are short, or this worker runs without one, checks whether
/// the worker must stop.
pub(crate) fn make_way(worker: WorkerThread<'_>) {
    let pool = worker.pool();
    if (pool.sleep.is_short() || worker.sleeper.unasked_until().is_some()) && !pool.is_ending() {
        worker.set_must_stop(is_in_excess(worker));
    }
}

/// Whether this worker, which has no task in progress, must stop running, because too many slots
/// are held, another thread is owed one, or this worker holds none.
pub(crate) fn is_in_excess(worker: WorkerThread<'_>) -> bool {
    let must = {
        let mut ledger = worker.pool().change();
        !repay(worker, &mut ledger) || ledger.excess() > 0 || ledger.owes()
    };
    stand::bind(worker);
    must
}

/// Takes a free slot if this worker runs without one. Returns whether it has a slot now.
fn repay(worker: WorkerThread<'_>, ledger: &mut Ledger) -> bool {
    let has_slot = ledger.repay(worker.index);
    if has_slot {
        worker.sleeper.set_unasked_until(None);
        worker.set_must_stop(false);
        stand::follow(&worker, ledger);
    }
    has_slot
}

/// Answers a request to give up the slot. The worker complies if too many slots are still held, or
/// if `turn` is set and another thread is owed a slot. A worker that runs without a slot stops if
/// its permitted time has passed or if its slot went to another thread. In a pool that does not
/// preempt, the worker continues and [`make_way`] makes it stop after its task.
pub(crate) fn give_up(worker: WorkerThread<'_>, turn: bool) {
    if worker.sleeper.needs_no_slot() || !worker.pool().preempts() {
        return;
    }
    let must = {
        let mut ledger = worker.pool().change();
        if repay(worker, &mut ledger) {
            ledger.excess() > 0 || (turn && ledger.owes())
        } else {
            let over = |until| until <= clock::now();
            worker.must_stop() || worker.sleeper.unasked_until().is_some_and(over)
        }
    };
    stand::bind(worker);
    if must {
        let before = worker.add_preemption();
        let outer = worker.sleeper.is_preempted.replace(true);
        sleep_owed(worker, Waiting::Preempted { before });
        worker.sleeper.is_preempted.replace(outer);
    }
}

/// Sleeps for `nanos` nanoseconds between two looks for work. The worker keeps its slot.
pub(crate) fn nap(worker: WorkerThread<'_>, nanos: u64) {
    asleep(worker, Phase::Nap, || worker.sleeper.park_for(nanos));
}

/// Sleeps in phase `why`. The time between the wake-up and the moment the thread runs again counts
/// as switching.
fn asleep<R>(worker: WorkerThread<'_>, why: Phase, sleep: impl FnOnce() -> R) -> R {
    let before = fall_asleep(worker, why);
    let result = sleep();
    get_up(worker, before);
    result
}

fn fall_asleep(worker: WorkerThread<'_>, why: Phase) -> Phase {
    let _ = worker.sleeper.take_woken_at();
    worker.tally.sleeps.add(1);
    let before = watch::parks(worker, why);
    worker.sleeper.wake_affinity.fall_asleep();
    before
}

fn get_up(worker: WorkerThread<'_>, before: Phase) {
    worker.sleeper.wake_affinity.let_back();
    if let Some(woken) = worker.sleeper.take_woken_at() {
        let _ = worker.tally.phases.enter_at(Phase::Switching, woken);
    }
    let _ = watch::enter_phase(worker, before);
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::may_linger;
    use crate::Pool;
    use crate::pool::{PoolInner, enter, members};
    use crate::worker::WorkerThread;
    use tidegate_policy::SharePolicy;

    /// Only the caller, in a frame below, could end the wait.
    #[test]
    fn worker_of_threadless_pool_does_not_linger() {
        let builder = Pool::builder().workers(1).share(SharePolicy::Off);
        let pool = PoolInner::bare(builder.options().unwrap());
        let admitted = members::admit_all(&pool, 1)[0];
        members::refuse(&pool, admitted);
        let mut waits = None;
        enter::run_here(&pool, || waits = WorkerThread::get().map(may_linger));
        assert_eq!(waits, Some(false));
        std::mem::forget(pool);
    }
}
