//! `phases` as a dag: each round waits, works serially, and runs tasks in parallel with joins that
//! halve the range.

use super::{Calls, CallsDag, Simulated};
use crate::phases::{First, Phases};
use crate::steps;
use tidegate_sim::{Nanos, Step};

const MILLISECOND: Nanos = 1_000_000;

#[derive(Clone, Copy, Debug)]
pub enum Call {
    Rounds,
    /// Runs this many tasks of a parallel phase.
    Among(u64),
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Rest,
    Serial,
    Parallel,
}

impl Simulated for Phases {
    type Dag = CallsDag<Self>;

    fn dag(&self) -> CallsDag<Self> {
        CallsDag(*self)
    }
}

impl Calls for Phases {
    type Call = Call;

    fn first(&self) -> Call {
        Call::Rounds
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        let parts = match self.first {
            First::Serial => [Part::Rest, Part::Serial, Part::Parallel],
            First::Parallel => [Part::Parallel, Part::Rest, Part::Serial],
        };
        match (call, number) {
            (Call::Rounds, _) if number as u64 / 3 < self.rounds => match parts[number % 3] {
                // A rest of zero length must be skipped, because it would still let other workers
                // take the task.
                Part::Rest if self.wait == 0 => Step::Join,
                Part::Rest => Step::Rest(self.wait * MILLISECOND),
                Part::Serial => Step::Work(steps::time(self.serial)),
                Part::Parallel => Step::Call(Call::Among(self.tasks)),
            },
            (Call::Among(1), 0) => Step::Work(steps::time(self.parallel / self.tasks)),
            (Call::Among(tasks), 0) => {
                let half = tasks / 2;
                Step::Fork(Call::Among(half), Call::Among(tasks - half))
            }
            _ => Step::End,
        }
    }
}
