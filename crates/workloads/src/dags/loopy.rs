//! `loopy` as a dag: a loop that spawns its subtasks, or joins that halve the range of subtasks.

use super::Simulated;
use crate::loopy::Loopy;
use crate::program::Form;
use crate::steps;
use tidegate_sim::{Dag, Nanos, Step};

/// The dag of the program `loopy`: a loop of equal subtasks.
#[derive(Clone, Copy, Debug)]
pub struct LoopyDag {
    subtasks: usize,
    time: Nanos,
    form: Form,
}

/// What a task does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Spawns the remaining subtasks of the loop.
    Loop {
        left: usize,
    },
    /// Runs this many subtasks with joins that halve the range.
    Halves(usize),
    Over,
}

impl Simulated for Loopy {
    type Dag = LoopyDag;

    fn dag(&self) -> LoopyDag {
        LoopyDag {
            subtasks: self.n,
            time: steps::time(self.steps),
            form: self.form,
        }
    }
}

impl Dag for LoopyDag {
    type Task = Task;

    fn root(&self) -> Task {
        match self.form {
            Form::Spawn => Task::Loop {
                left: self.subtasks,
            },
            Form::Join => Task::Halves(self.subtasks),
        }
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match *task {
            Task::Loop { left: 0 } => {
                *task = Task::Over;
                Step::Join
            }
            Task::Loop { left } => {
                *task = Task::Loop { left: left - 1 };
                Step::Spawn(Task::Halves(1))
            }
            Task::Halves(1) => {
                *task = Task::Over;
                Step::Work(self.time)
            }
            Task::Halves(subtasks) => {
                *task = Task::Over;
                let half = subtasks / 2;
                Step::Fork(Task::Halves(half), Task::Halves(subtasks - half))
            }
            Task::Over => Step::End,
        }
    }
}
