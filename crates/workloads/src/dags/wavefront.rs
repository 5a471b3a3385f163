//! `wavefront` as a dag: a draft a block, which waits for those above and to the left.
//!
//! A block drafts the one to its right, and the first of a row the one below; so what is in memory is the front. The body creates its rows in
//! batches, which is more at a time and the same order.

use super::Simulated;
use crate::intervals::wavefront::Wavefront;
use tidegate_sim::{Dag, Draft, Place, Step};

/// What a cell of the table takes, in nanoseconds; 1.9 were measured.
const CELL: u64 = 2;

/// The tasks of `wavefront`.
#[derive(Clone, Copy, Debug)]
pub struct WavefrontDag {
    table: Wavefront,
}

/// A task, and what it does next.
#[derive(Clone, Copy, Debug)]
pub struct Task(Next);

#[derive(Clone, Copy, Debug)]
enum Next {
    /// Drafts the first block.
    Begin,
    Join,
    /// Fills a block, of this row and column.
    Work(u64, u64),
    /// Then: drafts the one to its right, in the first row beside it or in another; drafts or releases the one below.
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
    /// How many blocks a row has, and a column.
    fn blocks(&self) -> u64 {
        self.table.n.div_ceil(self.table.block) as u64
    }

    /// How many letters a block has.
    fn letters(&self, number: u64) -> u64 {
        let (n, block) = (self.table.n as u64, self.table.block as u64);
        block.min(n - number * block)
    }

    fn name(&self, row: u64, column: u64) -> u64 {
        row * self.blocks() + column
    }

    /// A block that waits for as many others beside the one that drafts it.
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
