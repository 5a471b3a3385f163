//! `memfib` as a dag: each call declares its memory, writes it, gives it back if it holds it no longer, and forks.

use super::Simulated;
use crate::space::memfib::{Hold, Memfib};
use tidegate_sim::{Dag, Step};

/// How many bytes are written in a nanosecond, from a cache.
const BYTES_PER_NANO: u64 = 32;

/// The tasks of `memfib`.
#[derive(Clone, Copy, Debug)]
pub struct MemfibDag {
    n: u32,
    bytes: u64,
    hold: Hold,
}

/// A call, and what it does next.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    n: u32,
    next: Next,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Lease,
    Write,
    Free,
    Fork,
    End,
}

impl Task {
    const fn call(n: u32) -> Self {
        Self {
            n,
            next: Next::Lease,
        }
    }
}

impl Simulated for Memfib {
    type Dag = MemfibDag;

    fn dag(&self) -> MemfibDag {
        MemfibDag {
            n: self.n,
            bytes: self.bytes as u64,
            hold: self.hold,
        }
    }
}

impl Dag for MemfibDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::call(self.n)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match task.next {
            Next::Lease => {
                task.next = Next::Write;
                Step::Lease(self.bytes)
            }
            Next::Write => {
                task.next = match self.hold {
                    Hold::Itself => Next::Free,
                    Hold::Call => Next::Fork,
                };
                Step::Work((self.bytes / BYTES_PER_NANO).max(1))
            }
            Next::Free => {
                task.next = Next::Fork;
                Step::Free
            }
            Next::Fork if task.n < 2 => {
                task.next = Next::End;
                Step::End
            }
            Next::Fork => {
                task.next = Next::End;
                Step::Fork(Task::call(task.n - 1), Task::call(task.n - 2))
            }
            Next::End => Step::End,
        }
    }
}
