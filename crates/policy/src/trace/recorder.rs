//! Where questions, numbers and decisions are noted, or read.

use super::bytes::put;
use super::file::{Source, Stream};
use super::question::Question;
use crate::Nanos;
use alloc::vec::Vec;
use core::cell::RefCell;

/// What lies between the world and the rules.
pub trait Tape {
    /// A question begins.
    fn ask(&self, question: Question);

    /// A number that the rules look at: that of the world, or the one that was noted.
    fn input(&self, live: impl FnOnce() -> u64) -> u64;

    /// What was decided. The question is over.
    fn answer(&self, decision: u64);
}

/// Nothing is noted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Off;

impl Tape for Off {
    #[inline(always)]
    fn ask(&self, _: Question) {}

    #[inline(always)]
    fn input(&self, live: impl FnOnce() -> u64) -> u64 {
        live()
    }

    #[inline(always)]
    fn answer(&self, _: u64) {}
}

/// Takes notes, up to a number of bytes. One for each who asks.
#[derive(Debug)]
pub struct Recorder {
    clock: fn() -> Nanos,
    most: usize,
    /// When the question was asked that is noted last.
    last: Nanos,
    question: Option<(Question, Nanos)>,
    numbers: Vec<u8>,
    inputs: Vec<u8>,
    decisions: Vec<u8>,
    left_out: u64,
}

impl Recorder {
    /// Notes up to `most` bytes, and reads the time of each question from `clock`.
    #[must_use]
    pub const fn new(most: usize, clock: fn() -> Nanos) -> Self {
        Self {
            clock,
            most,
            last: 0,
            question: None,
            numbers: Vec::new(),
            inputs: Vec::new(),
            decisions: Vec::new(),
            left_out: 0,
        }
    }

    /// A question begins.
    pub fn ask(&mut self, question: Question) {
        self.question = Some((question, (self.clock)()));
        self.numbers.clear();
    }

    /// A number that the rules look at.
    pub fn input(&mut self, number: u64) -> u64 {
        put(&mut self.numbers, number);
        number
    }

    /// What was decided.
    pub fn answer(&mut self, decision: u64) {
        let Some((question, at)) = self.question.take() else {
            return;
        };
        // Numbers take ten bytes at most.
        let bytes = self.inputs.len() + self.numbers.len() + self.decisions.len() + 31;
        if self.left_out > 0 || bytes > self.most {
            self.left_out += 1;
            return;
        }
        self.inputs.push(question.code());
        put(&mut self.inputs, at.saturating_sub(self.last));
        put(&mut self.inputs, self.numbers.len() as u64);
        self.inputs.append(&mut self.numbers);
        put(&mut self.decisions, decision);
        self.last = self.last.max(at);
    }

    /// Something that is no question, for pictures.
    pub fn note(&mut self, what: Question, numbers: &[u64]) {
        self.ask(what);
        for &number in numbers {
            self.input(number);
        }
        self.answer(0);
    }

    /// What it has noted so far.
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

impl Tape for RefCell<Recorder> {
    fn ask(&self, question: Question) {
        self.borrow_mut().ask(question);
    }

    fn input(&self, live: impl FnOnce() -> u64) -> u64 {
        let number = live();
        self.borrow_mut().input(number)
    }

    fn answer(&self, decision: u64) {
        self.borrow_mut().answer(decision);
    }
}

impl<T: Tape> Tape for &T {
    fn ask(&self, question: Question) {
        (**self).ask(question);
    }

    fn input(&self, live: impl FnOnce() -> u64) -> u64 {
        (**self).input(live)
    }

    fn answer(&self, decision: u64) {
        (**self).answer(decision);
    }
}

/// Notes if there is where to.
impl<T: Tape> Tape for Option<T> {
    #[inline]
    fn ask(&self, question: Question) {
        if let Some(tape) = self {
            tape.ask(question);
        }
    }

    #[inline]
    fn input(&self, live: impl FnOnce() -> u64) -> u64 {
        match self {
            Some(tape) => tape.input(live),
            None => live(),
        }
    }

    #[inline]
    fn answer(&self, decision: u64) {
        if let Some(tape) = self {
            tape.answer(decision);
        }
    }
}
