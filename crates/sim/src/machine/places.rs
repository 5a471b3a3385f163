//! Tasks that are put into places, and data in the caches of places.
//!
//! A worker looks for work in its own deque, then in the queue of its place, then at its victims.
//! Before it rests, it also looks in the queues of other places, nearest first. The runtime uses
//! the same order (`docs/places.md`). Putting a task into a place wakes a parked worker of that
//! place.

use super::Machine;
use super::work::After;
use crate::dag::Touch;
use crate::frames::FrameId;
use crate::settings::Deques;
use std::collections::VecDeque;
use tidegate_policy::{Nanos, PlaceTree};

/// The places of the machine. Workers are numbered within their jobs.
pub(super) struct Places {
    of: Vec<usize>,
    /// The first worker of each place.
    firsts: Vec<usize>,
    /// For each place, the other places, nearest first.
    others: Vec<Vec<usize>>,
}

impl Places {
    pub(super) fn new(tree: &PlaceTree) -> Self {
        let (of, count) = tree.places();
        let first = |place| of.iter().position(|&of| of == place);
        let firsts: Vec<usize> = (0..count).filter_map(first).collect();
        let others = |place: usize| {
            let mut others: Vec<usize> = (1..count).map(|turn| (place + turn) % count).collect();
            others.sort_by_key(|&other| tree.distance(firsts[place], firsts[other]));
            others
        };
        let others = (0..count).map(others).collect();
        Self { of, firsts, others }
    }

    pub(super) fn count(&self) -> usize {
        self.others.len()
    }

    /// Returns the first worker of the job in the same place as this worker.
    pub(super) fn first_with(&self, worker: usize) -> usize {
        self.firsts[self.of(worker)]
    }

    fn of(&self, worker: usize) -> usize {
        self.of.get(worker).copied().unwrap_or(0)
    }
}

/// Tasks of a job that wait in places.
#[derive(Default)]
pub(super) struct Placed {
    queues: Vec<VecDeque<FrameId>>,
    count: usize,
}

impl Placed {
    fn put(&mut self, place: usize, id: FrameId) {
        if self.queues.len() <= place {
            self.queues.resize_with(place + 1, VecDeque::new);
        }
        self.queues[place].push_back(id);
        self.count += 1;
    }

    fn take(&mut self, place: usize) -> Option<FrameId> {
        let id = self.queues.get_mut(place)?.pop_front()?;
        self.count -= 1;
        Some(id)
    }
}

impl Machine<'_> {
    fn place_of(&self, w: usize) -> usize {
        self.places.of(w - self.jobs[self.workers[w].job].first)
    }

    pub(super) fn is_in_group(&self, w: usize, place: usize) -> bool {
        self.place_of(w) == place
    }

    /// Puts the task into the queue of this place. Returns the cost for the worker.
    pub(super) fn put(&mut self, w: usize, id: FrameId, place: usize) -> Nanos {
        let job = &mut self.jobs[self.workers[w].job];
        match self.settings.deques {
            Deques::Worker => job.placed.put(place, id),
            Deques::Place => {
                let first = job.first + self.places.firsts[place];
                self.workers[first].deque.push_back(id);
            }
        }
        job.queued += 1;
        let (places, first) = (&self.places, job.first);
        let stands_there = |&w: &u32| places.of(w as usize - first) == place;
        match job.parked.iter().rposition(stands_there) {
            Some(parked) => self.wake_parked(self.workers[w].job, parked),
            None => self.work_is_visible(self.workers[w].job),
        }
    }

    /// Takes the oldest task in the queue of the worker's place.
    pub(super) fn take_near(&mut self, w: usize) -> Option<FrameId> {
        if self.jobs[self.workers[w].job].placed.count == 0 {
            return None;
        }
        self.take_from(w, self.place_of(w))
    }

    /// Takes the oldest task of the nearest other place whose queue has one.
    pub(super) fn take_far(&mut self, w: usize) -> Option<FrameId> {
        if self.jobs[self.workers[w].job].placed.count == 0 {
            return None;
        }
        let place = self.place_of(w);
        (0..self.places.others[place].len())
            .find_map(|nth| self.take_from(w, self.places.others[place][nth]))
    }

    fn take_from(&mut self, w: usize, place: usize) -> Option<FrameId> {
        let job = &mut self.jobs[self.workers[w].job];
        let id = job.placed.take(place)?;
        job.queued -= 1;
        Some(id)
    }

    /// Lets the task in frame `id` touch this data. The task continues when the missing part has
    /// been loaded, which counts as work.
    pub(super) fn touch(&mut self, w: usize, id: FrameId, touch: Touch) -> After {
        let (place, number) = (self.place_of(w), self.workers[w].job);
        let missed = self.caches.touch(place, number, touch);
        let time = self.settings.costs.miss * missed.div_ceil(1 << 10);
        let job = &mut self.jobs[number];
        job.counters.touched_bytes += touch.bytes;
        job.counters.missed_bytes += missed;
        if time == 0 {
            return After::Next(id);
        }
        job.work = job.work.saturating_add(time);
        self.frames.get(id).chain.lengthen(time);
        After::Work(time)
    }
}
