//! One job on the machine: its dag, its workers by state, and its counters.

use super::allotment_history::AllotmentHistory;
use super::memory::Memory;
use super::places::Placed;
use super::worker::State;
use crate::allotments::Course;
use crate::chain::Chain;
use crate::drafts::Drafts;
use crate::outcome::Counters;
use crate::unfold::Unfold;
use std::iter::Peekable;
use std::ops::Range;
use tidegate_policy::{Candidates, DesireState, Nanos};

pub(super) struct Running<'a> {
    pub(super) dag: Box<dyn Unfold + 'a>,
    pub(super) arrives: Nanos,
    /// How it estimates its desire; `None` for a fixed number of processors.
    pub(super) desire: Option<DesireState>,
    /// The number of its first worker.
    pub(super) first: usize,
    /// Whether it has arrived and is not over.
    pub(super) is_here: bool,
    pub(super) allotment: usize,
    /// The limit imposed on its processors now, and the changes of that limit.
    pub(super) given: usize,
    pub(super) course: Peekable<Course<'a>>,
    pub(super) history: AllotmentHistory,
    /// The sum over time of the allotments before the current cycle.
    allotted_before: u128,
    /// How many workers run a task, and how many are asleep with a task in hand.
    pub(super) working: usize,
    pub(super) in_hand: usize,
    /// How many workers are not asleep.
    pub(super) awake: usize,
    /// How many of these were told to fall asleep and have not done so yet.
    pub(super) leaving: usize,
    /// How many workers search and count as searchers.
    pub(super) searching: usize,
    /// Workers that sleep for lack of work until there is some.
    pub(super) parked: Vec<u32>,
    /// Workers that are asleep with work, and workers that are asleep without work.
    pub(super) with_work: Vec<u32>,
    pub(super) without_work: Vec<u32>,
    /// Possible victims, by their numbers within the job: all workers except those asleep without
    /// work.
    pub(super) candidates: Candidates,
    /// The number of tasks in all deques and places.
    pub(super) queued: usize,
    pub(super) placed: Placed,
    /// How many workers have had work, and how long after the arrival the last of them first had.
    pub(super) had_work: usize,
    pub(super) all_processors: Option<Nanos>,
    pub(super) stood_in_line: bool,
    pub(super) memory: Memory,
    pub(super) drafts: Drafts,
    /// The work of its tasks so far.
    pub(super) work: Nanos,
    /// When it ended, and its longest chain.
    pub(super) end: Option<(Nanos, Chain)>,
    pub(super) counters: Counters,
    /// The counters at the start of the current cycle.
    pub(super) before: Counters,
}

impl<'a> Running<'a> {
    pub(super) fn new(
        dag: Box<dyn Unfold + 'a>,
        arrives: Nanos,
        course: Course<'a>,
        workers: Range<usize>,
    ) -> Self {
        Self {
            dag,
            arrives,
            desire: None,
            first: workers.start,
            is_here: false,
            allotment: 0,
            given: usize::MAX,
            course: course.peekable(),
            history: AllotmentHistory::new(arrives),
            allotted_before: 0,
            working: 0,
            in_hand: 0,
            awake: 0,
            leaving: 0,
            searching: 0,
            parked: Vec::new(),
            with_work: Vec::new(),
            without_work: Vec::new(),
            candidates: Candidates::none(workers.len()),
            queued: 0,
            placed: Placed::default(),
            had_work: 0,
            all_processors: None,
            stood_in_line: false,
            memory: Memory::default(),
            drafts: Drafts::default(),
            work: 0,
            end: None,
            counters: Counters::default(),
            before: Counters::default(),
        }
    }

    /// Applies the imposed allotments that are due now.
    pub(super) fn follow(&mut self, now: Nanos) {
        while let Some((_, given)) = self.course.next_if(|(time, _)| *time <= now) {
            self.given = given;
        }
    }

    /// Whether it has not arrived yet.
    pub(super) const fn is_ahead(&self) -> bool {
        !self.is_here && self.end.is_none()
    }

    /// How many workers are awake and were not told to fall asleep.
    pub(super) const fn staying(&self) -> usize {
        self.awake - self.leaving
    }

    /// Whether drafts wait and none of its tasks can continue, except for those that rest.
    pub(super) fn is_stalled(&self) -> bool {
        self.is_here
            && self.drafts.waiting() > 0
            && self.working + self.in_hand + self.queued == 0
            && !self.memory.has_sleepers()
    }

    /// Sets the job's allotment from now on.
    pub(super) fn allot(&mut self, now: Nanos, processors: usize) {
        self.pass(now);
        self.history.begin(processors);
        self.allotment = processors;
    }

    /// Accounts for the time until now, during which nothing has changed.
    #[inline]
    pub(super) fn pass(&mut self, now: Nanos) {
        debug_assert!(
            now <= self.history.until() || self.working <= self.given,
            "no job has more workers at work than it is given"
        );
        let ready = self.working + self.in_hand + self.queued;
        self.history.pass(now, ready);
    }

    /// The mean allotment since the last call, rounded to the nearest integer. Begins a new cycle.
    pub(super) fn mean_allotment(&mut self, now: Nanos, length: Nanos) -> usize {
        self.pass(now);
        let until = self.history.allotted();
        let sum = until - std::mem::replace(&mut self.allotted_before, until);
        let length = u128::from(length.max(1));
        ((sum + length / 2) / length) as usize
    }

    /// Counts `time` that a worker spent in `state`.
    #[inline]
    pub(super) fn spent(&mut self, state: State, time: Nanos) {
        let sum = match state {
            State::Working => &mut self.counters.working,
            State::Searching => &mut self.counters.searching,
            State::Napping | State::Parked | State::Woken => &mut self.counters.asleep,
            State::Asleep => return,
        };
        *sum += time;
    }
}
