//! LU factorization of a sparse matrix stored as a square of blocks, without pivoting.
//!
//! Step k serially factors the diagonal block of row k. A first loop then spawns a task for each
//! nonzero block to the right of the diagonal block or below it; the task solves for its block. A
//! second loop spawns a task for each pair of a block to the right and a block below. The task
//! multiplies the pair and subtracts the product from the block in the row of the lower block and
//! the column of the right block. If that block was zero, the task creates it. Tasks don't spawn
//! other tasks, so all of them come from one worker.
//!
//! The program is from the Barcelona OpenMP Tasks Suite, with its matrix of 50 by 50 blocks of 100
//! rows (Alejandro Duran, Xavier Teruel, Roger Ferrer, Xavier Martorell and Eduard Ayguadé,
//! Barcelona OpenMP Tasks Suite, ICPP 2009). Adnan and Mitsuhisa Sato use it in Dynamic Multiple
//! Work Stealing Strategy for Flexible Load Balancing, 2012. The suite accepts results that differ
//! from the serial version's by a millionth; ours are identical.
//!
//! A loop doesn't begin before all tasks of the previous loop have ended.

use std::io;

use super::{FACTORED, Placed, block, entries, factored, triangles};
use crate::parameter::{Kind::Integer, named, positional};
use crate::program::{Answer, Field, Program, parameters};
use crate::runtime::{Runtime, Serial};

/// The program `sparselu`, which factors a sparse matrix in blocks.
#[derive(Clone, Copy, Debug)]
pub struct Sparselu {
    /// Blocks per row.
    pub blocks: usize,
    /// Rows per block, which is also the number of columns per block.
    pub side: usize,
}

/// The elements of a block, or `None` if all are zero.
type Block = Option<Box<[f32]>>;

/// The blocks of the matrix, row by row, and a copy from which to restore them.
#[derive(Debug)]
pub struct Input {
    original: Vec<Block>,
    blocks: Vec<Block>,
}

/// Whether the block at this row and column is nonzero in the suite's matrix.
pub(crate) const fn is_filled(row: usize, column: usize) -> bool {
    let distance = row.abs_diff(column);
    let less = if row < column { row } else { column };
    distance < 2 || row % 2 == 0 && column % 2 == 0 && less % 3 == 0
}

impl Sparselu {
    const fn area(&self) -> usize {
        self.side * self.side
    }

    /// Returns the suite's matrix. One pseudorandom sequence fills the blocks, one after the other.
    fn matrix(&self) -> Vec<Block> {
        let mut state = 1325;
        let mut element = || {
            state = 3125 * state % 65536;
            (state - 32768) as f32 / 16384.0
        };
        let mut block = |place: usize| {
            let filled = is_filled(place / self.blocks, place % self.blocks);
            filled.then(|| (0..self.area()).map(|_| element()).collect())
        };
        (0..self.blocks * self.blocks).map(&mut block).collect()
    }

    fn factor<R: Runtime>(&self, blocks: &mut [Block]) {
        for k in 0..self.blocks {
            let (above, below) = blocks.split_at_mut((k + 1) * self.blocks);
            let (diagonal, beside) = above[k * (self.blocks + 1)..]
                .split_first_mut()
                .expect("a row goes on to its diagonal");
            let diagonal = diagonal.as_deref_mut().expect("the diagonal is filled");
            block::factor(self.side, diagonal);
            self.solve::<R>(k, diagonal, beside, below);
            self.subtract::<R>(k, beside, below);
        }
    }

    /// Solves for the nonzero blocks in row `k` and column `k`.
    fn solve<R: Runtime>(
        &self,
        k: usize,
        diagonal: &[f32],
        beside: &mut [Block],
        below: &mut [Block],
    ) {
        R::scope(|scope| {
            for block in beside.iter_mut().flatten() {
                R::spawn(scope, |_| block::solve_lower(self.side, diagonal, block));
            }
            let column = below.iter_mut().skip(k).step_by(self.blocks);
            for block in column.flatten() {
                R::spawn(scope, |_| block::solve_upper(self.side, diagonal, block));
            }
        });
    }

    /// Subtracts the products of the blocks in row `k` and column `k` from the blocks below and to
    /// the right.
    fn subtract<R: Runtime>(&self, k: usize, beside: &[Block], below: &mut [Block]) {
        R::scope(|scope| {
            for row in below.chunks_exact_mut(self.blocks) {
                let (before, behind) = row.split_at_mut(k + 1);
                let Some(left) = &before[k] else {
                    continue;
                };
                for (block, upper) in behind.iter_mut().zip(beside) {
                    if let Some(upper) = upper {
                        R::spawn(scope, move |_| {
                            let block = block.get_or_insert_with(|| vec![0.0; self.area()].into());
                            block::subtract_product(self.side, left, upper, block);
                        });
                    }
                }
            }
        });
    }

    fn placed<'a>(&self, blocks: &'a [Block]) -> Vec<Placed<'a, f32>> {
        let blocks = blocks.iter().enumerate();
        let filled = blocks.filter_map(|(place, block)| Some((place, block.as_deref()?)));
        let first = |place| {
            (
                place / self.blocks * self.side,
                place % self.blocks * self.side,
            )
        };
        let placed = filled.map(|(place, block)| (first(place).0, first(place).1, block));
        placed.collect()
    }
}

impl Program for Sparselu {
    const NAME: &'static str = "sparselu";
    const SUMMARY: &'static str = "blocked sparse LU factorization, with tasks spawned in a loop";
    parameters! {
        blocks = positional("n", Integer(1, 1 << 10), ["8", "25", "50"],
            "blocks per row and per column");
        side = named("block", Integer(1, 1 << 10), ["10", "100", "100"],
            "rows and columns of a block");
    }
    const RESULT: &'static [Field] = FACTORED;
    const SPAWNS: bool = true;

    type Input = Input;
    type Output = ();

    fn prepare(&self) -> io::Result<Input> {
        let original = self.matrix();
        let blocks = original.clone();
        Ok(Input { original, blocks })
    }

    fn reset(&self, input: &mut Input) {
        input.blocks.clone_from(&input.original);
    }

    fn serial(&self, input: &mut Input) {
        self.factor::<Serial>(&mut input.blocks);
    }

    fn parallel<R: Runtime>(&self, input: &mut Input, _: &mut R::Fork<'_>) {
        self.factor::<R>(&mut input.blocks);
    }

    fn answer(&self, input: &Input, (): &()) -> Answer {
        let (original, blocks) = (self.placed(&input.original), self.placed(&input.blocks));
        let n = self.blocks * self.side;
        let (lower, upper) = triangles(n, entries(self.side, &blocks));
        let matrix = entries(self.side, &original);
        factored(n, f32::EPSILON.into(), matrix, lower, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filled_blocks_match_the_benchmark() {
        let filled = |row: usize| (0..8).map(move |column| u8::from(is_filled(row, column)));
        let rows: Vec<Vec<_>> = (0..8).map(|row| filled(row).collect()).collect();
        assert_eq!(
            rows,
            [
                [1, 1, 1, 0, 1, 0, 1, 0],
                [1, 1, 1, 0, 0, 0, 0, 0],
                [1, 1, 1, 1, 0, 0, 0, 0],
                [0, 0, 1, 1, 1, 0, 0, 0],
                [1, 0, 0, 1, 1, 1, 0, 0],
                [0, 0, 0, 0, 1, 1, 1, 0],
                [1, 0, 0, 0, 0, 1, 1, 1],
                [0, 0, 0, 0, 0, 0, 1, 1],
            ]
        );
    }

    #[test]
    fn numbers_continue_from_block_to_block() {
        let program = Sparselu { blocks: 2, side: 1 };
        // The first state of the suite's generator is 1325 times 3125 modulo 65536, which is 11857.
        let numbers =
            [11857, 25285, 44745, 39837].map(|state: i32| (state - 32768) as f32 / 16384.0);
        let matrix = program.matrix();
        assert!(matrix.iter().flatten().map(|block| block[0]).eq(numbers));
    }

    #[test]
    fn sparse_factors_reproduce_the_matrix() {
        for (blocks, side) in [(1, 10), (2, 3), (5, 7), (8, 10), (12, 5)] {
            let program = Sparselu { blocks, side };
            let mut input = program.prepare().unwrap();
            program.serial(&mut input);
            let answer = program.answer(&input, &());
            assert_eq!(answer["factored"], true, "{blocks} {side}");
        }
    }

    #[test]
    fn error_in_any_block_is_detected() {
        let program = Sparselu { blocks: 5, side: 2 };
        let mut input = program.prepare().unwrap();
        assert_eq!(program.answer(&input, &())["factored"], false);
        program.serial(&mut input);
        for place in 0..input.blocks.len() {
            let Some(element) = input.blocks[place].as_deref().map(|block| block[1]) else {
                continue;
            };
            let mut spoil = |element| {
                input.blocks[place].as_deref_mut().unwrap()[1] = element;
                program.answer(&input, &())["factored"] == true
            };
            assert!(!spoil(element + 1.0), "{place}");
            assert!(spoil(element), "{place}");
        }
    }

    /// A zero block becomes nonzero if there are nonzero blocks in its row and in its column.
    #[test]
    fn row_and_column_fill_a_block() {
        let program = Sparselu { blocks: 5, side: 7 };
        let mut input = program.prepare().unwrap();
        let filled = |blocks: &[Block]| blocks.iter().flatten().count();
        assert_eq!(filled(&input.blocks), 17);
        program.serial(&mut input);
        // Row 0 has a block in column 4, rows 1 and 2 have a block in column 0, and vice versa.
        assert_eq!(filled(&input.blocks), 21);
    }
}
