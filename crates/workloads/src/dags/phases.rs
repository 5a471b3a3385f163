//! `phases` as a dag: each round waits, works serially, and runs tasks in parallel with joins that
//! halve the range.

use super::Simulated;
use crate::phases::{First, Phases};
use crate::steps;
use tidegate_sim::{Dag, Nanos, Step};

const MILLISECOND: Nanos = 1_000_000;

/// The dag of the program `phases`: serial work, a wait and parallel tasks in each round.
#[derive(Clone, Copy, Debug)]
pub struct PhasesDag {
    rounds: u64,
    /// How long each serial phase waits.
    rest: Nanos,
    /// How long each serial phase computes.
    serial: Nanos,
    /// How long each task of a parallel phase takes.
    task: Nanos,
    tasks: u64,
    first: First,
}

/// What a task does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Runs this many rounds.
    Rounds(u64),
    /// Continues a round at the part with this index (the second field). The first field is the
    /// number of rounds left after this round.
    Round(u64, usize),
    /// Runs this many tasks of a parallel phase.
    Among(u64),
    Over,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Rest,
    Serial,
    Parallel,
}

impl Simulated for Phases {
    type Dag = PhasesDag;

    fn dag(&self) -> PhasesDag {
        PhasesDag {
            rounds: self.rounds,
            rest: self.wait * MILLISECOND,
            serial: steps::time(self.serial),
            task: steps::time(self.parallel / self.tasks),
            tasks: self.tasks,
            first: self.first,
        }
    }
}

impl PhasesDag {
    const fn parts(&self) -> [Part; 3] {
        match self.first {
            First::Serial => [Part::Rest, Part::Serial, Part::Parallel],
            First::Parallel => [Part::Parallel, Part::Rest, Part::Serial],
        }
    }

    /// Begins the part with the index `part`. `left` is the number of rounds left after this round.
    const fn part(&self, task: &mut Task, left: u64, part: usize) -> Step<Task> {
        *task = match part {
            2 => Task::Rounds(left),
            _ => Task::Round(left, part + 1),
        };
        self.step(self.parts()[part])
    }

    const fn step(&self, part: Part) -> Step<Task> {
        match part {
            // A rest of zero length must be skipped, because it would still let other workers take
            // the task.
            Part::Rest if self.rest == 0 => Step::Join,
            Part::Rest => Step::Rest(self.rest),
            Part::Serial => Step::Work(self.serial),
            Part::Parallel => Step::Call(Task::Among(self.tasks)),
        }
    }
}

impl Dag for PhasesDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Rounds(self.rounds)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match *task {
            Task::Rounds(0) | Task::Over => Step::End,
            Task::Rounds(left) => self.part(task, left - 1, 0),
            Task::Round(left, part) => self.part(task, left, part),
            Task::Among(1) => {
                *task = Task::Over;
                Step::Work(self.task)
            }
            Task::Among(tasks) => {
                *task = Task::Over;
                let half = tasks / 2;
                Step::Fork(Task::Among(half), Task::Among(tasks - half))
            }
        }
    }
}
