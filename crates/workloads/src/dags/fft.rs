//! `fft` as a dag: each level splits the elements, transforms both halves, and combines them.

use super::Simulated;
use crate::fft::Fft;
use tidegate_sim::{Dag, Nanos, Step};

/// Elements that are split or combined in 10 ns.
const PASSED: Nanos = 14;

/// Elements that are both split and combined in 10 ns below the cutoff, where they fit into a
/// cache.
const CACHED: Nanos = 12;

/// The dag of the program `fft`: a recursion with two parallel passes at each level.
#[derive(Clone, Copy, Debug)]
pub struct FftDag {
    n: usize,
    cutoff: usize,
}

/// What a task does next with the given number of elements.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Transforms the elements.
    Transform(usize),
    /// Transforms both halves, after the elements have been split.
    Parted(usize),
    /// Combines the transformed halves.
    Transformed(usize),
    /// Splits or combines the elements in one pass.
    Pass(usize),
    Over,
}

impl Simulated for Fft {
    type Dag = FftDag;

    fn dag(&self) -> FftDag {
        FftDag {
            n: self.n,
            cutoff: self.cutoff,
        }
    }
}

impl Dag for FftDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Transform(self.n)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match *task {
            Task::Transform(n) if n <= self.cutoff => {
                *task = Task::Over;
                Step::Work(n as Nanos * Nanos::from(n.ilog2()) * 10 / CACHED)
            }
            Task::Transform(n) => {
                *task = Task::Parted(n);
                Step::Call(Task::Pass(n))
            }
            Task::Parted(n) => {
                *task = Task::Transformed(n);
                Step::Fork(Task::Transform(n / 2), Task::Transform(n / 2))
            }
            Task::Transformed(n) => {
                *task = Task::Over;
                Step::Call(Task::Pass(n))
            }
            Task::Pass(n) if n <= self.cutoff => {
                *task = Task::Over;
                Step::Work(n as Nanos * 10 / PASSED)
            }
            Task::Pass(n) => {
                *task = Task::Over;
                Step::Fork(Task::Pass(n / 2), Task::Pass(n / 2))
            }
            Task::Over => Step::End,
        }
    }
}
