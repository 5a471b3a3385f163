//! Records events with their inputs and decisions, and supplies recorded inputs during a replay.

use super::contents::{Source, Stream};
use super::event::Event;
use crate::Nanos;
use alloc::vec::Vec;
use core::cell::RefCell;

/// Sits between the rules and their inputs: records the inputs, or replaces them with recorded
/// ones.
pub trait Recorder {
    /// Starts an event.
    fn begin(&self, event: Event);

    /// Returns the number that the rule must read: the result of `live`, or the recorded number
    /// during a replay.
    fn input(&self, live: impl FnOnce() -> u64) -> u64;

    /// Ends the current event, whose decision is `decision`.
    fn end(&self, decision: u64);
}

/// Records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTrace;

impl Recorder for NoTrace {
    #[inline(always)]
    fn begin(&self, _: Event) {}

    #[inline(always)]
    fn input(&self, live: impl FnOnce() -> u64) -> u64 {
        live()
    }

    #[inline(always)]
    fn end(&self, _: u64) {}
}

/// Records one stream, up to a limit in bytes.
#[derive(Debug)]
pub struct StreamRecorder {
    clock: fn() -> Nanos,
    most: usize,
    /// When the last recorded event began, in nanoseconds.
    last: Nanos,
    event: Option<(Event, Nanos)>,
    numbers: Vec<u8>,
    inputs: Vec<u8>,
    decisions: Vec<u8>,
    left_out: u64,
}

impl StreamRecorder {
    /// Creates a recorder for up to `most` bytes. It uses `clock` to get the time of each event.
    #[must_use]
    pub const fn new(most: usize, clock: fn() -> Nanos) -> Self {
        Self {
            clock,
            most,
            last: 0,
            event: None,
            numbers: Vec::new(),
            inputs: Vec::new(),
            decisions: Vec::new(),
            left_out: 0,
        }
    }

    /// Starts an event.
    pub fn begin(&mut self, event: Event) {
        self.event = Some((event, (self.clock)()));
        self.numbers.clear();
    }

    /// Records a number that the rule reads, and returns it.
    pub fn input(&mut self, number: u64) -> u64 {
        put(&mut self.numbers, number);
        number
    }

    /// Ends the current event, whose decision is `decision`.
    pub fn end(&mut self, decision: u64) {
        let Some((event, at)) = self.event.take() else {
            return;
        };
        // In addition to its inputs, an event takes one byte for its code and three numbers of at
        // most ten bytes each.
        let bytes = self.inputs.len() + self.numbers.len() + self.decisions.len() + 31;
        if self.left_out > 0 || bytes > self.most {
            self.left_out += 1;
            return;
        }
        self.inputs.push(event.code());
        put(&mut self.inputs, at.saturating_sub(self.last));
        put(&mut self.inputs, self.numbers.len() as u64);
        self.inputs.append(&mut self.numbers);
        put(&mut self.decisions, decision);
        self.last = self.last.max(at);
    }

    /// Records an event without a decision, for use in timelines.
    pub fn record(&mut self, what: Event, numbers: &[u64]) {
        self.begin(what);
        for &number in numbers {
            self.input(number);
        }
        self.end(0);
    }

    /// Returns the stream of all events recorded so far.
    #[must_use]
    pub fn stream(&self, source: Source) -> Stream {
        Stream {
            source,
            inputs: self.inputs.clone(),
            decisions: self.decisions.clone(),
            left_out: self.left_out,
        }
    }
}

impl Recorder for RefCell<StreamRecorder> {
    fn begin(&self, event: Event) {
        self.borrow_mut().begin(event);
    }

    fn input(&self, live: impl FnOnce() -> u64) -> u64 {
        let number = live();
        self.borrow_mut().input(number)
    }

    fn end(&self, decision: u64) {
        self.borrow_mut().end(decision);
    }
}

impl<T: Recorder> Recorder for &T {
    fn begin(&self, event: Event) {
        (**self).begin(event);
    }

    fn input(&self, live: impl FnOnce() -> u64) -> u64 {
        (**self).input(live)
    }

    fn end(&self, decision: u64) {
        (**self).end(decision);
    }
}

/// `None` records nothing.
impl<T: Recorder> Recorder for Option<T> {
    #[inline]
    fn begin(&self, event: Event) {
        if let Some(recorder) = self {
            recorder.begin(event);
        }
    }

    #[inline]
    fn input(&self, live: impl FnOnce() -> u64) -> u64 {
        match self {
            Some(recorder) => recorder.input(live),
            None => live(),
        }
    }

    #[inline]
    fn end(&self, decision: u64) {
        if let Some(recorder) = self {
            recorder.end(decision);
        }
    }
}

/// Writes a number as seven bits per byte, lowest first, with the top bit set on all bytes except
/// the last. Small numbers take few bytes.
pub(super) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
