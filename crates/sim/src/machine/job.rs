//! One job on the machine: its dag, its workers by what they do, and what was counted.

use super::memory::Memory;
use super::places::Placed;
use super::spells::Spells;
use super::worker::State;
use crate::allotments::Course;
use crate::chain::Chain;
use crate::drafts::Drafts;
use crate::outcome::Counters;
use crate::unfold::Unfold;
use std::iter::Peekable;
use std::ops::Range;
use tidegate_policy::{Candidates, DesireState, Nanos};

/// A job under way.
pub(super) struct Running<'a> {
    pub(super) dag: Box<dyn Unfold + 'a>,
    pub(super) arrives: Nanos,
    /// How it says what it wants; none if it always has the same.
    pub(super) desire: Option<DesireState>,
    /// The number of its first worker.
    pub(super) first: usize,
    /// Whether it has arrived and is not over.
    pub(super) is_here: bool,
    pub(super) allotment: usize,
    /// The most that it is given now, and how that changes.
    pub(super) given: usize,
    pub(super) course: Peekable<Course<'a>>,
    pub(super) spells: Spells,
    /// The sum over time of the allotments before the current cycle.
    allotted_before: u128,
    /// How many workers run a task, and how many are asleep with one in hand.
    pub(super) working: usize,
    pub(super) in_hand: usize,
    /// How many workers are not asleep.
    pub(super) awake: usize,
    /// How many of these were told to fall asleep and have not yet.
    pub(super) leaving: usize,
    /// How many search and count.
    pub(super) searching: usize,
    /// Workers that sleep for lack of work until some is there.
    pub(super) parked: Vec<u32>,
    /// Workers asleep with work, and without.
    pub(super) with_work: Vec<u32>,
    pub(super) without_work: Vec<u32>,
    /// Who may be robbed, by numbers within the job: all but those asleep without work.
    pub(super) candidates: Candidates,
    /// Tasks in all deques, and in places.
    pub(super) queued: usize,
    pub(super) placed: Placed,
    /// How many workers have had work, and when all had.
    pub(super) had_work: usize,
    pub(super) all_processors: Option<Nanos>,
    pub(super) stood_in_line: bool,
    pub(super) memory: Memory,
    pub(super) drafts: Drafts,
    /// The work of the tasks so far.
    pub(super) work: Nanos,
    /// When it was over, and its longest chain.
    pub(super) end: Option<(Nanos, Chain)>,
    pub(super) counters: Counters,
    /// The counters when the current cycle began.
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
            spells: Spells::new(arrives),
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

    /// It is given what is due now.
    pub(super) fn follow(&mut self, now: Nanos) {
        while let Some((_, given)) = self.course.next_if(|(time, _)| *time <= now) {
            self.given = given;
        }
    }

    /// Whether it has yet to arrive.
    pub(super) const fn is_ahead(&self) -> bool {
        !self.is_here && self.end.is_none()
    }

    /// How many workers are awake and were not told to fall asleep.
    pub(super) const fn staying(&self) -> usize {
        self.awake - self.leaving
    }

    /// Whether drafts wait and none of its tasks can go on, apart from those that rest.
    pub(super) fn is_stalled(&self) -> bool {
        self.is_here
            && self.drafts.waiting() > 0
            && self.working + self.in_hand + self.queued == 0
            && !self.memory.has_sleepers()
    }

    /// The job has so many processors from now on.
    pub(super) fn allot(&mut self, now: Nanos, processors: usize) {
        self.pass(now);
        self.spells.begin(processors);
        self.allotment = processors;
    }

    /// The time until now, in which nothing has changed, has gone by.
    #[inline]
    pub(super) fn pass(&mut self, now: Nanos) {
        debug_assert!(
            now <= self.spells.until() || self.working <= self.given,
            "no job has more workers at work than it is given"
        );
        let ready = self.working + self.in_hand + self.queued;
        self.spells.pass(now, ready);
    }

    /// The mean allotment since this was last called, to the nearest; and a new cycle begins.
    pub(super) fn mean_allotment(&mut self, now: Nanos, length: Nanos) -> usize {
        self.pass(now);
        let until = self.spells.allotted();
        let sum = until - std::mem::replace(&mut self.allotted_before, until);
        let length = u128::from(length.max(1));
        ((sum + length / 2) / length) as usize
    }

    /// A worker was in `state` for so long.
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
