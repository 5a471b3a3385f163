//! Decides which CPU slot each thread with a slot runs on.
//!
//! A *CPU slot* is a position on the machine for one running thread. It belongs to one or more
//! *groups* of CPU slots: places, and groups of places. A thread gets a CPU slot together with its
//! slot, and gives both up together. So a place has as many workers as processors, no matter which
//! threads those are (docs/places.md). [`Ledger`](crate::slots::Ledger) calls these functions; this
//! module only chooses among the free CPU slots.
//!
//! This module knows nothing about caches and CPUs, and does not bind threads.

use alloc::vec;
use alloc::vec::Vec;

/// Records which thread holds which CPU slot.
///
/// ```
/// use tidegate_policy::CpuSlots;
///
/// // Two places of two CPU slots each, and the group of all.
/// let mut cpu_slots = CpuSlots::new(&[vec![0, 1], vec![2, 3], vec![0, 1, 2, 3]]);
/// cpu_slots.take(7, Some(1));
/// assert_eq!(cpu_slots.at(7), Some(2));
/// cpu_slots.leave(7);
/// cpu_slots.take(7, None);
/// assert_eq!(cpu_slots.at(7), Some(2), "the one that it had last");
/// ```
#[derive(Clone, Debug, Default)]
pub struct CpuSlots {
    groups: Vec<Vec<usize>>,
    /// For each CPU slot, the smallest group that contains it.
    leaf: Vec<usize>,
    taken: Vec<bool>,
    threads: Vec<Thread>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    at: Option<usize>,
    last: Option<usize>,
    /// If set, the thread never gets a CPU slot: it is a user's thread that is not bound to a CPU.
    unpinned: bool,
}

impl CpuSlots {
    /// Creates CPU slots, all of them free. Each group is a list of CPU slots, numbered `0..n`. The
    /// last group must contain all of them. If two groups overlap, the later one must contain the
    /// earlier one.
    #[must_use]
    pub fn new(groups: &[Vec<usize>]) -> Self {
        let count = groups.last().map_or(0, Vec::len);
        let leaf_of = |cpu_slot| groups.iter().position(|group| group.contains(&cpu_slot));
        Self {
            groups: groups.to_vec(),
            leaf: (0..count).map(|s| leaf_of(s).unwrap_or(0)).collect(),
            taken: vec![false; count],
            threads: Vec::new(),
        }
    }

    /// Returns the CPU slot that thread `t` holds, if any.
    #[must_use]
    pub fn at(&self, t: usize) -> Option<usize> {
        self.threads.get(t)?.at
    }

    /// Returns whether a thread holds this CPU slot.
    #[must_use]
    pub fn is_taken(&self, cpu_slot: usize) -> bool {
        self.taken.get(cpu_slot).is_some_and(|taken| *taken)
    }

    /// Returns whether the CPU slot of thread `t` is in `group`. If the thread has none now, its
    /// last CPU slot counts.
    #[must_use]
    pub fn was_in(&self, t: usize, group: usize) -> bool {
        let last = self.threads.get(t).and_then(|thread| thread.last);
        last.is_some_and(|cpu_slot| self.groups[group].contains(&cpu_slot))
    }

    /// Returns whether a CPU slot of `group` is free.
    #[must_use]
    pub fn has_free_in(&self, group: usize) -> bool {
        self.free_in(group).is_some()
    }

    fn free_in(&self, group: usize) -> Option<usize> {
        let mut cpu_slots = self.groups.get(group)?.iter().copied();
        cpu_slots.find(|cpu_slot| !self.taken[*cpu_slot])
    }

    /// Gives a free CPU slot, if any, to thread `t`, which must have none. The first choice is the
    /// thread's last CPU slot, unless it is outside the group `wanted`. The second choice is any
    /// CPU slot of `wanted`, and the third is a CPU slot near the thread's last one.
    pub fn take(&mut self, t: usize, wanted: Option<usize>) {
        if self.taken.is_empty() || self.thread(t).unpinned {
            return;
        }
        let last = self.threads[t].last;
        let fits = |group| self.was_in(t, group);
        let again = last.filter(|cpu_slot| !self.taken[*cpu_slot] && wanted.is_none_or(fits));
        let near = || self.free_in(self.leaf[last?]);
        let any = || self.free_in(self.groups.len() - 1);
        let cpu_slot = again
            .or_else(|| self.free_in(wanted?))
            .or_else(near)
            .or_else(any);
        self.set(t, cpu_slot);
    }

    fn thread(&mut self, t: usize) -> &mut Thread {
        if self.threads.len() <= t {
            self.threads.resize(t + 1, Thread::default());
        }
        &mut self.threads[t]
    }

    /// Returns whether thread `t` gets slots without CPU slots; see
    /// [`set_unpinned`](Self::set_unpinned).
    #[must_use]
    pub fn is_unpinned(&self, t: usize) -> bool {
        self.threads.get(t).is_some_and(|thread| thread.unpinned)
    }

    /// Sets whether thread `t` will get slots without CPU slots.
    pub fn set_unpinned(&mut self, t: usize, unpinned: bool) {
        if unpinned {
            self.leave(t);
        }
        self.thread(t).unpinned = unpinned;
    }

    /// Frees the CPU slot of thread `t`, if it has one.
    pub fn leave(&mut self, t: usize) {
        if let Some(cpu_slot) = self.at(t) {
            self.taken[cpu_slot] = false;
            self.threads[t].at = None;
        }
    }

    /// Frees the CPU slot of `giver`, then gives a free one to thread `t`, which must have none.
    pub fn pass(&mut self, giver: usize, t: usize) {
        self.leave(giver);
        self.take(t, None);
    }

    /// Moves thread `t` to a free CPU slot of `group`. Returns whether the thread moved.
    pub fn move_to(&mut self, t: usize, group: usize) -> bool {
        let unpinned = self.thread(t).unpinned;
        let Some(cpu_slot) = self.free_in(group).filter(|_| !unpinned) else {
            return false;
        };
        self.leave(t);
        self.set(t, Some(cpu_slot));
        true
    }

    fn set(&mut self, t: usize, cpu_slot: Option<usize>) {
        if let Some(cpu_slot) = cpu_slot {
            self.taken[cpu_slot] = true;
            let thread = &mut self.threads[t];
            (thread.at, thread.last) = (Some(cpu_slot), Some(cpu_slot));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_pairs() -> CpuSlots {
        CpuSlots::new(&[vec![0, 1], vec![2, 3], vec![0, 1, 2, 3]])
    }

    #[test]
    fn returning_thread_gets_nearby_slot() {
        let mut cpu_slots = two_pairs();
        for t in 0..4 {
            cpu_slots.take(t, None);
        }
        assert_eq!(
            [0, 1, 2, 3].map(|t| cpu_slots.at(t)),
            [0, 1, 2, 3].map(Some)
        );
        (0..4).for_each(|t| cpu_slots.leave(t));
        cpu_slots.take(3, None);
        assert_eq!(cpu_slots.at(3), Some(3));
        cpu_slots.leave(3);
        cpu_slots.take(4, Some(1));
        cpu_slots.take(2, None);
        assert_eq!(
            (cpu_slots.at(4), cpu_slots.at(2)),
            (Some(2), Some(3)),
            "the other one of the pair"
        );
    }

    #[test]
    fn thread_without_wanted_slot_gets_another() {
        let mut cpu_slots = two_pairs();
        for t in 0..3 {
            cpu_slots.take(t, Some(0));
        }
        assert_eq!(cpu_slots.at(2), Some(2));
        assert!(!cpu_slots.has_free_in(0) && cpu_slots.has_free_in(1) && cpu_slots.has_free_in(2));
        cpu_slots.take(3, None);
        cpu_slots.take(4, None);
        assert_eq!((cpu_slots.at(3), cpu_slots.at(4)), (Some(3), None));
    }

    /// Even if no CPU slot is free, a thread can pass its own to another thread.
    #[test]
    fn occupied_slot_is_handed_on() {
        let mut cpu_slots = two_pairs();
        (0..4).for_each(|t| cpu_slots.take(t, None));
        cpu_slots.pass(1, 9);
        assert_eq!((cpu_slots.at(1), cpu_slots.at(9)), (None, Some(1)));
        assert!(cpu_slots.is_taken(1) && !cpu_slots.is_taken(4));
        assert!(!cpu_slots.move_to(9, 1));
        cpu_slots.leave(3);
        assert!(!cpu_slots.is_taken(3));
        assert!(cpu_slots.move_to(9, 1));
        assert_eq!(cpu_slots.at(9), Some(3));
        assert!(cpu_slots.has_free_in(0));
    }

    #[test]
    fn who_roams_takes_no_stand() {
        let mut cpu_slots = two_pairs();
        cpu_slots.set_unpinned(5, true);
        cpu_slots.take(5, Some(0));
        assert!(cpu_slots.at(5).is_none() && !cpu_slots.move_to(5, 1));
        cpu_slots.take(0, None);
        cpu_slots.pass(0, 5);
        assert_eq!((cpu_slots.at(0), cpu_slots.at(5)), (None, None));
        cpu_slots.set_unpinned(5, false);
        cpu_slots.take(5, Some(1));
        assert_eq!(cpu_slots.at(5), Some(2));
    }

    #[test]
    fn without_stands_nobody_stands_anywhere() {
        let mut cpu_slots = CpuSlots::default();
        cpu_slots.take(0, None);
        cpu_slots.leave(0);
        cpu_slots.pass(0, 1);
        assert_eq!((cpu_slots.at(0), cpu_slots.at(1)), (None, None));
    }
}
