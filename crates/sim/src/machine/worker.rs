//! A worker of a job: its state, which other workers can see, and what it remembers as a thief.

use super::places::Places;
use crate::distance_index::DistanceIndex;
use crate::frames::{FrameId, NONE};
use std::collections::VecDeque;
use tidegate_policy::memory::rounds::Rounds;
use tidegate_policy::search::SharedProcessor;
use tidegate_policy::{Census, IdleState, Nanos, Peers, PlaceTree, Rng, VictimState};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Working,
    Searching,
    /// Sleeps for a while because it found no task.
    Napping,
    /// Sleeps until another worker wakes it, because it found no task.
    Parked,
    /// Has been woken and will search.
    Woken,
    /// Sleeps, with or without work, because its job has fewer processors than workers.
    Asleep,
}

pub(super) struct Worker {
    pub(super) job: usize,
    pub(super) state: State,
    /// When the worker entered this state.
    pub(super) since: Nanos,
    /// The task that the worker runs, or ran when it fell asleep.
    pub(super) frame: FrameId,
    /// The waiting tasks, the oldest in front. If workers of a place share a deque, only the
    /// place's first worker uses this field.
    pub(super) deque: VecDeque<FrameId>,
    /// Costs that the worker has incurred but for which no time has passed yet.
    pub(super) debt: Nanos,
    /// While the worker has a processor, what calls had cost when its step of work began. While it
    /// waits for one in the middle of a step, what they have cost the step. `None` between steps,
    /// and while the worker makes up for calls.
    pub(super) calls: Option<Nanos>,
    /// The last worker that used this deque or looked at it, and so holds its cache line.
    pub(super) line: usize,
    /// Whether the worker must fall asleep at the end of its task's step.
    pub(super) leaving: bool,
    /// Whether the worker counts as a searcher.
    pub(super) admitted: bool,
    /// When the pinned worker began to yield, unless it did not count as a searcher then.
    pub(super) yields_since: Option<Nanos>,
    pub(super) shared: SharedProcessor,
    pub(super) had_work: bool,
    /// The delay between getting a processor and the worker's next event.
    pub(super) late: Nanos,
    /// The remaining time of the step during which the worker was stopped.
    pub(super) left: Nanos,
    pub(super) last_victim: Option<usize>,
    /// The worker's thread in the plan of its job, if the job keeps the depth-first order.
    pub(super) thread: Option<usize>,
    /// Tasks that sleep because they requested memory, with the number of bytes requested.
    pub(super) sleepers: Rounds<(FrameId, u64)>,
    /// The bytes granted on this worker since a task last fell asleep or woke up here, or since
    /// this worker last stole.
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
            calls: None,
            line: number,
            leaving: false,
            admitted: false,
            yields_since: None,
            shared: SharedProcessor::UNKNOWN,
            had_work: false,
            late: 0,
            left: 0,
            last_victim: None,
            thread: None,
            sleepers: Rounds::default(),
            granted: 0,
        }
    }

    /// Whether the worker holds work that only it can begin or continue, or has work in its deque.
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
    /// Whether every worker may be a victim, because none is asleep without work.
    pub(super) all: bool,
    pub(super) census: Option<DistanceIndex<'a>>,
    /// If deques belong to places: the places, and the first worker of the thief's place.
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
    fn census(&self) -> Option<&dyn Census> {
        Some(self.census.as_ref()?)
    }
}
