//! `prefixsum` as a dag: each of the two passes halves the elements with joins, down to blocks. The
//! dag computes no sums.

use super::Calls;
use crate::prefixsum::{Prefixsum, half};
use tidegate_sim::{Nanos, Step};

/// Elements summed in 10 ns by the first pass, which only reads.
const SUMMED: Nanos = 40;

/// Elements written in 10 ns by the second pass; the serial version is equally fast.
const WRITTEN: Nanos = 33;

#[derive(Clone, Copy, Debug)]
pub enum Call {
    All,
    /// Runs a pass. The fields are the number of elements handled in 10 ns, and the total number of
    /// elements.
    Pass(Nanos, usize),
}

impl Calls for Prefixsum {
    type Call = Call;

    fn first(&self) -> Call {
        Call::All
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        match (call, number) {
            (Call::All, 0) => Step::Call(Call::Pass(SUMMED, self.n)),
            (Call::All, 1) => Step::Call(Call::Pass(WRITTEN, self.n)),
            (Call::Pass(speed, elements), 0) if elements <= self.block => {
                Step::Work((elements as Nanos * 10).div_ceil(speed))
            }
            (Call::Pass(speed, elements), 0) => {
                let (_, left) = half(elements, self.block);
                Step::Fork(Call::Pass(speed, left), Call::Pass(speed, elements - left))
            }
            _ => Step::End,
        }
    }
}
