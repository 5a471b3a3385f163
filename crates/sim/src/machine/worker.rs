//! A worker of a job, as the others see it, and its memory as a thief.

use super::places::Places;
use crate::frames::{FrameId, NONE};
use std::collections::VecDeque;
use tidegate_policy::memory::rounds::Rounds;
use tidegate_policy::{Census, IdleState, Nanos, Peers, PlaceTree, Rng, VictimState};

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Runs a task.
    Working,
    /// Looks for one.
    Searching,
    /// Sleeps for a while because it found none.
    Napping,
    /// Sleeps for that reason until work is there.
    Parked,
    /// Was woken and will search.
    Woken,
    /// Sleeps because its job has fewer processors than workers, with or without work.
    Asleep,
}

/// One worker.
pub(super) struct Worker {
    pub(super) job: usize,
    pub(super) state: State,
    /// When this state began.
    pub(super) since: Nanos,
    /// The task that it runs, or ran when it fell asleep.
    pub(super) frame: FrameId,
    /// The tasks that wait here, the oldest in front; of a place with one deque those of its first worker.
    pub(super) deque: VecDeque<FrameId>,
    /// Costs that it has not spent time on yet.
    pub(super) debt: Nanos,
    /// The last worker that has used or looked at its deque, and holds the cache line of that.
    pub(super) line: usize,
    /// Whether it is to go to sleep at the end of its task's step.
    pub(super) leaving: bool,
    /// Whether it counts as a searcher.
    pub(super) admitted: bool,
    /// Whether it has had any work.
    pub(super) had_work: bool,
    /// How long after it gets a processor its next moment comes.
    pub(super) late: Nanos,
    /// What is left of the step amid which it was stopped.
    pub(super) left: Nanos,
    pub(super) last_victim: Option<usize>,
    /// Its thread in the plan of its job, if that keeps the depth-first order.
    pub(super) thread: Option<usize>,
    /// Tasks that sleep for memory, and what they want; and what was granted here since one slept or was stolen.
    pub(super) sleepers: Rounds<(FrameId, u64)>,
    pub(super) granted: u64,
}

impl Worker {
    pub(super) fn new(job: usize, number: usize) -> Self {
        Self {
            job,
            state: State::Asleep,
            since: 0,
            frame: NONE,
            deque: VecDeque::new(),
            debt: 0,
            line: number,
            leaving: false,
            admitted: false,
            had_work: false,
            late: 0,
            left: 0,
            last_victim: None,
            thread: None,
            sleepers: Rounds::default(),
            granted: 0,
        }
    }

    /// Whether there is work that only this worker can begin or go on with, or that lies in its deque.
    pub(super) fn holds_work(&self) -> bool {
        self.frame != NONE || !self.deque.is_empty()
    }
}

/// What a worker remembers as a thief.
pub(super) struct Thief {
    pub(super) idle: IdleState,
    pub(super) victims: VictimState,
    pub(super) rng: Rng,
}

/// What a thief sees of the other workers of its job.
pub(super) struct Others<'a> {
    pub(super) workers: &'a [Worker],
    pub(super) places: &'a PlaceTree,
    /// Whether none of them is asleep without work.
    pub(super) all: bool,
    pub(super) census: Option<Census<'a>>,
    /// Where deques belong to places, these, and the first worker of the thief's.
    pub(super) shared: Option<(&'a Places, usize)>,
}

impl Peers for Others<'_> {
    fn count(&self) -> usize {
        self.workers.len()
    }

    #[inline]
    fn is_candidate(&self, number: usize) -> bool {
        let worker = &self.workers[number];
        let Some((places, own)) = self.shared else {
            return worker.state != State::Asleep || worker.holds_work();
        };
        let has_deque = places.first_with(number) == number && number != own;
        has_deque || worker.state == State::Asleep && worker.frame != NONE
    }

    #[inline]
    fn distance(&self, thief: usize, victim: usize) -> u32 {
        self.places.distance(thief, victim)
    }

    fn last_victim(&self, worker: usize) -> Option<usize> {
        self.workers[worker].last_victim
    }

    fn are_alike(&self) -> bool {
        self.all && self.places.height() == 1
    }

    #[inline]
    fn census(&self) -> Option<Census<'_>> {
        self.census
    }
}
