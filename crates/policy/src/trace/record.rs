//! Reads the events of a stream.

use super::bytes::{take, take_bytes};
use super::contents::Stream;
use super::event::Event;
use super::file::Damaged;
use alloc::format;
use alloc::vec::Vec;

/// An event of a stream with its inputs, without the decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When the event began, in nanoseconds.
    pub at: crate::Nanos,
    /// The event.
    pub event: Event,
    /// The numbers that the rule read, in the order in which it read them.
    pub inputs: Vec<u64>,
}

impl Stream {
    pub(super) fn damaged(&self, step: u64) -> Damaged {
        Damaged(format!(
            "the records of {} are invalid from decision {} on: expected a trace that a pool of this \
             version has written",
            self.source,
            step + 1
        ))
    }

    /// Returns the decisions, in the order of the events.
    pub fn decisions(&self) -> impl Iterator<Item = u64> + '_ {
        let mut rest = &self.decisions[..];
        core::iter::from_fn(move || take(&mut rest))
    }

    /// Returns the events, in the order in which they were recorded.
    pub fn records(&self) -> impl Iterator<Item = Result<Record, Damaged>> + '_ {
        let (mut rest, mut at, mut step) = (&self.inputs[..], 0_u64, 0_u64);
        core::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let record = record(&mut rest, &mut at);
            step += 1;
            if record.is_none() {
                rest = &[];
            }
            Some(record.ok_or_else(|| self.damaged(step - 1)))
        })
    }
}

fn record(rest: &mut &[u8], at: &mut u64) -> Option<Record> {
    let (&code, after) = rest.split_first()?;
    *rest = after;
    let event = Event::of(code)?;
    *at = at.checked_add(take(rest)?)?;
    let length = take(rest)?;
    let mut numbers = take_bytes(rest, length)?;
    let mut inputs = Vec::new();
    while !numbers.is_empty() {
        inputs.push(take(&mut numbers)?);
    }
    Some(Record {
        at: *at,
        event,
        inputs,
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SharePolicy;
    use crate::desire::DesirePolicy;
    use crate::desire::tunables::EST_CYCLE;
    use crate::desire::{DesireState, Seen};
    use crate::trace::{ShareController, Source, StreamRecorder};
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
