//! Records the decisions of a pool's share controller: the desired number of processors, the number
//! of slots, the cycle length and loans.

use super::event::Event;
use super::recorder::Recorder;
use crate::Nanos;
use crate::desire::tunables::EST_CYCLE;
use crate::desire::{DesireState, Seen};
use crate::limits::MOST_THREADS;
use crate::share::{Loans, SharePolicy, cycle, slots};
use alloc::vec::Vec;

/// A share controller whose decisions are recorded.
#[derive(Clone, Debug)]
pub struct ShareController {
    desire: DesireState,
    loans: Loans,
    est_cycle: Nanos,
    share: SharePolicy,
}

/// What the share controller knows about slots and the threads that wait for one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wait {
    /// Whether a thread waits for a slot while none is free.
    pub waits: bool,
    /// How many slots to lend because threads are stuck.
    pub stuck: usize,
    /// The number of slot holders that do not poll.
    pub silent: usize,
    /// The number of slots that may still be lent.
    pub room: usize,
    /// The current time, in nanoseconds.
    pub now: Nanos,
}

impl ShareController {
    /// Creates a share controller that has not estimated a desire yet. It will do so every
    /// `est_cycle` nanoseconds.
    pub fn new(
        recorder: &impl Recorder,
        desire: DesireState,
        est_cycle: Nanos,
        share: SharePolicy,
    ) -> Self {
        recorder.begin(Event::Begin);
        recorder.end(0);
        Self {
            desire,
            loans: loans(est_cycle, share),
            est_cycle,
            share,
        }
    }

    /// Returns the last estimate of the desire.
    #[must_use]
    pub fn desire(&self) -> usize {
        self.desire.desire()
    }

    /// Calls [`DesireState::next`] and records the decision.
    pub fn next_desire<T: Recorder>(&mut self, recorder: &T, seen: &Seen<'_>) -> usize {
        recorder.begin(Event::Desire);
        let number = |number: u64| recorder.input(|| number);
        let count = |count: usize| number(count as u64) as usize;
        // A damaged trace may claim any number of threads.
        let threads = |count: usize| number(count as u64).min(MOST_THREADS as u64) as usize;
        let lengths = threads(seen.deques.len());
        let length = |at: usize| count(seen.deques.get(at).copied().unwrap_or(0));
        let deques: Vec<usize> = (0..lengths).map(length).collect();
        let seen = Seen {
            length: number(seen.length),
            allotment: threads(seen.allotment),
            usage: threads(seen.usage),
            attempts: number(seen.attempts),
            failed_empty: number(seen.failed_empty),
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
        recorder.end(desire as u64);
        desire
    }

    /// Calls [`slots`] and records the decision. `wanted` is the number of slots that the job could
    /// use on its own.
    pub fn slots(
        recorder: &impl Recorder,
        share: SharePolicy,
        [wanted, allotment, others]: [usize; 3],
    ) -> usize {
        recorder.begin(Event::Slots);
        let count = |count: usize| recorder.input(|| count as u64) as usize;
        let slots = slots(share, count(wanted), count(allotment), count(others));
        recorder.end(slots as u64);
        slots
    }

    /// Calls [`cycle`] and records the decision.
    pub fn cycle(
        &self,
        recorder: &impl Recorder,
        share: SharePolicy,
        [others, calm]: [usize; 2],
    ) -> Nanos {
        recorder.begin(Event::Cycle);
        let count = |count: usize| recorder.input(|| count as u64) as usize;
        let length = cycle(share, count(others), count(calm), self.est_cycle);
        recorder.end(length);
        length
    }

    /// Calls [`Loans::lend`] and records the decision.
    pub fn lend(&mut self, recorder: &impl Recorder, wait: Wait) -> usize {
        recorder.begin(Event::Lend);
        let count = |count: usize| recorder.input(|| count as u64) as usize;
        let waits = count(wait.waits.into()) != 0;
        let idle = (count(wait.stuck), count(wait.silent));
        let room = count(wait.room);
        let lent = self
            .loans
            .lend(waits, idle, room, recorder.input(|| wait.now));
        recorder.end(lent as u64);
        lent
    }

    /// Ends all loans and resets their number to 0.
    pub fn forget_loans(&mut self, recorder: &impl Recorder) {
        recorder.begin(Event::ForgetLoans);
        self.loans = loans(self.est_cycle, self.share);
        recorder.end(0);
    }
}

/// Returns the initial loans of a controller with this cycle length. Each loan lasts at least as
/// long as the default cycle: a woken thread needs longer than the shortest cycles to take its
/// first task.
fn loans(est_cycle: Nanos, share: SharePolicy) -> Loans {
    Loans::new(est_cycle.max(EST_CYCLE.default), share)
}
