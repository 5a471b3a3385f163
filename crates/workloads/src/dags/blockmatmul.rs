//! `blockmatmul` as a dag: each step of a chain drafts the next step but doesn't wait for it to
//! end.

use super::Calls;
use crate::locality::blockmatmul::Blockmatmul;
use crate::matrix;
use tidegate_sim::{Draft, Place, Step, Touch};

/// Multiply-add operations per nanosecond.
const A_NANOSECOND: u64 = 8;

#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Drafts the first step of each block's chain.
    All,
    /// A step of the chain of a block of C. The second field is the step's first pair of blocks.
    Chain(usize, usize),
}

impl Blockmatmul {
    /// Returns the draft name of the step that contains this pair.
    fn name(&self, block: usize, pair: usize) -> u64 {
        (block * self.steps() + pair / self.panel) as u64
    }

    fn draft(&self, block: usize, pair: usize, place: Place) -> Step<Call> {
        let name = self.name(block, pair);
        let step = pair / self.panel;
        let part = (self.rank(block), self.grid().count());
        Step::Draft(Draft {
            task: Call::Chain(block, pair),
            name,
            releases: u32::from(step > 0),
            place,
            put: self.locality.put(self.seed, part, step, name),
        })
    }

    fn touch(&self, matrix: usize, block: usize, writes: bool) -> Step<Call> {
        Step::Touch(Touch {
            name: (matrix * self.grid().count() + block) as u64,
            bytes: (self.grid().area() * size_of::<f32>()) as u64,
            writes,
        })
    }

    /// Reads the two blocks of a pair, then multiplies them.
    fn multiply(&self, block: usize, pair: usize, part: usize) -> Step<Call> {
        let (row, column) = matrix::place(block);
        match part {
            0 => self.touch(0, matrix::number(row, pair), false),
            1 => self.touch(1, matrix::number(pair, column), false),
            _ => Step::Work((self.grid().area() * self.grid().block) as u64 / A_NANOSECOND),
        }
    }
}

impl Calls for Blockmatmul {
    type Call = Call;

    fn first(&self) -> Call {
        Call::All
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        let (block, first) = match call {
            Call::All if number < self.grid().count() => {
                return self.draft(number, 0, Place::Inside);
            }
            Call::All if number == self.grid().count() => return Step::Join,
            Call::All => return Step::End,
            Call::Chain(block, first) => (block, first),
        };
        let end = (first + self.panel).min(self.grid().blocks);
        let multiplied = 3 * (end - first);
        match number {
            _ if number < multiplied => self.multiply(block, first + number / 3, number % 3),
            _ if number == multiplied => self.touch(2, block, true),
            // The next step of the chain may run when this one ends.
            _ if number == multiplied + 1 && end < self.grid().blocks => {
                self.draft(block, end, Place::Beside)
            }
            _ if number == multiplied + 2 && end < self.grid().blocks => {
                Step::Release(self.name(block, end))
            }
            _ => Step::End,
        }
    }
}
