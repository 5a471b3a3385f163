//! The hybrid of work stealing and Narlikar's scheduler: tasks that request much memory sleep while
//! thieves find other work. See [`tidegate_policy::memory::rounds`].
//!
//! No sleeper is forgotten. A sleeper counts as work that a searcher may find, and a thread wakes
//! the first sleeper before it rests. A searching thread does not advance the rounds of a CPU slot
//! that another thread holds. docs/memory.md describes the protocol.

use crate::worker::wait::{self, Awaited};
use crate::worker::{Event, Worker, WorkerThread};
use std::sync::Arc;
use tidegate_policy::memory::Hybrid;
use tidegate_policy::memory::rounds::{Rounds, pass_for_absent};

pub(super) struct Sleepers {
    policy: Hybrid,
    /// The sleepers of each CPU slot.
    cpu_slots: Vec<Rounds<Arc<Event>>>,
    /// For each thread, the bytes granted to it since it last slept or began a task.
    granted: Vec<u64>,
}

impl Sleepers {
    pub(super) fn new(policy: Hybrid, workers: usize) -> Self {
        let mut slots = vec![];
        slots.resize_with(workers.max(1), Rounds::default);
        Self {
            policy,
            cpu_slots: slots,
            granted: vec![],
        }
    }

    fn granted(&mut self, thread: usize) -> &mut u64 {
        while self.granted.len() <= thread {
            self.granted.push(0);
        }
        &mut self.granted[thread]
    }

    /// Returns how many rounds the thread must sleep before it gets this many bytes; 0 means that
    /// it gets them now.
    fn rounds(&mut self, thread: usize, bytes: u64) -> u64 {
        let workers = self.cpu_slots.len() as u64;
        let policy = self.policy;
        let granted = self.granted(thread);
        let rounds = policy.sleep_rounds(bytes, *granted, workers);
        *granted = if rounds == 0 { *granted + bytes } else { 0 };
        rounds
    }

    fn at(&mut self, cpu_slot: usize) -> &mut Rounds<Arc<Event>> {
        let cpu_slots = self.cpu_slots.len();
        &mut self.cpu_slots[cpu_slot % cpu_slots]
    }

    /// Removes the first sleeper of this CPU slot or, if it has none, of any CPU slot, and returns
    /// its event.
    fn skip(&mut self, cpu_slot: usize) -> Option<Arc<Event>> {
        let own = self.at(cpu_slot).skip();
        own.or_else(|| self.cpu_slots.iter_mut().find_map(Rounds::skip))
    }

    /// Advances this CPU slot by a round if it has sleepers. If not, advances a CPU slot that has
    /// sleepers and that no thread holds.
    fn pass_somewhere(
        &mut self,
        cpu_slot: usize,
        is_held: impl Fn(usize) -> bool,
    ) -> Option<Arc<Event>> {
        if !self.at(cpu_slot).is_empty() {
            return self.at(cpu_slot).pass();
        }
        pass_for_absent(&mut self.cpu_slots, is_held)
    }

    fn any(&self) -> bool {
        self.cpu_slots.iter().any(|cpu_slot| !cpu_slot.is_empty())
    }
}

/// How the rounds of a CPU slot advance.
#[derive(Clone, Copy)]
pub(crate) enum Round {
    /// Before an attempt to steal: advances this CPU slot by one round.
    Passes,
    /// After a sweep that found nothing: advances this CPU slot or, if it has no sleepers, another
    /// one that no thread holds.
    PassesSomewhere,
    /// When there is nothing else to do: skips ahead to the round in which the first sleeper wakes.
    Skipped,
}

/// Sleeps for as many rounds as the hybrid rule demands for this many bytes.
pub(super) fn sleep_off(worker: WorkerThread<'_>, bytes: u64) {
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
    use crate::pool::{PoolInner, members};
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
