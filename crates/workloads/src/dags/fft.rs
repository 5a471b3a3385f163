//! `fft` as a dag: each level splits the elements, transforms both halves, and combines them.

use super::{Calls, CallsDag, Simulated};
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

impl Simulated for Fft {
    type Dag = CallsDag<Self>;

    fn dag(&self) -> CallsDag<Self> {
        CallsDag(*self)
    }
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
            (Call::Transform(n), 1) if n > self.cutoff => {
                Step::Fork(Call::Transform(n / 2), Call::Transform(n / 2))
            }
            (Call::Pass(n), 0) if n <= self.cutoff => Step::Work(n as Nanos * 10 / PASSED),
            (Call::Pass(n), 0) => Step::Fork(Call::Pass(n / 2), Call::Pass(n / 2)),
            _ => Step::End,
        }
    }
}
