//! Queries of the ledger. They change nothing.

use super::{Ledger, Status};
use crate::cpu_slots::CpuSlots;

impl Ledger {
    /// Returns the CPU slots of the threads that hold slots.
    #[must_use]
    pub fn cpu_slots(&self) -> &CpuSlots {
        &self.cpu_slots
    }

    /// The number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Whether a thread is owed a slot or in debt. Such a thread has priority over a thread that is
    /// between two tasks.
    #[must_use]
    pub fn owes(&self) -> bool {
        self.ready_without_slot() > 0
    }

    /// The number of threads that are owed a slot.
    #[must_use]
    pub fn owed(&self) -> usize {
        self.owed.len()
    }

    /// The number of threads that could use a slot but have none: they are owed one, or in debt.
    #[must_use]
    pub fn ready_without_slot(&self) -> usize {
        self.owed.len() + self.debtors.len()
    }

    /// The number of threads that run, with or without a slot.
    #[must_use]
    pub fn active(&self) -> usize {
        self.held + self.overcommitted
    }

    /// The number of slots that are held.
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

    /// The number of slots that must be given back after the number of slots was reduced.
    #[must_use]
    pub fn excess(&self) -> usize {
        self.held.saturating_sub(self.slots)
    }

    /// Whether a thread could be put to work: a slot is free, and a thread sleeps or may be
    /// started.
    #[must_use]
    pub fn has_vacancy(&self) -> bool {
        let can_run = self.may_start() || !self.idle.is_empty() || !self.waiting.is_empty();
        // An exhausted pool counts as well: its caller must learn that there is work that no thread
        // can run.
        self.has_free() && (can_run || self.is_exhausted())
    }

    /// Whether no more threads may be started because of threads in blocking calls: the number of
    /// such threads has reached its limit, or the system has refused to start further threads.
    pub(super) fn is_exhausted(&self) -> bool {
        let at_limit = self.refused || self.blocked >= self.max_blocking;
        self.blocked > 0 && at_limit && !self.complete && !self.may_start()
    }

    /// The number of threads that have not left.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads
            .iter()
            .filter(|status| **status != Status::Gone)
            .count()
    }

    /// The status of thread `t`.
    #[must_use]
    pub fn status(&self, t: usize) -> Status {
        self.threads[t]
    }

    /// Returns the threads that run, with or without a slot.
    pub fn running(&self) -> impl Iterator<Item = usize> + '_ {
        let runs = |status: &Status| matches!(status, Status::Running | Status::Overcommitted);
        self.threads
            .iter()
            .enumerate()
            .filter(move |(_, s)| runs(s))
            .map(|(t, _)| t)
    }

    /// Returns the threads that hold slots.
    pub fn holders(&self) -> impl Iterator<Item = usize> + '_ {
        self.running()
            .filter(|t| self.threads[*t] == Status::Running)
    }

    /// Returns the threads of the pool and their statuses, except for unpinned threads (guests, and
    /// the user's threads that never look for work).
    pub fn members(&self) -> impl Iterator<Item = (usize, Status)> + '_ {
        let all = self.threads.iter().copied().enumerate();
        all.filter(|(t, status)| *status != Status::Gone && !self.cpu_slots.is_unpinned(*t))
    }

    /// The number of threads in blocking calls.
    #[must_use]
    pub fn blocked(&self) -> usize {
        self.blocked
    }

    /// The number of threads that count towards `max_threads`.
    fn counted(&self) -> usize {
        self.thread_count() - self.blocked.min(self.max_blocking)
    }

    pub(super) fn has_room(&self) -> bool {
        self.counted() < self.max_threads
    }

    /// Whether blocking calls have returned and left more threads than `max_threads`. If so, idle
    /// threads should [`retire`](Self::retire).
    #[must_use]
    pub fn has_surplus(&self) -> bool {
        self.counted() > self.max_threads + self.retiring
    }

    pub(super) fn may_start(&self) -> bool {
        !self.refused && !self.complete && self.has_room()
    }

    /// Whether the system has refused to start a thread.
    #[must_use]
    pub fn was_refused(&self) -> bool {
        self.refused
    }
}
