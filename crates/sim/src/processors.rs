//! Which workers have a processor.
//!
//! A worker that runs or searches needs a processor; a worker that is parked, naps or is asleep
//! needs none. There are too few processors only while workers that must leave have not left yet,
//! or if there are more jobs than processors. Then workers take turns ([`Group`]): all workers on
//! all processors or, if workers are pinned, the `i`-th worker of each job on processor `i`.
//!
//! This module schedules no events: the machine removes a worker's next event and sets it again.

mod group;

use group::Group;
use std::ops::Range;
use tidegate_policy::Nanos;

pub(crate) struct Processors {
    /// One group of all processors, or one group for each processor.
    groups: Vec<Group>,
}

impl Processors {
    /// Creates `count` processors for `workers` workers. Each job has `count` of these workers.
    pub(crate) fn new(count: usize, workers: usize, slice: Nanos, pinned: bool) -> Self {
        let groups = if pinned { count } else { 1 };
        let group = || Group::new(count / groups, workers / groups, slice);
        Self {
            groups: (0..groups).map(|_| group()).collect(),
        }
    }

    /// Returns a worker's group, and the worker's number in that group.
    fn split(&self, worker: usize) -> (usize, usize) {
        let groups = self.groups.len();
        (worker % groups, worker / groups)
    }

    fn whole(&self, group: usize, number: usize) -> usize {
        number * self.groups.len() + group
    }

    pub(crate) fn free(&self) -> usize {
        self.groups.iter().map(Group::free).sum()
    }

    /// Whether any worker waits in line for a processor.
    pub(crate) fn are_short(&self) -> bool {
        self.groups.iter().any(|group| group.waiting() > 0)
    }

    /// Whether another worker waits for a processor that this worker may use.
    pub(crate) fn are_short_for(&self, worker: usize) -> bool {
        self.groups[self.split(worker).0].waiting() > 0
    }

    /// Gives this worker a processor if one is free; otherwise the worker joins the line.
    /// `has_slept` means that the worker has slept until now.
    pub(crate) fn take(&mut self, worker: usize, now: Nanos, has_slept: bool) -> bool {
        let (group, number) = self.split(worker);
        self.groups[group].take(number, now, has_slept)
    }

    /// Returns the worker that should give up its processor to this worker, which has woken and
    /// waits in line. Only a worker that `can` accepts is displaced.
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

    /// Releases the worker's processor, if it has one. Returns the worker that gets it.
    pub(crate) fn release(&mut self, worker: usize, now: Nanos) -> Option<usize> {
        let (group, number) = self.split(worker);
        let next = self.groups[group].release(number, now);
        next.map(|next| self.whole(group, next))
    }

    /// Like [`release`](Self::release), but charges the worker for additional time, so that it
    /// waits behind workers that have had less.
    pub(crate) fn forfeit(&mut self, worker: usize, now: Nanos, time: Nanos) -> Option<usize> {
        let (group, number) = self.split(worker);
        let next = self.groups[group].forfeit(number, now, time);
        next.map(|next| self.whole(group, next))
    }

    /// Returns the workers whose slices have ended and whose processors other workers wait for.
    pub(crate) fn overdue(&self, now: Nanos) -> Vec<usize> {
        let all = self.groups.iter().enumerate();
        all.flat_map(|(group, of)| {
            let overdue = of.overdue(now).into_iter();
            overdue.map(move |number| self.whole(group, number))
        })
        .collect()
    }

    /// Removes these workers from the line, if they are in it.
    pub(crate) fn leave_line(&mut self, workers: &Range<usize>) {
        let groups = self.groups.len();
        for (group, of) in self.groups.iter_mut().enumerate() {
            of.leave_line(|number| workers.contains(&(number * groups + group)));
        }
    }
}
