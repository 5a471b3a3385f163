//! `prefixsum` as a dag: in each of two passes, joins halve the elements down to blocks. The dag
//! computes no numbers.

use super::Simulated;
use crate::prefixsum::{Prefixsum, half};
use tidegate_sim::{Dag, Nanos, Step};

/// Elements that the first pass adds up in 10 ns. This pass only reads.
const SUMMED: Nanos = 40;

/// Elements that the second pass writes in 10 ns. The serial version takes as long.
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
    /// The second pass.
    Second,
    /// A pass: how many elements it handles in 10 ns, and how many elements there are.
    Pass(Nanos, usize),
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
