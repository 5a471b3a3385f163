//! Looks for work before a thread sleeps, and when the pool chooses a thread to wake. docs/sleep.md
//! explains why no work is missed.

use crate::job::Task;
use crate::place::FreeGroups;
use crate::pool::PoolInner;
use crate::scope::ScopeCore;
use crate::worker::{HOPS, Worker, WorkerThread};
use std::cell::OnceCell;
use tidegate_policy::slots::{Fit, Ledger};
use tidegate_policy::{QueueKind, WaitPolicy};

/// Snapshot of the available work, taken when choosing which worker to wake.
pub(super) struct Seen {
    /// Whether a queue of the pool holds a task for a waiter.
    pub(super) queued: bool,
    /// Whether any thread of the pool is running.
    runs: bool,
    /// The groups with free CPU slots.
    free: FreeGroups,
    /// The scopes that have tasks in their own queues, once a waiter's scope was looked up. Read
    /// once for all waiters: there may be many such queues, and the ledger is locked.
    scopes: OnceCell<Vec<usize>>,
}

impl Seen {
    pub(super) fn of(pool: &PoolInner, ledger: &Ledger) -> Self {
        Self {
            queued: pool.can_rescue(),
            runs: ledger.running().next().is_some(),
            free: pool.places.free_groups(ledger),
            scopes: OnceCell::new(),
        }
    }

    fn has_queued(&self, pool: &PoolInner, scope: *const ScopeCore) -> bool {
        let scopes = self.scopes.get_or_init(|| {
            let mut scopes = pool.scopes_with_queued();
            scopes.sort_unstable();
            scopes
        });
        scopes.binary_search(&scope.addr()).is_ok()
    }
}

/// Returns what waiter `t` can do with the tasks that `publisher` has made visible or, without a
/// publisher, with the tasks of all workers.
pub(super) fn fit(pool: &PoolInner, t: usize, publisher: Option<&Worker>, seen: &Seen) -> Fit {
    let waiter = pool.worker(t);
    // A waiter that rouses other threads looks for work itself.
    let rouses = WorkerThread::in_pool(pool).is_some_and(|current| current.index == t);
    // A thread without a CPU slot gets no strict task; it would only take the slot from a thread
    // that can run the task.
    let strict = !waiter.position.unpinned.get();
    let placed = || pool.places.offer(&seen.free, strict, |_| true);
    let awaited = |task: &Task| waiter.waiting.is_for(task);
    let own = || {
        waiter.waiting.is_for_a_scope()
            && (seen.has_queued(pool, waiter.waiting.scope.get())
                || pool.places.offer(&seen.free, strict, awaited))
    };
    let helps_any = || publisher.is_some() || sees_unplaced(pool) || placed();
    let robs = || match pool.options.wait {
        WaitPolicy::HelpAny => waiter.waiting.may_help.get() && helps_any(),
        WaitPolicy::Descendants => {
            may_rob(pool, t, publisher) || (waiter.waiting.may_help.get() && own())
        }
    };
    if !rouses && robs() {
        Fit::Robs
    } else if !waiter.waiting.may_help.get() || !(seen.queued || placed()) {
        Fit::Never
    } else if seen.runs && waiter.waiting.for_memory.get() && pool.memory.has_parked() {
        // The task to resume is parked on this waiter's thread, or on the free thread of another
        // waiter for memory.
        Fit::Queued
    } else if !rouses && waiter.waiting.may_run_queued.get() {
        Fit::Queued
    } else {
        Fit::Rescue
    }
}

/// Whether waiter `t` may rob the tasks that `publisher` has made visible or, without a publisher,
/// those of any worker.
pub(crate) fn may_rob(pool: &PoolInner, t: usize, publisher: Option<&Worker>) -> bool {
    let waiter = pool.worker(t);
    if !waiter.waiting.may_help.get() {
        return false;
    }
    match publisher {
        // A scope's waiter may take from an alternative queue; a joiner may not.
        Some(publisher) if publisher.alt_queue.is_some() => waiter.awaits_scope_of(publisher),
        Some(publisher) => leads_to(pool, waiter, publisher),
        None => {
            let awaited = |task: &Task| waiter.waiting.is_for(task);
            let kept =
                |w: &Worker| waiter.waiting.is_for_a_scope() && w.stolen_batch.holds(awaited);
            let offers = |w: &Worker| w.offers() && waiter.awaits_scope_of(w);
            let robs = |w: &Worker| w.has_work() && leads_to(pool, waiter, w);
            pool.workers().any(|w| robs(w) || offers(w) || kept(w))
        }
    }
}

/// Whether `worker` runs the task that `waiter` waits for, or a task that the awaited task waits
/// for in turn.
fn leads_to(pool: &PoolInner, waiter: &Worker, worker: &Worker) -> bool {
    if waiter.awaits_scope_of(worker) {
        return true;
    }
    let mut next = waiter.waiting.thief();
    for hop in 0..HOPS {
        let Some((thief, generation)) = next.and_then(|thief| thief.robbable(hop)) else {
            return false;
        };
        let thief = pool.worker(thief);
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

/// Whether a worker that gets a slot now could find work: in a queue or in a deque, public or still
/// private.
pub(crate) fn sees_work(pool: &PoolInner, ledger: &Ledger) -> bool {
    sees_unplaced(pool) || sees_placed(pool, ledger)
}

/// Whether there is still work that justifies starting a thread. Looking for work and waking a
/// thread are not one atomic step: in between, a worker may take the task and enter a blocking
/// call, and the slot that it frees is no reason to start a thread. An alternative queue may hide
/// its tasks, so a pool with such queues always counts as having work. So does a pool with a deque
/// that has too few tasks for a thief, because it may soon have more.
pub(super) fn is_worth_a_thread(pool: &PoolInner, ledger: &Ledger) -> bool {
    let has_any = |worker: &Worker| worker.has_work() && !is_leaving(pool, worker);
    pool.options.queue != QueueKind::Split || sees_work(pool, ledger) || pool.workers().any(has_any)
}

/// Like [`sees_work`], for a caller that has not locked the ledger. Locks the ledger only if a task
/// waits at a place.
pub(crate) fn finds_work(pool: &PoolInner) -> bool {
    sees_unplaced(pool) || (pool.places.len() > 0 && sees_placed(pool, &pool.ledger()))
}

/// Like [`sees_work`], but ignores the tasks at places.
pub(crate) fn sees_unplaced(pool: &PoolInner) -> bool {
    let enough = |worker: &Worker| {
        has_enough(pool, worker) || worker.stolen_batch.len() > 0 || worker.offers()
    };
    pool.has_queued() || pool.workers().any(|w| enough(w) && !is_leaving(pool, w))
}

/// Whether the worker's deque holds enough tasks for a thief to take some of them.
fn has_enough(pool: &PoolInner, worker: &Worker) -> bool {
    let waiting = worker.deque.waiting() as usize;
    worker.amount(pool.options.amount).take(waiting) > 0
}

/// Whether there is work that a worker could take without an exposure: it is in a queue, or public.
pub(crate) fn sees_published(pool: &PoolInner, ledger: &Ledger) -> bool {
    let public = |worker: &Worker| worker.deque.public_len() > 0 && has_enough(pool, worker);
    let published =
        |worker: &Worker| public(worker) || worker.stolen_batch.len() > 0 || worker.offers();
    let queued = pool.has_queued() || sees_placed(pool, ledger);
    queued || pool.workers().any(|w| published(w) && !is_leaving(pool, w))
}

/// Whether a task waits at a place where a worker that gets a slot now may take it.
fn sees_placed(pool: &PoolInner, ledger: &Ledger) -> bool {
    pool.places.offers(ledger, true, |_| true)
}

/// Whether the worker is a running guest of a pool whose threads are leaving. Such a guest runs its
/// own forks.
pub(crate) fn is_leaving(pool: &PoolInner, worker: &Worker) -> bool {
    let member = &worker.membership;
    pool.is_over() && member.is_guest.get() && !member.is_blocking.get()
}
