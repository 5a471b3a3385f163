//! The hybrid of work stealing and Narlikar's scheduler: tasks that request much memory sleep while
//! thieves find other work. See [`tidegate_policy::memory::rounds`].
//!
//! No sleeper is forgotten. A sleeper counts as work that a searcher may find, and a thread wakes
//! the first sleeper before it rests. A searching thread does not advance the rounds of a CPU slot
//! that another thread holds. docs/memory.md describes the protocol.

use super::ordered::entry;
use tidegate_policy::memory::Hybrid;
use tidegate_policy::memory::rounds::{Rounds, pass_for_absent};

pub(crate) struct Sleepers<E> {
    policy: Hybrid,
    /// The sleepers of each CPU slot.
    cpu_slots: Vec<Rounds<E>>,
    /// For each thread, the bytes granted to it since it last slept or began a task.
    granted: Vec<u64>,
}

impl<E> Sleepers<E> {
    pub(super) fn new(policy: Hybrid, workers: usize) -> Self {
        let mut slots = vec![];
        slots.resize_with(workers.max(1), Rounds::default);
        Self {
            policy,
            cpu_slots: slots,
            granted: vec![],
        }
    }

    pub(crate) fn granted(&mut self, thread: usize) -> &mut u64 {
        entry(&mut self.granted, thread)
    }

    /// Returns how many rounds the thread must sleep before it gets this many bytes; 0 means that
    /// it gets them now.
    pub(crate) fn rounds(&mut self, thread: usize, bytes: u64) -> u64 {
        let workers = self.cpu_slots.len() as u64;
        let policy = self.policy;
        let granted = self.granted(thread);
        let rounds = policy.sleep_rounds(bytes, *granted, workers);
        *granted = if rounds == 0 { *granted + bytes } else { 0 };
        rounds
    }

    pub(crate) fn at(&mut self, cpu_slot: usize) -> &mut Rounds<E> {
        let cpu_slots = self.cpu_slots.len();
        &mut self.cpu_slots[cpu_slot % cpu_slots]
    }

    /// Removes the first sleeper of this CPU slot or, if it has none, of any CPU slot, and returns
    /// its event.
    pub(crate) fn skip(&mut self, cpu_slot: usize) -> Option<E> {
        let own = self.at(cpu_slot).skip();
        own.or_else(|| self.cpu_slots.iter_mut().find_map(Rounds::skip))
    }

    /// Advances this CPU slot by a round if it has sleepers. If not, advances a CPU slot that has
    /// sleepers and that no thread holds.
    pub(crate) fn pass_somewhere(
        &mut self,
        cpu_slot: usize,
        is_held: impl Fn(usize) -> bool,
    ) -> Option<E> {
        if !self.at(cpu_slot).is_empty() {
            return self.at(cpu_slot).pass();
        }
        pass_for_absent(&mut self.cpu_slots, is_held)
    }

    pub(crate) fn any(&self) -> bool {
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
