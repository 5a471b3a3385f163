//! `loopy` as a dag: a loop that spawns its subtasks, or joins that halve the range of subtasks.

use super::calls::{Calls, halves};
use crate::loopy::Loopy;
use crate::program::Form;
use crate::steps;
use tidegate_sim::Step;

#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Spawns the subtasks.
    Loop,
    /// Runs this many subtasks with joins that halve the range.
    Halves(usize),
}

impl Calls for Loopy {
    type Call = Call;

    fn first(&self) -> Call {
        match self.form {
            Form::Spawn => Call::Loop,
            Form::Join => Call::Halves(self.n),
        }
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        match (call, number) {
            (Call::Loop, _) if number < self.n => Step::Spawn(Call::Halves(1)),
            (Call::Loop, _) if number == self.n => Step::Join,
            (Call::Halves(1), 0) => Step::Work(steps::time(self.steps)),
            (Call::Halves(subtasks), 0) => halves(subtasks, Call::Halves),
            _ => Step::End,
        }
    }
}
