//! `fib` as a dag: each call forks, except at the leaves.

use super::Simulated;
use crate::fib::Fib;
use tidegate_sim::{Dag, Step};

/// Time per call, excluding its children, in nanoseconds; the measured time was 0.76 ns.
const CALL: u64 = 1;

/// The dag of the program `fib`: each call forks, except at the leaves.
#[derive(Clone, Copy, Debug)]
pub struct FibDag {
    n: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Task {
    n: u32,
    next: Next,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Work,
    Fork,
    End,
}

impl Task {
    const fn call(n: u32) -> Self {
        Self {
            n,
            next: Next::Work,
        }
    }
}

impl Simulated for Fib {
    type Dag = FibDag;

    fn dag(&self) -> FibDag {
        FibDag { n: self.n }
    }
}

impl Dag for FibDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::call(self.n)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match task.next {
            Next::Work => {
                task.next = if task.n < 2 { Next::End } else { Next::Fork };
                Step::Work(CALL)
            }
            Next::Fork => {
                task.next = Next::End;
                Step::Fork(Task::call(task.n - 1), Task::call(task.n - 2))
            }
            Next::End => Step::End,
        }
    }
}
