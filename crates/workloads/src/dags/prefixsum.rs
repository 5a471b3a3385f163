//! `prefixsum` as a dag: each of the two passes halves the elements with joins, down to blocks. The
//! dag computes no sums.

use super::Simulated;
use crate::prefixsum::{Prefixsum, half};
use tidegate_sim::{Dag, Nanos, Step};

/// Elements summed in 10 ns by the first pass, which only reads.
const SUMMED: Nanos = 40;

/// Elements written in 10 ns by the second pass; the serial version is equally fast.
const WRITTEN: Nanos = 33;

/// The dag of the program `prefixsum`: two passes that joins halve.
#[derive(Clone, Copy, Debug)]
pub struct PrefixsumDag {
    elements: usize,
    block: usize,
}

/// What a task does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Runs both passes.
    Both,
    /// Runs the second pass.
    Second,
    /// Runs a pass. The fields are the number of elements handled in 10 ns, and the total number of
    /// elements.
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
