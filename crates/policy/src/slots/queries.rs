//! What can be read from the ledger.

use super::{Ledger, Status};
use crate::cpu_slots::CpuSlots;

impl Ledger {
    /// Where those stand who hold slots.
    #[must_use]
    pub fn cpu_slots(&self) -> &CpuSlots {
        &self.cpu_slots
    }

    /// How many slots there are.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Whether somebody has a better right to a slot than who is between two tasks: is owed one, or in debt.
    #[must_use]
    pub fn owes(&self) -> bool {
        self.ready_without_slot() > 0
    }

    /// How many threads are owed a slot.
    #[must_use]
    pub fn owed(&self) -> usize {
        self.owed.len()
    }

    /// How many threads could use a slot that they have not: are owed one, or in debt.
    #[must_use]
    pub fn ready_without_slot(&self) -> usize {
        self.owed.len() + self.debtors.len()
    }

    /// How many threads run, with or without a slot.
    #[must_use]
    pub fn active(&self) -> usize {
        self.held + self.overcommitted
    }

    /// How many slots are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held
    }

    /// Whether any thread runs, with or without a slot.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.active() > 0
    }

    /// Whether a slot is free.
    #[must_use]
    pub fn has_free(&self) -> bool {
        self.held < self.slots
    }

    /// How many slots must be given back after a reduction.
    #[must_use]
    pub fn excess(&self) -> usize {
        self.held.saturating_sub(self.slots)
    }

    /// Whether somebody could be put to work: a slot is free, and a thread sleeps or may be started.
    #[must_use]
    pub fn has_vacancy(&self) -> bool {
        let somebody = self.may_start() || !self.idle.is_empty() || !self.waiting.is_empty();
        // Work that cannot be run has to be noticed.
        self.has_free() && (somebody || self.is_exhausted())
    }

    /// Whether no thread may be started any more because of those in blocking calls: they have reached their limit, or the
    /// system has refused a thread beside them.
    pub(super) fn is_exhausted(&self) -> bool {
        let at_limit = self.refused || self.blocked >= self.max_blocking;
        self.blocked > 0 && at_limit && !self.complete && !self.may_start()
    }

    /// How many threads there are, apart from those that are gone.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads
            .iter()
            .filter(|status| **status != Status::Gone)
            .count()
    }

    /// What thread `t` does.
    #[must_use]
    pub fn status(&self, t: usize) -> Status {
        self.threads[t]
    }

    /// The threads that run, with or without a slot.
    pub fn running(&self) -> impl Iterator<Item = usize> + '_ {
        let runs = |status: &Status| matches!(status, Status::Running | Status::Overcommitted);
        self.threads
            .iter()
            .enumerate()
            .filter(move |(_, s)| runs(s))
            .map(|(t, _)| t)
    }

    /// The threads that have slots.
    pub fn holders(&self) -> impl Iterator<Item = usize> + '_ {
        self.running()
            .filter(|t| self.threads[*t] == Status::Running)
    }

    /// The threads of the pool, apart from those that roam (guests, and threads of the user's that never look for work), and what each does.
    pub fn members(&self) -> impl Iterator<Item = (usize, Status)> + '_ {
        let all = self.threads.iter().copied().enumerate();
        all.filter(|(t, status)| *status != Status::Gone && !self.cpu_slots.is_unpinned(*t))
    }

    /// How many threads are in blocking calls.
    #[must_use]
    pub fn blocked(&self) -> usize {
        self.blocked
    }

    /// The threads that count towards the limit.
    fn counted(&self) -> usize {
        self.thread_count() - self.blocked.min(self.max_blocking)
    }

    pub(super) fn has_room(&self) -> bool {
        self.counted() < self.max_threads
    }

    /// Whether calls that blocked have returned and left more threads than the limit allows: idle ones should
    /// [`retire`](Self::retire).
    #[must_use]
    pub fn has_surplus(&self) -> bool {
        self.counted() > self.max_threads + self.retiring
    }

    pub(super) fn may_start(&self) -> bool {
        !self.refused && !self.complete && self.has_room()
    }

    /// Whether the system has refused a thread.
    #[must_use]
    pub fn was_refused(&self) -> bool {
        self.refused
    }
}
