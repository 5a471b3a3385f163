//! Which workers have a processor.
//!
//! A worker that runs or searches needs one; one that is parked, naps or is asleep needs none. There
//! are too few only while workers that are to leave have not left, and where there are more jobs than
//! processors. Then workers take turns ([`Group`]): all of them on all processors, or, where workers
//! are pinned, the `i`-th worker of each job on processor `i`.
//!
//! It moves nothing: the machine takes a worker's next moment back and sets it again.

mod group;

use group::Group;
use std::ops::Range;
use tidegate_policy::Nanos;

/// The processors of the machine.
pub(crate) struct Processors {
    /// One of all processors, or one for each.
    groups: Vec<Group>,
}

impl Processors {
    /// `count` processors for `workers` workers, of which each job has `count`.
    pub(crate) fn new(count: usize, workers: usize, slice: Nanos, pinned: bool) -> Self {
        let groups = match pinned {
            true => count,
            false => 1,
        };
        let group = || Group::new(count / groups, workers / groups, slice);
        Self {
            groups: (0..groups).map(|_| group()).collect(),
        }
    }

    /// The group of a worker, and its number there.
    fn split(&self, worker: usize) -> (usize, usize) {
        let groups = self.groups.len();
        (worker % groups, worker / groups)
    }

    fn whole(&self, group: usize, number: usize) -> usize {
        number * self.groups.len() + group
    }

    /// How many no worker has.
    pub(crate) fn free(&self) -> usize {
        self.groups.iter().map(Group::free).sum()
    }

    /// Whether any worker stands in line.
    pub(crate) fn are_short(&self) -> bool {
        self.groups.iter().any(|group| group.waiting() > 0)
    }

    /// Whether another worker waits for a processor that this one may have.
    pub(crate) fn are_short_for(&self, worker: usize) -> bool {
        self.groups[self.split(worker).0].waiting() > 0
    }

    /// Whether this worker gets one now; if not, it stands in line. It has slept until now, or not.
    pub(crate) fn take(&mut self, worker: usize, now: Nanos, has_slept: bool) -> bool {
        let (group, number) = self.split(worker);
        self.groups[group].take(number, now, has_slept)
    }

    /// Which worker should give its processor up to this one, which has woken and stands in line.
    /// Only those that `can` are displaced.
    pub(crate) fn displaced_by(
        &self,
        worker: usize,
        now: Nanos,
        can: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let (group, number) = self.split(worker);
        let can = |other| can(self.whole(group, other));
        let displaced = self.groups[group].displaced_by(number, now, can);
        displaced.map(|other| self.whole(group, other))
    }

    /// The worker needs its processor no more, if it has one. The worker that has it now.
    pub(crate) fn release(&mut self, worker: usize, now: Nanos) -> Option<usize> {
        let (group, number) = self.split(worker);
        let next = self.groups[group].release(number, now);
        next.map(|next| self.whole(group, next))
    }

    /// Like [`release`](Self::release), but as if the worker had kept its processor for a slice.
    pub(crate) fn forfeit(&mut self, worker: usize, now: Nanos) -> Option<usize> {
        let (group, number) = self.split(worker);
        let next = self.groups[group].forfeit(number, now);
        next.map(|next| self.whole(group, next))
    }

    /// The workers whose slices are over and whose processors others wait for.
    pub(crate) fn overdue(&self, now: Nanos) -> Vec<usize> {
        let all = self.groups.iter().enumerate();
        all.flat_map(|(group, of)| {
            let overdue = of.overdue(now).into_iter();
            overdue.map(move |number| self.whole(group, number))
        })
        .collect()
    }

    /// These workers stand in line no more, if they did.
    pub(crate) fn leave_line(&mut self, workers: &Range<usize>) {
        let groups = self.groups.len();
        for (group, of) in self.groups.iter_mut().enumerate() {
            of.leave_line(|number| workers.contains(&(number * groups + group)));
        }
    }
}
