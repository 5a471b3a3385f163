//! The rules of a pool's steward: how many processors to desire, how many slots to have and to lend.

use super::question::Question;
use super::tape::Tape;
use crate::Nanos;
use crate::desire::{DesireState, Seen};
use crate::limits::MOST_THREADS;
use crate::share::{Loans, Share, cycle, slots};
use alloc::vec::Vec;

/// What one steward remembers under the rules.
#[derive(Clone, Debug)]
pub struct Steward {
    desire: DesireState,
    loans: Loans,
}

/// How somebody else's wait for a slot looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wait {
    /// Something waits for a slot, and none is free.
    pub waits: bool,
    /// How many of those who have one are stuck.
    pub stuck: usize,
    /// How many poll nothing.
    pub silent: usize,
    /// How many more there is room for.
    pub room: usize,
    /// When.
    pub now: Nanos,
}

impl Steward {
    /// One that has not estimated anything yet.
    pub fn new(tape: &impl Tape, desire: DesireState) -> Self {
        tape.ask(Question::Begin);
        tape.answer(0);
        Self {
            desire,
            loans: Loans::default(),
        }
    }

    /// The desire as it was estimated last.
    #[must_use]
    pub fn desire(&self) -> usize {
        self.desire.desire()
    }

    /// [`DesireState::next`].
    pub fn next_desire<T: Tape>(&mut self, tape: &T, seen: &Seen<'_>) -> usize {
        tape.ask(Question::Desire);
        let number = |number: u64| tape.input(|| number);
        let count = |count: usize| number(count as u64) as usize;
        // A trace may say anything.
        let threads = |count: usize| number(count as u64).min(MOST_THREADS as u64) as usize;
        let lengths = threads(seen.deques.len());
        let length = |at: usize| count(seen.deques.get(at).copied().unwrap_or(0));
        let deques: Vec<usize> = (0..lengths).map(length).collect();
        let seen = Seen {
            length: number(seen.length),
            allotment: threads(seen.allotment),
            usage: threads(seen.usage),
            attempts: number(seen.attempts),
            purely_failed: number(seen.purely_failed),
            lengths_seen: number(seen.lengths_seen),
            working: number(seen.working),
            searching: number(seen.searching),
            deques: &deques,
            queued: count(seen.queued),
            busy: threads(seen.busy),
            free: threads(seen.free),
            lent: threads(seen.lent),
        };
        let desire = self.desire.next(&seen);
        tape.answer(desire as u64);
        desire
    }

    /// [`slots`] for a job that wants so many, has this allotment, and shares with so many others.
    pub fn slots(tape: &impl Tape, share: Share, [wanted, allotment, others]: [usize; 3]) -> usize {
        tape.ask(Question::Slots);
        let count = |count: usize| tape.input(|| count as u64) as usize;
        let slots = slots(share, count(wanted), count(allotment), count(others));
        tape.answer(slots as u64);
        slots
    }

    /// [`cycle`] beside so many others after so many calm ones.
    pub fn cycle(tape: &impl Tape, share: Share, [others, calm]: [usize; 2]) -> Nanos {
        tape.ask(Question::Cycle);
        let count = |count: usize| tape.input(|| count as u64) as usize;
        let length = cycle(share, count(others), count(calm));
        tape.answer(length);
        length
    }

    /// [`Loans::lend`].
    pub fn lend(&mut self, tape: &impl Tape, wait: Wait) -> usize {
        tape.ask(Question::Lend);
        let count = |count: usize| tape.input(|| count as u64) as usize;
        let waits = count(wait.waits.into()) != 0;
        let idle = (count(wait.stuck), count(wait.silent));
        let room = count(wait.room);
        let lent = self.loans.lend(waits, idle, room, tape.input(|| wait.now));
        tape.answer(lent as u64);
        lent
    }

    /// Nothing is lent any more, and nothing was.
    pub fn forget_loans(&mut self, tape: &impl Tape) {
        tape.ask(Question::ForgetLoans);
        self.loans = Loans::default();
        tape.answer(0);
    }
}
