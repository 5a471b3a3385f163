//! Block matrix multiplication with one chain of tasks per block of the product.
//!
//! A task multiplies some blocks of a row of A with some blocks of a column of B, adds the products
//! to its block of C, and passes that block to the next task. With `best`, the chains of quadrants
//! 0 and 3 of C stay in one place and those of quadrants 1 and 2 in another. With `worst`, each
//! task runs in a different place from the previous one. From Weibel 2010, section 5.3.3, where
//! matrices of 2048 rows are divided down to blocks of 32.
//!
//! The serial version and the parallel body share the multiplication of blocks and the order of
//! multiplications. In Weibel's version, each product is a separate task, and the products are
//! added afterwards; here they are added as they are computed, which saves the memory for them.
//!
//! The program doesn't pack or tile within a block, so it is slower than a tuned library.

use std::io;

use super::{Hints, Locality};
use crate::matrix::{self, Grid};
use crate::parameter::{Kind::Integer, ParameterError, named, positional};
use crate::program::{Program, parameters, result};
use crate::runtime::Runtime;
use crate::steps::checksum;

/// The largest number of rows for which the product is exact.
const MOST_ROWS: u64 = matrix::most_rows(f32::MANTISSA_DIGITS);

/// The program `blockmatmul`, which multiplies two matrices in blocks.
#[derive(Clone, Copy, Debug)]
pub struct Blockmatmul {
    /// Number of rows and columns: `block` times a power of two.
    pub(crate) n: usize,
    /// Rows per block, which is also the number of columns per block.
    pub(crate) block: usize,
    /// How many pairs of blocks each task multiplies.
    pub(crate) panel: usize,
    /// The seed for the matrices.
    pub(crate) seed: u64,
    /// Where a task runs relative to the task before it.
    pub(crate) locality: Locality,
}

/// The factors A and B, and their product C.
#[derive(Debug)]
pub struct Input {
    a: Vec<f32>,
    b: Vec<f32>,
    c: Vec<f32>,
}

impl Blockmatmul {
    pub(crate) fn grid(&self) -> Grid {
        Grid {
            blocks: self.n / self.block,
            block: self.block,
        }
    }

    /// Returns the number of tasks per chain.
    pub(crate) fn steps(&self) -> usize {
        self.grid().blocks.div_ceil(self.panel)
    }

    /// Runs one task: adds the products of its pairs of blocks to a block of C.
    fn step(&self, (a, b): (&[f32], &[f32]), block: usize, step: usize, c: &mut [f32]) {
        let (grid, (row, column)) = (self.grid(), matrix::place(block));
        let first = step * self.panel;
        for middle in first..(first + self.panel).min(grid.blocks) {
            let a = grid.of(a, matrix::number(row, middle));
            let b = grid.of(b, matrix::number(middle, column));
            grid.multiply(a, b, c);
        }
    }

    /// Returns the rank of a block of C if quadrants 0 and 3 come first, then 1 and 2.
    pub(crate) fn rank(&self, block: usize) -> usize {
        let quarter = self.grid().count() / 4;
        match block.checked_div(quarter) {
            Some(quadrant) => [0, 2, 3, 1][quadrant] * quarter + block % quarter,
            None => block,
        }
    }
}

/// The data that the tasks of a parallel run share.
struct Chains<'a> {
    program: &'a Blockmatmul,
    hints: Hints,
    factors: (&'a [f32], &'a [f32]),
}

impl Chains<'_> {
    fn place(&self, block: usize, step: usize) -> Option<tidegate::PlaceId> {
        let program = self.program;
        let part = (program.rank(block), program.grid().count());
        self.hints.place(part, step, block * program.steps() + step)
    }

    fn spawn<'scope, R: Runtime>(
        &'scope self,
        scope: &R::Scope<'scope>,
        block: usize,
        step: usize,
        c: &'scope mut [f32],
    ) {
        Hints::spawn::<R>(scope, self.place(block, step), move |scope| {
            self.go_on::<R>(scope, block, step, c);
        });
    }

    /// Runs the tasks of a chain, starting with `first`, until the next task must run in another
    /// place.
    fn go_on<'scope, R: Runtime>(
        &'scope self,
        scope: &R::Scope<'scope>,
        block: usize,
        first: usize,
        c: &'scope mut [f32],
    ) {
        for step in first..self.program.steps() {
            if step > first && !Hints::is_here::<R>(self.place(block, step)) {
                return self.spawn::<R>(scope, block, step, c);
            }
            self.program.step(self.factors, block, step, c);
        }
    }
}

impl Program for Blockmatmul {
    const NAME: &'static str = "blockmatmul";
    const SUMMARY: &'static str = "blocked matrix multiplication, one chain of tasks per block";
    parameters! {
        n = positional("n", Integer(1, MOST_ROWS), ["64", "1024", "2048"],
            "rows and columns of the matrices: block times a power of two");
        block = named("block", Integer(1, MOST_ROWS), ["8", "32", "32"],
            "rows and columns of a block");
        panel = named("panel", Integer(1, MOST_ROWS), ["2", "8", "8"],
            "pairs of blocks that a task multiplies");
        locality = Locality::PARAMETER;
        seed = Locality::SEED;
    }
    result! { self, input, () =>
        // All elements are integers, so the cast is exact. One is added so that zeros affect the
        // checksum.
        checksum "hash of the product" = checksum(input.c.iter().map(|element| *element as u64 + 1));
    }
    const SPAWNS: bool = true;

    type Input = Input;
    type Output = ();

    fn check(&self) -> Result<(), ParameterError> {
        let Grid { blocks, block } = self.grid();
        if blocks * block == self.n && blocks.is_power_of_two() {
            return Ok(());
        }
        let expected = format!("block, which is {block}, times a power of two");
        Err(ParameterError::invalid(self.n, "n", expected))
    }

    fn prepare(&self) -> io::Result<Input> {
        Ok(Input {
            a: self.grid().random(self.seed),
            b: self.grid().random(self.seed.wrapping_add(1)),
            c: vec![0.0; self.grid().elements()],
        })
    }

    fn reset(&self, input: &mut Input) {
        input.c.fill(0.0);
    }

    fn serial(&self, Input { a, b, c }: &mut Input) {
        for (block, c) in c.chunks_exact_mut(self.grid().area()).enumerate() {
            (0..self.steps()).for_each(|step| self.step((a, b), block, step, c));
        }
    }

    fn parallel<R: Runtime>(&self, Input { a, b, c }: &mut Input, _: &mut R::Fork<'_>) {
        let chains = Chains {
            program: self,
            hints: Hints::new::<R>(self.locality, self.seed),
            factors: (a, b),
        };
        R::scope(|scope| {
            for (block, c) in c.chunks_exact_mut(self.grid().area()).enumerate() {
                chains.spawn::<R>(scope, block, 0, c);
            }
        });
    }

    fn fits<R: Runtime>(&self, runtime: &R) -> Result<(), ParameterError> {
        self.locality.fits(runtime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(blocks: usize, block: usize, panel: usize) -> Blockmatmul {
        Blockmatmul {
            n: blocks * block,
            block,
            panel,
            seed: 5,
            locality: Locality::Ignorant,
        }
    }

    #[test]
    fn product_elements_match_plain_multiplication() {
        for (blocks, block, panel) in [(1, 3, 1), (2, 2, 1), (4, 3, 3), (8, 1, 100)] {
            let program = program(blocks, block, panel);
            let mut input = program.prepare().unwrap();
            program.serial(&mut input);
            let element = |matrix: &[f32], row: usize, column: usize| {
                let number = matrix::number(row / block, column / block);
                program.grid().of(matrix, number)[row % block * block + column % block]
            };
            let n = blocks * block;
            for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
                let products = |i| element(&input.a, row, i) * element(&input.b, i, column);
                let expected: f32 = (0..n).map(products).sum();
                assert_eq!(element(&input.c, row, column), expected, "{row} {column}");
            }
        }
    }

    #[test]
    fn first_and_last_quadrant_are_neighbours() {
        let ranks: Vec<_> = (0..16).map(|block| program(4, 1, 1).rank(block)).collect();
        assert_eq!(ranks[..4], [0, 1, 2, 3]);
        assert_eq!(ranks[12..], [4, 5, 6, 7]);
        assert_eq!(ranks[4..12], [8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(program(1, 1, 1).rank(0), 0);
    }
}
