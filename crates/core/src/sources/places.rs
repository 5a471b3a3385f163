//! The queues of a pool's places, and their counters.

use super::Queue;
use crate::job::Task;
use crate::layout::Layout;
use tidegate_policy::slots::Ledger;
use tidegate_sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct Places {
    groups: Box<[Group]>,
    /// The number of tasks that wait in the queues of all groups.
    placed: AtomicUsize,
    /// The number of workers that run a task of a group to which they do not belong.
    away: AtomicUsize,
}

/// Whether each group has a free CPU slot. Empty while no task waits in any place.
pub(crate) type FreeGroups = Vec<bool>;

#[derive(Default)]
struct Group {
    open: Queue,
    strict: Queue,
    /// The number of workers outside this group that run one of its tasks.
    away: AtomicUsize,
}

impl Places {
    pub(crate) fn new(layout: &Layout) -> Self {
        let mut groups = vec![];
        groups.resize_with(layout.groups(), Group::default);
        Self {
            groups: groups.into(),
            placed: AtomicUsize::new(0),
            away: AtomicUsize::new(0),
        }
    }

    /// The number of tasks that wait in all places together.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // Acquire pairs with the Release in `push`, as in `Queue::len`: a worker that goes to sleep
        // because it reads 0 has looked before the push.
        self.placed.load(Ordering::Acquire)
    }

    /// Whether a task waits in any place, or a worker runs a task of a place to which it does not
    /// belong.
    #[inline]
    pub(crate) fn in_use(&self) -> bool {
        self.len() > 0 || self.any_away()
    }

    pub(crate) fn queue(&self, group: usize, strict: bool) -> &Queue {
        let group = &self.groups[group];
        if strict { &group.strict } else { &group.open }
    }

    pub(crate) fn push(&self, group: usize, strict: bool, task: Task) {
        // Release pairs with the Acquire in `len`. The task is counted before it is pushed, so that
        // the count never falls below 0.
        self.placed.fetch_add(1, Ordering::Release);
        self.queue(group, strict).push(task);
    }

    pub(crate) fn take(
        &self,
        group: usize,
        strict: bool,
        wanted: &dyn Fn(&Task) -> bool,
    ) -> Option<Task> {
        let task = self.queue(group, strict).take_first(wanted)?;
        // Release: as in `push`.
        self.placed.fetch_sub(1, Ordering::Release);
        Some(task)
    }

    /// Returns which groups have a free CPU slot, as the argument for [`offer`](Self::offer).
    pub(crate) fn free_groups(&self, ledger: &Ledger) -> FreeGroups {
        let groups = 0..if self.len() > 0 { self.groups.len() } else { 0 };
        let is_free = |group| ledger.cpu_slots().has_free_in(group);
        groups.map(is_free).collect()
    }

    /// Whether a worker that gets a slot now could run a `wanted` task that waits in one of the
    /// groups. A strict task counts only if its group is `free`.
    pub(crate) fn offer(&self, free: &FreeGroups, wanted: &dyn Fn(&Task) -> bool) -> bool {
        let offers = |(group, free): (&Group, &bool)| {
            group.open.holds(wanted) || (*free && group.strict.holds(wanted))
        };
        self.groups.iter().zip(free).any(offers)
    }

    /// Whether a worker runs a task of a group to which it does not belong.
    pub(crate) fn any_away(&self) -> bool {
        // Relaxed: a hint.
        self.away.load(Ordering::Relaxed) > 0
    }

    /// Whether a worker outside this group runs one of its tasks.
    pub(crate) fn is_away(&self, group: usize) -> bool {
        // Relaxed: a hint.
        self.groups[group].away.load(Ordering::Relaxed) > 0
    }

    /// Updates the counts for a worker that ran a task of group `before` from outside that group,
    /// and now runs a task of group `home` from outside.
    pub(crate) fn move_away(&self, before: Option<usize>, home: Option<usize>) {
        if let Some(before) = before {
            // Relaxed, here and below: hints.
            self.groups[before].away.fetch_sub(1, Ordering::Relaxed);
            self.away.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(home) = home {
            self.groups[home].away.fetch_add(1, Ordering::Relaxed);
            self.away.fetch_add(1, Ordering::Relaxed);
        }
    }
}
