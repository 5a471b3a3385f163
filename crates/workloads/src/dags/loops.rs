//! `loops` as a dag: loops run one after the other, and joins halve the items of each loop.

use super::Simulated;
use crate::loops::Loops;
use crate::runtime::HALVING_GRAIN;
use tidegate_sim::{Dag, Nanos, Step};

/// Items handled per nanosecond.
const ITEMS_PER_NANO: usize = 8;

/// The dag of the program `loops`: loops that joins halve.
#[derive(Clone, Copy, Debug)]
pub struct LoopsDag {
    items: usize,
    times: u32,
}

/// What a task does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Runs this many loops, one after the other.
    Loops(u32),
    /// Handles this many items of a loop.
    Items(usize),
    Over,
}

impl Simulated for Loops {
    type Dag = LoopsDag;

    fn dag(&self) -> LoopsDag {
        LoopsDag {
            items: self.items,
            times: self.times,
        }
    }
}

impl Dag for LoopsDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Loops(self.times)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match *task {
            Task::Loops(0) | Task::Over => Step::End,
            Task::Loops(times) => {
                *task = Task::Loops(times - 1);
                Step::Call(Task::Items(self.items))
            }
            Task::Items(items) if items <= HALVING_GRAIN => {
                *task = Task::Over;
                Step::Work(items.div_ceil(ITEMS_PER_NANO) as Nanos)
            }
            Task::Items(items) => {
                *task = Task::Over;
                let half = items / 2;
                Step::Fork(Task::Items(half), Task::Items(items - half))
            }
        }
    }
}
