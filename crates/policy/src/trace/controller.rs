//! Records the decisions of a pool's share controller: the desired number of processors, the number
//! of slots, the cycle length and loans.

use super::event::{Event, Record};
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

/// What a share controller saw at the end of a cycle. Timelines show these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleEnd {
    /// The number of processors that the job was entitled to.
    pub allotment: u64,
    /// The number of tasks in the workers' deques.
    pub in_deques: u64,
    /// The number of tasks that waited elsewhere: in the pool's queues, or started but without a
    /// slot to continue.
    pub elsewhere: u64,
}

impl CycleEnd {
    /// Decodes the inputs of an [`Event::Desire`]. Returns `None` for other events, or if the
    /// inputs are damaged.
    ///
    /// ```
    /// use tidegate_policy::trace::{CycleEnd, Event, Record};
    ///
    /// let record = Record { at: 0, event: Event::Begin, inputs: Vec::new() };
    /// assert_eq!(CycleEnd::of(&record), None);
    /// ```
    #[must_use]
    pub fn of(record: &Record) -> Option<Self> {
        if record.event != Event::Desire {
            return None;
        }
        // The order in which `ShareController::next_desire` reads them.
        let (&count, rest) = record.inputs.split_first()?;
        let (deques, rest) = rest.split_at_checked(usize::try_from(count).ok()?)?;
        let &[_, allotment, _, _, _, _, _, _, elsewhere, _, _, _] = rest else {
            return None;
        };
        Some(Self {
            allotment,
            in_deques: deques.iter().fold(0, |sum, n| sum.saturating_add(*n)),
            elsewhere,
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desire::DesirePolicy;
    use crate::trace::{Source, StreamRecorder};
    use alloc::vec;
    use core::cell::RefCell;

    #[test]
    fn cycle_end_is_read_from_its_inputs() {
        let recorder = RefCell::new(StreamRecorder::new(1 << 10, || 0));
        let desire = DesireState::new(&DesirePolicy::default()).unwrap();
        let mut controller =
            ShareController::new(&recorder, desire, EST_CYCLE.default, SharePolicy::Auto);
        let seen = Seen {
            length: 1,
            allotment: 2,
            usage: 3,
            attempts: 4,
            failed_empty: 5,
            lengths_seen: 6,
            working: 7,
            searching: 8,
            deques: &[9, 10],
            queued: 11,
            busy: 12,
            free: 13,
            lent: 14,
        };
        controller.next_desire(&recorder, &seen);
        let stream = recorder.borrow().stream(Source::ShareController);
        let records = stream
            .records()
            .map(|record| CycleEnd::of(&record.unwrap()));
        let end = CycleEnd {
            allotment: 2,
            in_deques: 19,
            elsewhere: 11,
        };
        assert_eq!(records.collect::<Vec<_>>(), [None, Some(end)]);
    }

    #[test]
    fn damaged_cycle_end_is_rejected() {
        for inputs in [vec![], vec![u64::MAX], vec![1, 1, 2]] {
            let event = Event::Desire;
            let record = Record {
                at: 0,
                event,
                inputs,
            };
            assert_eq!(CycleEnd::of(&record), None);
        }
    }
}
