//! `lu` as a dag: each step factors a panel and then updates all later panels. The dag computes no
//! matrix elements.

use super::calls::{Calls, halves};
use crate::factors::lu::Lu;
use tidegate_sim::{Nanos, Step};

/// Multiply-subtract operations per 10 ns.
const MULTIPLIED: Nanos = 52;

#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Factors and updates the panels one after the other.
    All,
    /// Updates later panels. The fields are the number of panels and the number of blocks to update
    /// in each panel.
    Panels(usize, usize),
    /// Updates this many blocks of a later panel.
    Blocks(usize),
    /// Applies the final row exchanges to a range of panels (the end is exclusive).
    Exchanges(usize, usize),
}

impl Lu {
    /// Returns the time to subtract a product of two blocks.
    fn product(&self) -> Nanos {
        (self.side as Nanos).pow(3) * 10 / MULTIPLIED
    }

    /// Returns the time to solve for a block of U.
    fn solve(&self) -> Nanos {
        self.product() / 2
    }

    /// Returns the time to factor a panel of `blocks` blocks.
    fn panel_time(&self, blocks: usize) -> Nanos {
        self.product() / 3 + (blocks - 1) as Nanos * self.solve()
    }

    /// Returns the time to apply the row exchanges of `steps` steps to a panel: 1 ns per element.
    fn exchange_time(&self, steps: usize) -> Nanos {
        steps as Nanos * (self.side as Nanos).pow(2)
    }
}

impl Calls for Lu {
    type Call = Call;

    fn first(&self) -> Call {
        Call::All
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        match (call, number) {
            (Call::All, _) if number < 2 * self.blocks() => {
                let left = self.blocks() - number / 2;
                match number % 2 {
                    0 => Step::Work(self.panel_time(left)),
                    _ if left == 1 => Step::Join,
                    _ => Step::Call(Call::Panels(left - 1, left - 1)),
                }
            }
            (Call::All, _) if number == 2 * self.blocks() => {
                Step::Call(Call::Exchanges(0, self.blocks()))
            }
            (Call::Panels(1, _), 0) => Step::Work(self.exchange_time(1) + self.solve()),
            (Call::Panels(1, blocks), _) => self.step(Call::Blocks(blocks), number - 1),
            (Call::Panels(panels, blocks), 0) => halves(panels, |half| Call::Panels(half, blocks)),
            (Call::Blocks(1), 0) => Step::Work(self.product()),
            (Call::Blocks(blocks), 0) => halves(blocks, Call::Blocks),
            (Call::Exchanges(first, end), 0) if end - first == 1 => {
                Step::Work(self.exchange_time(self.blocks() - end))
            }
            (Call::Exchanges(first, end), 0) => {
                let middle = first + (end - first) / 2;
                Step::Fork(Call::Exchanges(first, middle), Call::Exchanges(middle, end))
            }
            _ => Step::End,
        }
    }
}
