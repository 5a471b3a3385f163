//! `phases` as a dag: each round rests, works serially, and calls a range of tasks that joins
//! halve.

use super::Simulated;
use crate::phases::{First, Phases};
use crate::steps;
use tidegate_sim::{Dag, Nanos, Step};

const MILLISECOND: Nanos = 1_000_000;

/// The tasks of `phases`.
#[derive(Clone, Copy, Debug)]
pub struct PhasesDag {
    rounds: u64,
    /// How long a serial phase rests, and how long it works.
    rest: Nanos,
    serial: Nanos,
    /// How long each task of a parallel phase takes, and how many tasks the phase has.
    task: Nanos,
    tasks: u64,
    first: First,
}

/// A task and what it does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// This many rounds are left.
    Rounds(u64),
    /// A round that starts partway: the number of rounds left after it, and the index of its first
    /// part.
    Round(u64, usize),
    /// Runs this many tasks of a parallel phase.
    Among(u64),
    Over,
}

/// A part of a round.
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

    /// Begins this part of a round, with `left` rounds left after it.
    const fn part(&self, task: &mut Task, left: u64, part: usize) -> Step<Task> {
        *task = match part {
            2 => Task::Rounds(left),
            _ => Task::Round(left, part + 1),
        };
        self.step(self.parts()[part])
    }

    const fn step(&self, part: Part) -> Step<Task> {
        match part {
            // A rest of zero length is skipped, because it would still make the task available to
            // other workers.
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
