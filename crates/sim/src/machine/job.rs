//! One job on the machine: its dag, its workers by state, and its counters.

use super::allotment_history::AllotmentHistory;
use super::memory::Memory;
use super::places::Placed;
use super::worker::State;
use crate::allotments::Course;
use crate::chain::Chain;
use crate::distance_index::Candidates;
use crate::drafts::Drafts;
use crate::outcome::Counters;
use crate::unfold::Unfold;
use std::iter::Peekable;
use std::ops::Range;
use tidegate_policy::{DesireState, Nanos};

pub(super) struct Running<'a> {
    pub(super) dag: Box<dyn Unfold + 'a>,
    pub(super) arrives: Nanos,
    /// How the job estimates its desire; `None` for a fixed number of processors.
    pub(super) desire: Option<DesireState>,
    /// The number of the job's first worker.
    pub(super) first: usize,
    /// Whether the job has arrived and not ended.
    pub(super) is_here: bool,
    pub(super) allotment: usize,
    /// The current limit on the job's processors, from the imposed allotments.
    pub(super) given: usize,
    /// Future changes of `given`.
    pub(super) course: Peekable<Course<'a>>,
    pub(super) history: AllotmentHistory,
    /// The sum over time of the allotments before the current cycle.
    allotted_before: u128,
    /// How many workers run a task.
    pub(super) working: usize,
    /// How many workers have fallen asleep with a task in hand.
    pub(super) in_hand: usize,
    pub(super) awake: usize,
    /// How many of the awake workers were told to fall asleep and have not done so yet.
    pub(super) leaving: usize,
    /// How many searching workers count towards the limit on searchers.
    pub(super) searching: usize,
    /// Workers that found no work and sleep until work appears.
    pub(super) parked: Vec<u32>,
    /// Workers that are asleep with work.
    pub(super) with_work: Vec<u32>,
    /// Workers that are asleep without work.
    pub(super) without_work: Vec<u32>,
    /// Possible victims, by their numbers within the job: all workers except those that are asleep
    /// without work.
    pub(super) candidates: Candidates,
    /// The number of tasks in all deques and places.
    pub(super) queued: usize,
    pub(super) placed: Placed,
    /// How many workers have had work.
    pub(super) had_work: usize,
    /// The time from the job's arrival until as many workers had had work as the machine has
    /// processors.
    pub(super) all_processors: Option<Nanos>,
    pub(super) stood_in_line: bool,
    /// When the next of the wake-ups in series can begin.
    pub(super) next_wake: Nanos,
    pub(super) memory: Memory,
    pub(super) drafts: Drafts,
    /// The work that the job's tasks have done so far.
    pub(super) work: Nanos,
    /// When the job ended, and its longest chain.
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
            next_wake: 0,
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

    /// Whether the job has not arrived yet.
    pub(super) const fn is_ahead(&self) -> bool {
        !self.is_here && self.end.is_none()
    }

    /// How many workers are awake and were not told to fall asleep.
    pub(super) const fn staying(&self) -> usize {
        self.awake - self.leaving
    }

    /// Whether drafts wait for releases although no task of the job can continue. A resting task,
    /// which can still release drafts, does not count.
    pub(super) fn is_stalled(&self) -> bool {
        self.is_here
            && self.drafts.waiting() > 0
            && self.working + self.in_hand + self.queued == 0
            && !self.memory.has_sleepers()
    }

    /// Changes the job's allotment from `now` on.
    pub(super) fn allot(&mut self, now: Nanos, processors: usize) {
        self.pass(now);
        self.history.begin(processors);
        self.allotment = processors;
    }

    /// Adds the time up to `now`, during which nothing has changed, to the job's history.
    #[inline]
    pub(super) fn pass(&mut self, now: Nanos) {
        debug_assert!(
            now <= self.history.until() || self.working <= self.given,
            "no job has more workers at work than it is given"
        );
        let ready = self.working + self.in_hand + self.queued;
        self.history.pass(now, ready);
    }

    /// Returns the mean allotment since the last call, rounded to the nearest integer, and begins a
    /// new cycle.
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
