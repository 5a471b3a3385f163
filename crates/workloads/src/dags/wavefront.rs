//! `wavefront` as a dag: one draft per block, which waits for the blocks above and to the left.
//!
//! Each block drafts the block to its right, and the first block of a row also drafts the block
//! below. So only blocks on the wavefront are in memory. The parallel body creates rows in batches
//! instead, which takes more memory but creates the rows in order.

use super::Simulated;
use crate::intervals::wavefront::Wavefront;
use tidegate_sim::{Dag, Draft, Place, Step};

/// Time to compute a cell of the table, in nanoseconds; the measured time was 1.9 ns.
const CELL: u64 = 2;

/// The dag of the program `wavefront`: one draft per block of the table.
#[derive(Clone, Copy, Debug)]
pub struct WavefrontDag {
    table: Wavefront,
}

#[derive(Clone, Copy, Debug)]
pub struct Task(Next);

#[derive(Clone, Copy, Debug)]
enum Next {
    Begin,
    Join,
    /// Computes the block at this row and column.
    Work(u64, u64),
    /// After `Work`, drafts the block to the right, which runs in parallel, and then drafts or
    /// releases the block below (`Below`).
    Right(u64, u64),
    Below(u64, u64),
    End,
}

impl Simulated for Wavefront {
    type Dag = WavefrontDag;

    fn dag(&self) -> WavefrontDag {
        WavefrontDag { table: *self }
    }
}

impl WavefrontDag {
    /// Returns the number of blocks per row, which is also the number of blocks per column.
    fn blocks(&self) -> u64 {
        self.table.n.div_ceil(self.table.block) as u64
    }

    /// Returns the number of letters along a side of a block in the row or column `number`.
    fn letters(&self, number: u64) -> u64 {
        let (n, block) = (self.table.n as u64, self.table.block as u64);
        block.min(n - number * block)
    }

    fn name(&self, row: u64, column: u64) -> u64 {
        row * self.blocks() + column
    }

    /// Drafts a block. It waits for `releases` blocks in addition to the one that drafts it.
    fn block(&self, row: u64, column: u64, releases: u32, place: Place) -> Step<Task> {
        Step::Draft(Draft {
            task: Task(Next::Work(row, column)),
            name: self.name(row, column),
            releases,
            place,
            put: None,
        })
    }
}

impl Dag for WavefrontDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task(Next::Begin)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        let last = self.blocks() - 1;
        let (next, step) = match task.0 {
            Next::Begin => (Next::Join, self.block(0, 0, 0, Place::Inside)),
            Next::Join => (Next::End, Step::Join),
            Next::Work(row, column) => {
                let cells = self.letters(row) * self.letters(column);
                (Next::Right(row, column), Step::Work(cells * CELL))
            }
            Next::Right(row, column) if column < last => {
                let above = u32::from(row > 0);
                let right = self.block(row, column + 1, above, Place::Beside);
                (Next::Below(row, column), right)
            }
            Next::Right(row, column) | Next::Below(row, column) if row < last => {
                let below = match column {
                    0 => self.block(row + 1, 0, 0, Place::Beside),
                    _ => Step::Release(self.name(row + 1, column)),
                };
                (Next::End, below)
            }
            Next::Right(..) | Next::Below(..) | Next::End => (Next::End, Step::End),
        };
        task.0 = next;
        step
    }
}
