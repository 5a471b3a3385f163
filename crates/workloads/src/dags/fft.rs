//! `fft` as a dag: each level splits the elements, transforms both halves, and combines them.

use super::calls::{Calls, halves};
use crate::fft::Fft;
use tidegate_sim::{Nanos, Step};

/// Elements that are split or combined in 10 ns.
const PASSED: Nanos = 14;

/// Elements that are both split and combined in 10 ns below the cutoff, where they fit into a
/// cache.
const CACHED: Nanos = 12;

/// A call for the given number of elements.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    Transform(usize),
    /// Splits or combines the elements in one pass.
    Pass(usize),
}

impl Calls for Fft {
    type Call = Call;

    fn first(&self) -> Call {
        Call::Transform(self.n)
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        match (call, number) {
            (Call::Transform(n), 0) if n <= self.cutoff => {
                Step::Work(n as Nanos * Nanos::from(n.ilog2()) * 10 / CACHED)
            }
            (Call::Transform(n), 0 | 2) if n > self.cutoff => Step::Call(Call::Pass(n)),
            (Call::Transform(n), 1) if n > self.cutoff => halves(n, Call::Transform),
            (Call::Pass(n), 0) if n <= self.cutoff => Step::Work(n as Nanos * 10 / PASSED),
            (Call::Pass(n), 0) => halves(n, Call::Pass),
            _ => Step::End,
        }
    }
}
