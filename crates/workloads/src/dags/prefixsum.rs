//! `prefixsum` as a dag: the elements are halved by joins down to blocks, twice; no numbers.

use super::Simulated;
use crate::prefixsum::{Prefixsum, half};
use tidegate_sim::{Dag, Nanos, Step};

/// Elements that the first pass adds up in ten nanoseconds: it only reads.
const SUMMED: Nanos = 40;

/// Those that the second pass writes, as the serial version does.
const WRITTEN: Nanos = 33;

/// The tasks of `prefixsum`.
#[derive(Clone, Copy, Debug)]
pub struct PrefixsumDag {
    elements: usize,
    block: usize,
}

/// A task and what it does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Both passes.
    Both,
    /// The second one of them.
    Second,
    /// A pass that does so many elements in ten nanoseconds, over so many.
    Pass(Nanos, usize),
    /// Is over.
    Over,
}

impl Simulated for Prefixsum {
    type Dag = PrefixsumDag;

    fn dag(&self) -> PrefixsumDag {
        PrefixsumDag {
            elements: self.n,
            block: self.block,
        }
    }
}

impl Dag for PrefixsumDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Both
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match *task {
            Task::Both => {
                *task = Task::Second;
                Step::Call(Task::Pass(SUMMED, self.elements))
            }
            Task::Second => {
                *task = Task::Over;
                Step::Call(Task::Pass(WRITTEN, self.elements))
            }
            Task::Pass(speed, elements) if elements <= self.block => {
                *task = Task::Over;
                Step::Work((elements as Nanos * 10).div_ceil(speed))
            }
            Task::Pass(speed, elements) => {
                *task = Task::Over;
                let (_, left) = half(elements, self.block);
                let right = elements - left;
                Step::Fork(Task::Pass(speed, left), Task::Pass(speed, right))
            }
            Task::Over => Step::End,
        }
    }
}
