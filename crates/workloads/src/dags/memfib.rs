//! `memfib` as a dag. A call that holds memory reserves it and writes to it. With `hold itself`,
//! the call then frees the memory before it makes further calls. Each call forks, except at the
//! leaves.

use super::Simulated;
use crate::memory::memfib::{Call, Hold, Memfib};
use tidegate_sim::{Dag, Step};

/// Bytes written per nanosecond to memory that is in a cache.
const BYTES_PER_NANO: u64 = 32;

/// The dag of the program `memfib`: calls that reserve memory and fork.
#[derive(Clone, Copy, Debug)]
pub struct MemfibDag {
    n: u32,
    bytes: u64,
    hold: Hold,
    mix: f64,
}

#[derive(Clone, Copy, Debug)]
pub struct Task {
    call: Call,
    holds: bool,
    next: Next,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Reservation,
    Write,
    Free,
    Fork,
    End,
}

impl MemfibDag {
    fn task(&self, call: Call) -> Task {
        let holds = call.holds(self.mix);
        Task {
            call,
            holds,
            next: if holds {
                Next::Reservation
            } else {
                Next::Write
            },
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
            mix: self.mix,
        }
    }
}

impl Dag for MemfibDag {
    type Task = Task;

    fn root(&self) -> Task {
        self.task(Call::first(self.n))
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match task.next {
            Next::Reservation => {
                task.next = Next::Write;
                Step::Reservation(self.bytes)
            }
            Next::Write => {
                task.next = match self.hold {
                    Hold::Itself if task.holds => Next::Free,
                    Hold::Itself | Hold::Call => Next::Fork,
                };
                Step::Work((self.bytes / BYTES_PER_NANO).max(1))
            }
            Next::Free => {
                task.next = Next::Fork;
                Step::Free
            }
            Next::Fork if task.call.n < 2 => {
                task.next = Next::End;
                Step::End
            }
            Next::Fork => {
                task.next = Next::End;
                let [first, second] = task.call.calls().map(|call| self.task(call));
                Step::Fork(first, second)
            }
            Next::End => Step::End,
        }
    }
}
