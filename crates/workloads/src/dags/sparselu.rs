//! `sparselu` as a dag: each step has two loops, which spawn one task per nonzero block. The dag
//! computes no matrix elements.

use super::{Calls, CallsDag, Simulated};
use crate::factors::sparselu::{Sparselu, is_filled};
use tidegate_sim::{Nanos, Step};

/// Multiply-subtract operations per 10 ns.
const MULTIPLIED: Nanos = 80;

/// The steps of the factorization, and the time to subtract a product of two blocks.
#[derive(Clone, Debug)]
pub struct Factoring {
    rounds: Vec<Round>,
    product: Nanos,
}

/// A step of the factorization.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The index of the root's first step that belongs to this step.
    first: usize,
    /// How many tasks the first loop spawns: one per nonzero block in the row and column of the
    /// diagonal block.
    solved: usize,
    /// How many tasks the second loop spawns.
    subtracted: usize,
}

#[derive(Clone, Copy, Debug)]
pub enum Call {
    All,
    /// Works on a block for this long.
    Block(Nanos),
}

impl Simulated for Sparselu {
    type Dag = CallsDag<Factoring>;

    fn dag(&self) -> Self::Dag {
        CallsDag(Factoring {
            rounds: rounds(self.blocks),
            product: (self.side as Nanos).pow(3) * 10 / MULTIPLIED,
        })
    }
}

fn rounds(blocks: usize) -> Vec<Round> {
    let row = |row| (0..blocks).map(|column| is_filled(row, column)).collect();
    let mut filled: Vec<Vec<bool>> = (0..blocks).map(row).collect();
    let mut first = 0;
    let round = |step: usize| {
        let rest = step + 1..blocks;
        let below: Vec<_> = rest.clone().filter(|&row| filled[row][step]).collect();
        let right: Vec<_> = rest.filter(|&column| filled[step][column]).collect();
        for &row in &below {
            right.iter().for_each(|&column| filled[row][column] = true);
        }
        let (solved, subtracted) = (below.len() + right.len(), below.len() * right.len());
        let round = Round {
            first,
            solved,
            subtracted,
        };
        // The round also factors the diagonal block and joins both loops.
        first += solved + subtracted + 3;
        round
    };
    (0..blocks).map(round).collect()
}

impl Calls for Factoring {
    type Call = Call;

    fn first(&self) -> Call {
        Call::All
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        let begun = match (call, number) {
            (Call::Block(time), 0) => return Step::Work(time),
            (Call::Block(_), _) => return Step::End,
            (Call::All, _) => self.rounds.partition_point(|round| round.first <= number),
        };
        let Round {
            first,
            solved,
            subtracted,
        } = self.rounds[begun - 1];
        let joined = first + solved + 1;
        match number {
            _ if number == first => Step::Work(self.product / 3),
            _ if number < joined => Step::Spawn(Call::Block(self.product / 2)),
            _ if number == joined => Step::Join,
            _ if number <= joined + subtracted => Step::Spawn(Call::Block(self.product)),
            _ if number == joined + subtracted + 1 => Step::Join,
            _ => Step::End,
        }
    }
}
