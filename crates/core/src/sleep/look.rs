//! Looks for work before a thread sleeps, and when the pool chooses a thread to wake.
//! docs/sources.md explains why no work is missed.

use crate::job::Task;
use crate::latch::Thief;
use crate::pool::{PoolInner, members};
use crate::scope::ScopeCore;
use crate::sources::FreeGroups;
use crate::worker::{HOPS, Worker, WorkerThread, find};
use std::cell::OnceCell;
use tidegate_policy::search::Source;
use tidegate_policy::slots::{Fit, Ledger};
use tidegate_policy::{QueueKind, WaitPolicy};

/// Which tasks of deques count in a look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those that a thief can take without an exposure.
    Published,
    /// Those that a thief can take, perhaps after an exposure.
    All,
    /// Those that justify starting a thread. Looking for work and waking a thread are not one
    /// atomic step: in between, a worker may take the task and enter a blocking call, and the slot
    /// that it frees is no reason to start a thread. A deque that has too few tasks for a thief may
    /// soon have more, and an alternative queue may hide its tasks.
    Few,
}

/// Whether a source holds a task that a thread which gets a slot now could take.
pub(crate) fn any(pool: &PoolInner, reach: Reach, ledger: &Ledger) -> bool {
    any_of(pool, reach, &pool.sources.places.free_groups(ledger))
}

/// Like [`any`]; a strict task counts only if its group is `free`.
fn any_of(pool: &PoolInner, reach: Reach, free: &FreeGroups) -> bool {
    let mut listed = find::sources_of(pool).iter();
    // Under `hybrid`, a task that sleeps for memory counts as well: a searcher would wake it.
    pool.memory.has_work()
        || pool.sources.classes.len() > 0
        || listed.any(|source| holds(pool, *source, reach, free))
}

fn holds(pool: &PoolInner, source: Source, reach: Reach, free: &FreeGroups) -> bool {
    let queues = &pool.sources;
    match source {
        Source::Injector => queues.injector.len() > 0,
        Source::ScopeQueues => queues.scopes.any(),
        Source::Plan => pool.memory.has_work(),
        Source::OwnPlaces | Source::UnservedPlaces | Source::OtherPlaces => {
            queues.places.offer(free, &|_| true)
        }
        Source::Victims | Source::TakersOfOwn => {
            let hides = reach == Reach::Few && pool.options.queue != QueueKind::Split;
            hides || pool.workers().any(|worker| gives(pool, worker, reach))
        }
    }
}

/// Whether a thief could take a task from this worker.
fn gives(pool: &PoolInner, worker: &Worker, reach: Reach) -> bool {
    let waiting = worker.deque.waiting() as usize;
    let enough = || worker.amount(pool.options.amount).take(waiting) > 0;
    let in_deque = match reach {
        Reach::Published => worker.deque.public_len() > 0 && enough(),
        Reach::All => enough(),
        Reach::Few => waiting > 0,
    };
    (in_deque || worker.stolen_batch.len() > 0 || worker.offers()) && !is_leaving(pool, worker)
}

/// Like [`any`] of all tasks, for a caller that has not locked the ledger. Locks it only if a task
/// waits at a place.
pub(crate) fn finds_work(pool: &PoolInner) -> bool {
    let free = match pool.sources.places.len() {
        0 => FreeGroups::default(),
        _ => pool.sources.places.free_groups(&pool.ledger()),
    };
    any_of(pool, Reach::All, &free)
}

/// What the pool's sources hold for waiters.
pub(super) struct Seen {
    /// Whether a queue of the pool holds a task for a waiter.
    pub(super) queued: bool,
    /// Whether any thread of the pool is running.
    runs: bool,
    /// The groups whose strict tasks a waiter could run, first for a waiter that never has a CPU
    /// slot: none, because it would only take the slot from a thread that can run the task. But in
    /// a pool without threads, guests run all tasks.
    free: [FreeGroups; 2],
    /// The scopes that have tasks in their own queues, once a waiter's scope was looked up. Read
    /// once for all waiters: there may be many such queues, and the ledger is locked.
    scopes: OnceCell<Vec<usize>>,
}

impl Seen {
    pub(super) fn of(pool: &PoolInner, ledger: &Ledger) -> Self {
        let free = pool.sources.places.free_groups(ledger);
        Self {
            queued: pool.memory.can_rescue() || pool.sources.has_unplaced(),
            runs: ledger.running().next().is_some(),
            free: [vec![members::is_alone_in(pool, ledger); free.len()], free],
            scopes: OnceCell::new(),
        }
    }

    fn has_queued(&self, pool: &PoolInner, scope: *const ScopeCore) -> bool {
        let scopes = self.scopes.get_or_init(|| pool.sources.scopes.with_tasks());
        scopes.binary_search(&scope.addr()).is_ok()
    }
}

/// Returns what waiter `t` can do with the tasks that `publisher` has made visible or, without a
/// publisher, with the tasks of all workers. `rouser` is the waiter that rouses other threads, if
/// any: it looks for work itself.
pub(super) fn fit(
    pool: &PoolInner,
    t: usize,
    publisher: Option<&Worker>,
    rouser: Option<usize>,
    seen: &Seen,
) -> Fit {
    let waiter = pool.worker(t);
    let rouses = rouser == Some(t);
    let free = &seen.free[usize::from(!waiter.position.unpinned.get())];
    let placed = |wanted: &dyn Fn(&Task) -> bool| pool.sources.places.offer(free, wanted);
    let own = || {
        waiter.waiting.is_for_a_scope()
            && (seen.has_queued(pool, waiter.waiting.scope.get())
                || placed(&|task| waiter.waiting.is_for(task)))
    };
    let robs = || match pool.options.wait {
        WaitPolicy::HelpAny => publisher.is_some() || any_of(pool, Reach::All, free),
        WaitPolicy::Descendants => may_rob(pool, t, publisher) || own(),
    };
    if !waiter.waiting.may_help.get() {
        Fit::Never
    } else if !rouses && robs() {
        Fit::Robs
    } else if !(seen.queued || placed(&|_| true)) {
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

/// Whether there is a task that this waiter may run.
pub(super) fn sees_help(worker: WorkerThread<'_>, ledger: &Ledger) -> bool {
    let pool = worker.pool();
    match fit(pool, worker.index, None, None, &Seen::of(pool, ledger)) {
        Fit::Robs => true,
        // A parked task resumes once this waiter is called for it, which needs no look.
        Fit::Queued => worker.waiting.may_run_queued.get(),
        Fit::Rescue | Fit::Never => false,
    }
}

/// Whether waiter `t` may rob the tasks that `publisher` has made visible or, without a publisher,
/// those of any worker.
fn may_rob(pool: &PoolInner, t: usize, publisher: Option<&Worker>) -> bool {
    let waiter = pool.worker(t);
    let awaited = |task: &Task| waiter.waiting.is_for(task);
    let kept = |w: &Worker| waiter.waiting.is_for_a_scope() && w.stolen_batch.holds(&awaited);
    match publisher {
        Some(publisher) if kept(publisher) => true,
        // A scope's waiter may take from an alternative queue; a joiner may not.
        Some(publisher) if publisher.alt_queue.is_some() => waiter.awaits_scope_of(publisher),
        Some(publisher) => leads_to(pool, waiter, publisher),
        None => {
            let offers = |w: &Worker| w.offers() && waiter.awaits_scope_of(w);
            let robs = |w: &Worker| w.has_work() && leads_to(pool, waiter, w);
            pool.workers().any(|w| robs(w) || offers(w) || kept(w))
        }
    }
}

/// Whether `worker` runs the task that `waiter` waits for, or a task that the awaited task waits
/// for in turn.
fn leads_to(pool: &PoolInner, waiter: &Worker, worker: &Worker) -> bool {
    let runs_it = |w: &&Worker| waiter.awaits_scope_of(w);
    let after = |w: &Worker| follows(pool, w.waiting.thief(), 1, worker);
    runs_it(&worker)
        || follows(pool, waiter.waiting.thief(), 0, worker)
        || (waiter.waiting.is_for_a_scope() && pool.workers().filter(runs_it).any(after))
}

/// Whether a robber that is at `thief` after `hop` hops reaches `worker`.
fn follows(pool: &PoolInner, mut thief: Option<Thief>, hop: usize, worker: &Worker) -> bool {
    for hop in hop..HOPS {
        let Some((victim, generation)) = thief.and_then(|thief| thief.robbable(hop)) else {
            return false;
        };
        let victim = pool.worker(victim);
        if victim.deque.generation() != generation {
            return false;
        }
        if victim.index == worker.index {
            return true;
        }
        thief = victim.waiting.thief();
    }
    false
}

/// Whether the worker is a running guest of a pool whose threads are leaving. Such a guest runs its
/// own forks.
pub(crate) fn is_leaving(pool: &PoolInner, worker: &Worker) -> bool {
    let member = &worker.membership;
    pool.is_over() && member.is_guest.get() && !member.is_blocking.get()
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::{Seen, fit};
    use crate::Pool;
    use crate::latch::Thief;
    use crate::place::{places, put_at};
    use crate::pool::{PoolInner, enter, members};
    use crate::scope::ScopeCore;
    use crate::scope::{Scope, scope};
    use std::ptr::NonNull;
    use std::sync::mpsc::channel;
    use std::thread;
    use tidegate_policy::SharePolicy;
    use tidegate_policy::slots::{Fit, Status};
    use tidegate_sync::atomic::Ordering;

    /// A worker runs a task of the awaited scope, and waits for a thief in turn.
    #[test]
    fn scope_waiter_may_rob_at_second_hop() {
        let builder = Pool::builder().workers(3).share(SharePolicy::Off);
        let pool = PoolInner::bare(builder.options().expect("valid options"));
        let [waiter, joiner, thief] = [0, 1, 2].map(|t| pool.worker_or_new(t));
        for worker in members::admit_all(&pool, 3) {
            let served = pool.change().stop(worker, Status::Waiting);
            assert_eq!(served, None);
        }
        let scope: NonNull<ScopeCore> = NonNull::dangling();
        waiter.waiting.scope.set(scope.as_ptr());
        waiter.waiting.may_help.set(true);
        // Relaxed: everything runs on this thread.
        joiner.base_scope.store(scope.as_ptr(), Ordering::Relaxed);
        let answer = || {
            let seen = Seen::of(&pool, &pool.ledger());
            fit(&pool, waiter.index, Some(thief), None, &seen)
        };
        assert_eq!(answer(), Fit::Never);
        joiner.waiting.set_thief(Some(Thief {
            worker: thief.index,
            generation: Some(thief.deque.generation()),
            on_top: false,
        }));
        assert_eq!(answer(), Fit::Robs);
        std::mem::forget(pool);
    }

    /// In a pool without threads, a guest runs the strict tasks of all places.
    #[test]
    fn guest_of_threadless_pool_sees_strict_task() {
        let builder = Pool::builder().workers(2).share(SharePolicy::Off);
        let builder = builder.places("each:1".parse().expect("a kind of places"));
        let pool = PoolInner::bare(builder.options().expect("valid options"));
        for admitted in members::admit_all(&pool, 2) {
            members::refuse(&pool, admitted);
        }
        let (made, task) = channel();
        thread::scope(|threads| {
            let pool = &pool;
            threads.spawn(move || {
                let (guest, task) = task.recv().expect("the guest makes it");
                while pool.ledger().status(guest) != Status::Waiting {
                    thread::yield_now();
                }
                put_at(pool, places(pool)[1].strict(), task);
            });
            enter::take_part(pool, None, |guest| {
                scope(guest, |scope: &Scope<'_>| {
                    let task = scope.task(|_| (), Some(guest));
                    task.count();
                    made.send((guest.index, task)).expect("a receiver");
                });
            });
        });
        std::mem::forget(pool);
    }
}
