//! Chooses which thread to wake when work becomes visible, a slot becomes free or a latch opens.
//! docs/sleep.md describes the protocol and why no work is missed.
//!
//! All moves of slots go through the ledger ([`tidegate_policy::slots`]) under one lock. Threads
//! take this lock only when they go to sleep or wake. `vacancy` and `searching` mirror what
//! publishers must know without the lock.

use super::blocking;
use super::look::{Reach, Seen};
use super::looks::{Asked, Looks};
use crate::pool::{PoolInner, signal};
use crate::sleep::look;
use crate::worker::stand;
use crate::worker::{Worker, WorkerThread, watch};
use tidegate_policy::Nanos;
use tidegate_policy::slots::{Ledger, Opened, Status, Wake};
use tidegate_sync::barrier;

/// Wakes a thread for work that `publisher` has made visible, unless no thread sleeps or a searcher
/// will find the work.
pub(crate) fn work_visible(pool: &PoolInner, publisher: Option<&Worker>) {
    work_visible_in(pool, publisher, publisher);
}

/// Like `work_visible`, for a task in a queue, which no waiter can rob from the publisher.
pub(crate) fn work_queued(pool: &PoolInner, publisher: Option<&Worker>) {
    work_visible_in(pool, publisher, None);
}

/// `robbed` is the worker from which waiters may rob the work, if the publisher knows it.
fn work_visible_in(pool: &PoolInner, publisher: Option<&Worker>, robbed: Option<&Worker>) {
    pool.check_thread();
    let leaves = publisher.is_some_and(|publisher| look::is_leaving(pool, publisher));
    if leaves || !pool.sleep.must_wake() {
        return;
    }
    match (wake_for_work(pool, publisher, robbed), publisher) {
        // The woken thread looks for more work and wakes the next thread.
        (Wake::Thread(_) | Wake::Start(_), _) => {}
        // A waiter does not ask other workers for tasks, and the publisher has already consumed the
        // signal that it answered. So the publisher's next push must wake the next sleeper.
        (Wake::Waiter(_) | Wake::Rescue(_), Some(publisher)) if pool.sleep.has_vacancy() => {
            publisher.deque.raise(signal::HUNGRY);
        }
        // A publisher that is not a worker has no next push that could wake the other sleepers. A
        // look may still see the work that the waiter is about to take, so do not report yet that
        // tasks wait.
        (Wake::Waiter(_), None) if pool.sleep.has_vacancy() => {
            rouse_unreported(pool);
        }
        (Wake::Waiter(_) | Wake::Rescue(_), _) => {}
        (Wake::Gone, _) => rouse(pool),
        (Wake::Exhausted, _) => blocking::report_exhausted(pool),
        (Wake::Nobody, _) => {}
    }
}

/// Wakes a thread for work that the caller has seen.
fn wake_for_work(pool: &PoolInner, publisher: Option<&Worker>, robbed: Option<&Worker>) -> Wake {
    let mut ledger = pool.change();
    let seen = Seen::of(pool, &ledger);
    let caller = WorkerThread::in_pool(pool).map(|current| current.index);
    let wake = ledger.wake_for_work(
        |t| look::fit(pool, t, robbed, caller, &seen),
        |ledger| seen.queued || look::any(pool, Reach::Few, ledger),
    );
    bind_woken(pool, &ledger, wake);
    // The mark is set under the lock, so that a waiter that finds itself running also sees it.
    if let Wake::Waiter(t) | Wake::Rescue(t) = wake {
        pool.worker(t).sleeper.call(matches!(wake, Wake::Rescue(_)));
    }
    drop(ledger);
    carry_out(pool, wake, publisher);
    wake
}

/// Called when a slot may be free. If there is work, wakes a thread for it. If no thread was woken
/// that will search, raises the hungry signal at all running workers and looks once more.
pub(crate) fn rouse(pool: &PoolInner) {
    if rouse_unless_search(pool).wake == Wake::Exhausted {
        blocking::report_exhausted(pool);
    }
}

/// Like [`rouse`], but for a caller that has just woken a thread. That thread may need some time to
/// take the tasks, so they are not reported as waiting for a blocking call.
pub(crate) fn rouse_unreported(pool: &PoolInner) {
    rouse_unless_search(pool);
}

/// If the ledger has called this waiter for work, and the waiter has not taken any, passes the call
/// on to another thread.
pub(crate) fn pass_call_on(worker: WorkerThread<'_>) {
    let pool = worker.pool();
    let _ = worker.sleeper.take_rescue();
    if worker.sleeper.take_call() {
        rouse(pool);
    }
}

/// Like [`rouse`], but for a thread that is about to sleep and will look once more itself.
pub(super) fn rouse_and_look(pool: &PoolInner) -> Looks {
    let Roused { wake, ordered } = rouse_unless_search(pool);
    Looks::after(wake, ordered.unwrap_or_else(barrier::heavy))
}

/// The result of [`rouse_unless_search`].
struct Roused {
    /// The ledger's answer for the work that was found; `Nobody` if no work was found.
    wake: Wake,
    /// Whether the signal is ordered before the caller's next look; `None` if it was not raised.
    ordered: Option<bool>,
}

/// Does what [`rouse`] does, but reports nothing.
fn rouse_unless_search(pool: &PoolInner) -> Roused {
    let not_asked = |wake| Roused {
        wake,
        ordered: None,
    };
    let mut wake = Wake::Nobody;
    if look::finds_work(pool) {
        wake = wake_for_work(pool, None, None);
    }
    if matches!(wake, Wake::Thread(_) | Wake::Start(_)) {
        return not_asked(wake);
    }
    let asked = {
        let ledger = pool.ledger();
        if !ledger.has_vacancy() {
            return not_asked(wake);
        }
        raise_hunger(pool, &ledger)
    };
    // This look finds what was pushed between the first look and the signal. If there is no
    // process-wide barrier, each push takes the signals, so a push either comes after our signal or
    // is seen here.
    let ordered = Some(asked.order());
    if look::finds_work(pool) {
        // If another thread has taken that work by now, later pushes still see the signal.
        let next = wake_for_work(pool, None, None);
        if !matches!(wake, Wake::Waiter(_) | Wake::Rescue(_)) {
            wake = next;
        }
    }
    Roused { wake, ordered }
}

/// Raises the hungry signal at all running workers.
pub(super) fn raise_hunger(pool: &PoolInner, ledger: &Ledger) -> Asked {
    let caller = WorkerThread::in_pool(pool).map(|current| current.index);
    let has_others = ledger.running().any(|t| Some(t) != caller);
    raise_at(pool, ledger.running(), signal::HUNGRY);
    if has_others {
        Asked::Others
    } else {
        Asked::NoOther
    }
}

/// If no slot is free, asks the workers that run without a slot to stop, except those whose
/// permitted time has not passed.
pub(crate) fn ask_overcommitted(pool: &PoolInner, ledger: &Ledger, now: Nanos) {
    let is_over = |worker: &Worker| {
        let until = worker.sleeper.unasked_until();
        until.is_none_or(|until| until <= now)
    };
    let to_stop = |t: &usize| {
        ledger.status(*t) == Status::Overcommitted && pool.worker_if(*t).is_some_and(is_over)
    };
    if !ledger.has_free() {
        raise_at(pool, ledger.running().filter(to_stop), signal::GIVE_UP);
    }
}

/// If too many slots are held, asks all slot holders to give theirs up.
pub(crate) fn ask_holders(pool: &PoolInner, ledger: &Ledger) {
    if ledger.excess() > 0 {
        raise_at(pool, ledger.holders(), signal::GIVE_UP);
    }
}

/// Raises a signal at these threads. Skips a thread that was granted a slot and has no worker yet:
/// such a thread begins with a search anyway, and the share controller repeats its request in each
/// cycle.
pub(crate) fn raise_at(pool: &PoolInner, threads: impl Iterator<Item = usize>, bits: u32) {
    let workers = threads.filter_map(|t| pool.worker_if(t));
    workers.for_each(|worker| worker.deque.raise(bits));
}

/// Binds the woken thread to its new CPU before it wakes: on its old CPU, it might have to wait for
/// another thread, only to move away afterwards.
pub(crate) fn bind_woken(pool: &PoolInner, ledger: &Ledger, wake: Wake) {
    if let (true, Wake::Thread(t) | Wake::Waiter(t) | Wake::Rescue(t)) = (pool.options.bind, wake) {
        stand::follow(pool.worker(t), ledger);
        stand::bind_worker(pool, pool.worker(t));
    }
}

pub(crate) fn carry_out(pool: &PoolInner, wake: Wake, publisher: Option<&Worker>) {
    match wake {
        Wake::Nobody | Wake::Gone | Wake::Exhausted => {}
        Wake::Thread(t) | Wake::Waiter(t) | Wake::Rescue(t) => {
            if publisher.is_some() {
                // The publisher continues on its CPU, so the thread should wake on another one.
                pool.worker(t).sleeper.wake_affinity.keep_off_here();
            }
            unpark(pool, t);
        }
        Wake::Start(t) => {
            pool.start_thread(t);
        }
    }
}

pub(crate) fn unpark(pool: &PoolInner, t: usize) {
    watch::wakes(pool, t);
    pool.worker(t).sleeper.wake();
}

/// Wakes the threads to which a change of the ledger has given slots.
pub(crate) fn serve(pool: &PoolInner, served: impl IntoIterator<Item = usize>) {
    served.into_iter().for_each(|t| unpark(pool, t));
}

/// Called when a half has been moved to another queue or worker. If its joiner sleeps, wakes the
/// joiner, which then looks for the half again.
pub(crate) fn wake_joiner(pool: &PoolInner, joiner: Option<usize>) {
    if let Some(joiner) = joiner {
        unpark(pool, joiner);
    }
}

/// Called when the latch was opened for which worker `t` sleeps. `opener` is the worker of this pool
/// that opened it, if any. Worker `t` gets a free slot, or the opener's slot.
pub(crate) fn latch_opened(pool: &PoolInner, t: usize, opener: Option<WorkerThread<'_>>) {
    let opened = pool.change().opened(t, opener.map(|opener| opener.index));
    let giver = opener.filter(|_| opened == Opened::Given);
    if let Some(giver) = giver {
        giver.position.set_cpu_slot(None);
    }
    if opened != Opened::Awake {
        unpark(pool, t);
    }
    if let Some(giver) = giver {
        watch::hands_over(giver, t);
        giver.set_must_stop(true);
    }
}

/// Sets the number of slots to the number that the user wants, limited to what other processes
/// leave. Wakes threads that are owed a slot, or asks for slots back.
pub(crate) fn resize(pool: &PoolInner) {
    let mut ledger = pool.change();
    let slots = ledger.agreement().slots(pool.wanted(), pool.most());
    pool.sleep.set_slots(slots);
    let served = ledger.set_slots(slots);
    let ledger = ledger.publish();
    ask_holders(pool, &ledger);
    // Lock order: a thread that has locked the ledger may lock the plan, but not the other way
    // round.
    pool.memory.set_workers(slots);
    drop(ledger);
    serve(pool, served);
    let mut wake = rouse_unless_search(pool).wake;
    if wake == Wake::Exhausted {
        blocking::report_exhausted(pool);
    }
    // A woken thread wakes the next one. A woken waiter does not, so the loop continues as long as
    // waiters are woken.
    for _ in 1..slots {
        let waiter = matches!(wake, Wake::Waiter(_) | Wake::Rescue(_));
        if !waiter || !pool.sleep.has_vacancy() || !look::finds_work(pool) {
            break;
        }
        wake = wake_for_work(pool, None, None);
        if wake == Wake::Gone {
            rouse_unreported(pool);
        }
    }
}

/// Called when a worker begins to run, with or without a slot. It has missed the hungry signal that
/// other workers received, so while a thread sleeps, this worker must publish at its first push.
pub(crate) fn ask_late(ledger: &Ledger, worker: &Worker) {
    if ledger.has_vacancy() {
        worker.deque.raise(signal::HUNGRY);
    }
}

/// Called when a worker begins to run. If too many slots are held, the worker must give its slot
/// up.
pub(crate) fn on_start_running(ledger: &Ledger, worker: &Worker) {
    ask_late(ledger, worker);
    if ledger.excess() > 0 && ledger.status(worker.index) == Status::Running {
        worker.deque.raise(signal::GIVE_UP);
    }
    stand::follow(worker, ledger);
}
