//! `cholesky` as a dag. The recursion skips squares that are zero in the factor. The dag computes
//! no matrix elements.

use super::Simulated;
use crate::factors::cholesky::{Cholesky, SIDE};
use crate::matrix;
use tidegate_sim::{Dag, Nanos, Step};

/// Time to factor a block, in nanoseconds.
const FACTOR: Nanos = 490;

/// Time to divide a block by a triangular block, in nanoseconds.
const DIVIDE: Nanos = 320;

/// Time to subtract the product of two blocks, in nanoseconds.
const SUBTRACT: Nanos = 375;

/// The dag of the program `cholesky`: a recursion into quadrants.
#[derive(Clone, Debug)]
pub struct CholeskyDag {
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

/// What a task does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Factors a square in four steps. The number is the index of the next step.
    Factor(Square, usize),
    /// Divides a square by the triangle above it.
    Divide(Square),
    /// Divides the upper or lower half of a square in three steps. The fields are the left and
    /// right quadrants of that half and the index of the next step.
    Half(Square, Square, usize),
    /// Subtracts a product of two squares from a square. Both factors begin at the given column.
    /// The first begins at the square's row, the second at the row whose number is the square's
    /// column.
    Subtract(Square, usize),
    /// Like `Subtract`, but only for two of the square's quadrants: the quadrant whose index is in
    /// the last field, and the next one.
    Pair(Square, usize, usize),
    /// Subtracts two products from a quadrant, one after the other. The last field is the index of
    /// the next product.
    Quadrant(Square, usize, usize),
    Over,
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
    type Dag = CholeskyDag;

    fn dag(&self) -> CholeskyDag {
        let blocks = self.n / SIDE;
        let filled = filled(self, blocks);
        let mut before = vec![0];
        for block in 0..blocks * blocks {
            let (row, column) = matrix::place(block);
            before.push(before[block] + usize::from(filled[row][column]));
        }
        CholeskyDag { blocks, before }
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

impl CholeskyDag {
    fn is_zero(&self, square: Square) -> bool {
        let first = matrix::number(square.row, square.column);
        self.before[first] == self.before[first + square.blocks * square.blocks]
    }

    fn factor(&self, square: Square, part: usize, task: &mut Task) -> Step<Task> {
        let [first, below, last] = [0, 2, 3].map(|number| square.quadrant(number));
        *task = match part {
            3 => Task::Over,
            _ => Task::Factor(square, part + 1),
        };
        match part {
            0 if self.is_zero(below) => {
                *task = Task::Over;
                Step::Fork(Task::Factor(first, 0), Task::Factor(last, 0))
            }
            0 => Step::Call(Task::Factor(first, 0)),
            1 => Step::Call(Task::Divide(below)),
            2 => Step::Call(Task::Subtract(last, first.column)),
            _ => Step::Call(Task::Factor(last, 0)),
        }
    }

    fn divide(&self, square: Square, task: &mut Task) -> Step<Task> {
        *task = Task::Over;
        if self.is_zero(square) {
            return Step::End;
        }
        if square.blocks == 1 {
            return Step::Work(DIVIDE);
        }
        let [a, b, c, d] = [0, 1, 2, 3].map(|number| square.quadrant(number));
        Step::Fork(Task::Half(a, b, 0), Task::Half(c, d, 0))
    }

    fn subtract(&self, square: Square, column: usize, task: &mut Task) -> Step<Task> {
        *task = Task::Over;
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
        Step::Fork(Task::Pair(square, column, 0), Task::Pair(square, column, 2))
    }
}

impl Dag for CholeskyDag {
    type Task = Task;

    fn root(&self) -> Task {
        let whole = Square {
            row: 0,
            column: 0,
            blocks: self.blocks,
        };
        Task::Factor(whole, 0)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match *task {
            Task::Factor(square, _) if square.blocks == 1 => {
                *task = Task::Over;
                Step::Work(FACTOR)
            }
            Task::Factor(square, part) => self.factor(square, part, task),
            Task::Divide(square) => self.divide(square, task),
            Task::Half(left, right, part) => {
                *task = match part {
                    2 => Task::Over,
                    _ => Task::Half(left, right, part + 1),
                };
                Step::Call(match part {
                    0 => Task::Divide(left),
                    1 => Task::Subtract(right, left.column),
                    _ => Task::Divide(right),
                })
            }
            Task::Subtract(square, column) => self.subtract(square, column, task),
            Task::Pair(square, column, first) => {
                *task = Task::Over;
                let [one, other] = [first, first + 1]
                    .map(|number| Task::Quadrant(square.quadrant(number), column, 0));
                Step::Fork(one, other)
            }
            // Squares above the diagonal are not stored.
            Task::Quadrant(square, ..) if square.column > square.row => Step::End,
            Task::Quadrant(square, column, part) => {
                *task = match part {
                    0 => Task::Quadrant(square, column, 1),
                    _ => Task::Over,
                };
                Step::Call(Task::Subtract(square, column + part * square.blocks))
            }
            Task::Over => Step::End,
        }
    }
}
