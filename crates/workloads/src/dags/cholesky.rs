//! `cholesky` as a dag. The recursion skips squares that are zero in the factor. The dag computes
//! no matrix elements.

use super::{Calls, CallsDag, Simulated};
use crate::factors::cholesky::{Cholesky, SIDE};
use crate::matrix;
use tidegate_sim::{Nanos, Step};

/// Time to factor a block, in nanoseconds.
const FACTOR: Nanos = 490;

/// Time to divide a block by a triangular block, in nanoseconds.
const DIVIDE: Nanos = 320;

/// Time to subtract the product of two blocks, in nanoseconds.
const SUBTRACT: Nanos = 375;

/// Which squares of the factor are zero.
#[derive(Clone, Debug)]
pub struct Zeros {
    blocks: usize,
    /// For each `i`, the number of blocks among the first `i` (in the order of `matrix`) that are
    /// nonzero in the factor.
    before: Vec<usize>,
}

/// A square part of the matrix. Its position and size are in blocks.
#[derive(Clone, Copy, Debug)]
pub struct Square {
    row: usize,
    column: usize,
    blocks: usize,
}

#[derive(Clone, Copy, Debug)]
pub enum Call {
    Factor(Square),
    /// Divides a square by the triangle above it.
    Divide(Square),
    /// Divides the upper or lower half of a square. The fields are the left and right quadrants of
    /// that half.
    Half(Square, Square),
    /// Subtracts a product of two squares from a square. Both factors begin at the given column.
    /// The first begins at the square's row, the second at the row whose number is the square's
    /// column.
    Subtract(Square, usize),
    /// Like `Subtract`, but only for two of the square's quadrants: the quadrant whose index is in
    /// the last field, and the next one.
    Pair(Square, usize, usize),
    /// Subtracts two products from a quadrant, one after the other.
    Quadrant(Square, usize),
}

impl Square {
    const fn quadrant(self, number: usize) -> Self {
        let half = self.blocks / 2;
        Self {
            row: self.row + number / 2 * half,
            column: self.column + number % 2 * half,
            blocks: half,
        }
    }
}

impl Simulated for Cholesky {
    type Dag = CallsDag<Zeros>;

    fn dag(&self) -> Self::Dag {
        let blocks = self.n / SIDE;
        let filled = filled(self, blocks);
        let mut before = vec![0];
        for block in 0..blocks * blocks {
            let (row, column) = matrix::place(block);
            before.push(before[block] + usize::from(filled[row][column]));
        }
        CallsDag(Zeros { blocks, before })
    }
}

/// Returns which blocks of the factor are nonzero, indexed by row and column.
fn filled(program: &Cholesky, blocks: usize) -> Vec<Vec<bool>> {
    let mut filled = vec![vec![false; blocks]; blocks];
    (0..blocks).for_each(|k| filled[k][k] = true);
    for (row, column) in program.places() {
        filled[row / SIDE][column / SIDE] = true;
    }
    for k in 0..blocks {
        let rows: Vec<_> = (k + 1..blocks).filter(|&row| filled[row][k]).collect();
        for (number, &row) in rows.iter().enumerate() {
            rows[..number]
                .iter()
                .for_each(|&column| filled[row][column] = true);
        }
    }
    filled
}

impl Zeros {
    fn is_zero(&self, square: Square) -> bool {
        let first = matrix::number(square.row, square.column);
        self.before[first] == self.before[first + square.blocks * square.blocks]
    }

    fn factor(&self, square: Square, number: usize) -> Step<Call> {
        let [first, below, last] = [0, 2, 3].map(|number| square.quadrant(number));
        match number {
            0 if self.is_zero(below) => Step::Fork(Call::Factor(first), Call::Factor(last)),
            _ if self.is_zero(below) => Step::End,
            0 => Step::Call(Call::Factor(first)),
            1 => Step::Call(Call::Divide(below)),
            2 => Step::Call(Call::Subtract(last, first.column)),
            3 => Step::Call(Call::Factor(last)),
            _ => Step::End,
        }
    }

    fn divide(&self, square: Square) -> Step<Call> {
        if self.is_zero(square) {
            return Step::End;
        }
        if square.blocks == 1 {
            return Step::Work(DIVIDE);
        }
        let [a, b, c, d] = [0, 1, 2, 3].map(|number| square.quadrant(number));
        Step::Fork(Call::Half(a, b), Call::Half(c, d))
    }

    fn subtract(&self, square: Square, column: usize) -> Step<Call> {
        let factors = [square.row, square.column].map(|row| Square {
            row,
            column,
            ..square
        });
        if factors.into_iter().any(|factor| self.is_zero(factor)) {
            return Step::End;
        }
        if square.blocks == 1 {
            return Step::Work(SUBTRACT);
        }
        Step::Fork(Call::Pair(square, column, 0), Call::Pair(square, column, 2))
    }
}

impl Calls for Zeros {
    type Call = Call;

    fn first(&self) -> Call {
        Call::Factor(Square {
            row: 0,
            column: 0,
            blocks: self.blocks,
        })
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        match (call, number) {
            (Call::Factor(square), 0) if square.blocks == 1 => Step::Work(FACTOR),
            (Call::Factor(square), _) if square.blocks > 1 => self.factor(square, number),
            (Call::Divide(square), 0) => self.divide(square),
            (Call::Half(left, _), 0) => Step::Call(Call::Divide(left)),
            (Call::Half(left, right), 1) => Step::Call(Call::Subtract(right, left.column)),
            (Call::Half(_, right), 2) => Step::Call(Call::Divide(right)),
            (Call::Subtract(square, column), 0) => self.subtract(square, column),
            (Call::Pair(square, column, first), 0) => {
                let [one, other] = [first, first + 1]
                    .map(|number| Call::Quadrant(square.quadrant(number), column));
                Step::Fork(one, other)
            }
            // Squares above the diagonal are not stored.
            (Call::Quadrant(square, column), 0 | 1) if square.column <= square.row => {
                Step::Call(Call::Subtract(square, column + number * square.blocks))
            }
            _ => Step::End,
        }
    }
}
