//! The threads that belong to a pool: its own threads, and guests for the length of a call.

use super::PoolInner;
use crate::job::Task;
use crate::sleep::wake;
use crate::worker::Worker;
use tidegate_policy::slots::{Ledger, Status};
use tidegate_sync::atomic::Ordering;

/// Puts a task into the inbox of each thread of the pool, and wakes the threads that sleep. `tasks`
/// is called with the number of threads, and returns a function that creates the task for each of
/// them.
///
/// Holds the ledger's lock throughout, so that two broadcasts reach every inbox in the same order
/// and no thread leaves in between.
pub(crate) fn deliver_to_all<T: FnMut(usize) -> Task>(
    pool: &PoolInner,
    tasks: impl FnOnce(usize) -> T,
) {
    let ledger = pool.ledger();
    let threads: Vec<usize> = threads_in(pool, &ledger).collect();
    let mut task = tasks(threads.len());
    for (number, thread) in threads.into_iter().enumerate() {
        let task = task(number);
        task.count();
        let worker = pool.worker(thread);
        worker.inbox.push(task);
        // A sleeper looks at its inbox after each park, and the unpark bit stays set until a park
        // has taken it. A preempted thread looks at its inbox later.
        worker.sleeper.parker.unpark();
    }
    // Unlock before dropping `task`, which may own the user's closure.
    drop(ledger);
}

/// Takes a free slot for a thread that belongs to no pool. Returns `None` if no slot is free or the
/// pool has its maximum number of threads. If no thread of the pool could be started, the caller
/// needs no slot, because only the caller can run its task.
pub(crate) fn admit_guest(pool: &PoolInner) -> Option<usize> {
    if pool.is_closed() {
        return None;
    }
    let mut ledger = pool.change();
    let alone = has_no_threads(pool, &ledger);
    if !ledger.has_free() && !alone {
        return None;
    }
    let t = ledger.admit()?;
    if t >= pool.room() {
        let served = ledger.stop(t, Status::Gone);
        debug_assert_eq!(served, None, "it held no slot");
        return None;
    }
    ledger.set_unpinned(t, true);
    if !ledger.ready(t) {
        let overcommitted = ledger.overcommit(t);
        debug_assert!(overcommitted && alone, "a slot was free");
    }
    let ledger = ledger.publish();
    let worker = pool.worker_or_new(t);
    worker.membership.is_guest.set(true);
    worker.position.set_cpu_slot(None);
    worker.position.unpinned.set(true);
    wake::on_start_running(&ledger, worker);
    Some(t)
}

/// Like `admit_guest`, but returns `None` if any thread of the pool could be started.
pub(crate) fn admit_if_alone(pool: &PoolInner) -> Option<usize> {
    is_alone(pool).then(|| admit_guest(pool))?
}

/// Whether the pool has no threads because the system refused to start them.
pub(crate) fn is_alone(pool: &PoolInner) -> bool {
    may_be_alone(pool) && has_no_threads(pool, &pool.ledger())
}

/// Like [`is_alone`], for a caller that has locked the ledger.
pub(crate) fn is_alone_in(pool: &PoolInner, ledger: &Ledger) -> bool {
    may_be_alone(pool) && has_no_threads(pool, ledger)
}

fn may_be_alone(pool: &PoolInner) -> bool {
    // Relaxed: if the pool has no threads, only the thread that creates the pool has written the
    // flag.
    let refused = pool.refused.load(Ordering::Relaxed);
    // A closed pool never takes guests.
    refused && !pool.is_closed()
}

fn has_no_threads(pool: &PoolInner, ledger: &Ledger) -> bool {
    ledger.was_refused() && threads_in(pool, ledger).next().is_none()
}

/// Returns the numbers of the threads that belong to the pool, except guests.
fn threads_in(pool: &PoolInner, ledger: &Ledger) -> impl Iterator<Item = usize> {
    let here = |w: &&Worker| ledger.status(w.index) != Status::Gone && !w.membership.is_guest.get();
    pool.workers().filter(here).map(|w| w.index)
}

/// Gives each of the pool's first `threads` threads a slot, before any of them runs.
pub(crate) fn admit_all(pool: &PoolInner, threads: usize) -> Vec<usize> {
    let mut ledger = pool.change();
    let admitted: Vec<usize> = (0..threads).filter_map(|_| ledger.admit()).collect();
    for t in &admitted {
        pool.worker_or_new(*t);
        let has_slot = ledger.ready(*t);
        debug_assert!(has_slot, "as many slots as threads");
    }
    if pool.is_closed() {
        ledger.complete();
    }
    admitted
}

/// Called if thread `t` could not be started. From then on, the pool starts no more threads, and
/// any thread may run the tasks in the inbox of `t`.
pub(crate) fn refuse(pool: &PoolInner, t: usize) {
    let mut ledger = pool.change();
    // Relaxed: see `is_alone`.
    pool.refused.store(true, Ordering::Relaxed);
    // Moved under the ledger's lock, before the pool can end without this thread.
    while let Some(part) = pool.worker(t).inbox.pop() {
        pool.sources.injector.push(part);
    }
    let served = ledger.refuse(t);
    drop(ledger);
    wake::serve(pool, served);
    // The slot of `t` is free now.
    wake::rouse(pool);
    pool.advance_end(&pool.ledger());
}

/// Returns the number of threads that belong to the pool, except guests.
pub(crate) fn thread_count(pool: &PoolInner) -> usize {
    threads_in(pool, &pool.ledger()).count()
}

/// Removes thread `t` from the pool, when a guest leaves or a thread of the pool ends.
pub(crate) fn dismiss(pool: &PoolInner, t: usize) {
    let mut ledger = pool.change();
    let served = ledger.stop(t, Status::Gone);
    let ledger = ledger.publish();
    pool.advance_end(&ledger);
    let hungry = ledger.has_vacancy() && !pool.is_over();
    drop(ledger);
    wake::serve(pool, served);
    if hungry {
        wake::rouse(pool);
    }
}
