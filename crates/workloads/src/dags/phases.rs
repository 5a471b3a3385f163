//! `phases` as a dag: each round waits, works serially, and runs tasks in parallel with joins that
//! halve the range.

use super::calls::{Calls, halves};
use crate::phases::{First, Phases};
use crate::steps;
use tidegate_sim::{Nanos, Step};

const MILLISECOND: Nanos = 1_000_000;

#[derive(Clone, Copy, Debug)]
pub enum Call {
    Rounds,
    /// Runs this many tasks of a parallel phase.
    Among(usize),
}

impl Calls for Phases {
    type Call = Call;

    fn first(&self) -> Call {
        Call::Rounds
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        // A round waits, then works serially, then runs its tasks; or it runs the tasks first.
        let offset = match self.first {
            First::Serial => 0,
            First::Parallel => 2,
        };
        match (call, number) {
            (Call::Rounds, _) if number as u64 / 3 < self.rounds => match (number + offset) % 3 {
                // A rest of zero length must be skipped, because it would still let other workers
                // take the task.
                0 if self.wait == 0 => Step::Join,
                0 => Step::Rest(self.wait * MILLISECOND),
                1 => Step::Work(steps::time(self.serial)),
                _ => Step::Call(Call::Among(self.tasks as usize)),
            },
            (Call::Among(1), 0) => Step::Work(steps::time(self.parallel / self.tasks)),
            (Call::Among(tasks), 0) => halves(tasks, Call::Among),
            _ => Step::End,
        }
    }
}
