//! `blockmatmul` as a dag: each step of a chain drafts the next step but doesn't wait for it to
//! end.

use super::Simulated;
use crate::locality::blockmatmul::Blockmatmul;
use crate::matrix;
use tidegate_sim::{Dag, Draft, Place, Step, Touch};

/// Multiply-add operations per nanosecond.
const A_NANOSECOND: u64 = 8;

/// The dag of the program `blockmatmul`: a chain of tasks for each block of the product.
#[derive(Clone, Copy, Debug)]
pub struct BlockmatmulDag {
    program: Blockmatmul,
}

/// What a task does next. The fields are a block of C and, within that block's chain, the index of
/// the next pair of blocks to multiply.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Drafts the first step of this block's chain; continues with the next block.
    Draft(usize),
    /// Reads the left block of a pair, then the right one.
    Left(usize, usize),
    Right(usize, usize),
    Work(usize, usize),
    /// Writes the task's block of C. The pair is the one with which the chain's next step begins.
    Write(usize, usize),
    /// Drafts the step that begins with this pair. `Release` then releases that step, which may run
    /// once the current step ends.
    Next(usize, usize),
    Release(usize, usize),
    Over,
}

impl Simulated for Blockmatmul {
    type Dag = BlockmatmulDag;

    fn dag(&self) -> BlockmatmulDag {
        BlockmatmulDag { program: *self }
    }
}

impl BlockmatmulDag {
    /// Returns the draft name of the step that contains this pair.
    fn name(&self, block: usize, pair: usize) -> u64 {
        (block * self.program.steps() + pair / self.program.panel) as u64
    }

    fn draft(&self, block: usize, pair: usize, place: Place) -> Step<Task> {
        let program = &self.program;
        let name = self.name(block, pair);
        let step = pair / program.panel;
        let part = (program.rank(block), program.grid.count());
        Step::Draft(Draft {
            task: Task::Left(block, pair),
            name,
            releases: u32::from(step > 0),
            place,
            put: program.locality.put(program.seed, part, step, name),
        })
    }

    fn touch(&self, matrix: usize, block: usize, writes: bool) -> Step<Task> {
        let grid = &self.program.grid;
        Step::Touch(Touch {
            name: (matrix * grid.count() + block) as u64,
            bytes: (grid.area() * size_of::<f32>()) as u64,
            writes,
        })
    }

    /// Returns what a task does after it has multiplied a pair. `pair` is the next pair of the
    /// chain; if it belongs to the next step, the task writes its block of C.
    fn after(&self, block: usize, pair: usize) -> Task {
        let program = &self.program;
        if pair % program.panel == 0 || pair == program.grid.blocks {
            Task::Write(block, pair)
        } else {
            Task::Left(block, pair)
        }
    }
}

impl Dag for BlockmatmulDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Draft(0)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        let grid = &self.program.grid;
        let (next, step) = match *task {
            Task::Draft(block) if block == grid.count() => (Task::Over, Step::Join),
            Task::Draft(block) => (Task::Draft(block + 1), self.draft(block, 0, Place::Inside)),
            Task::Left(block, pair) => {
                let (row, _) = matrix::place(block);
                let left = matrix::number(row, pair);
                (Task::Right(block, pair), self.touch(0, left, false))
            }
            Task::Right(block, pair) => {
                let (_, column) = matrix::place(block);
                let right = matrix::number(pair, column);
                (Task::Work(block, pair), self.touch(1, right, false))
            }
            Task::Work(block, pair) => {
                let time = (grid.area() * grid.block) as u64 / A_NANOSECOND;
                (self.after(block, pair + 1), Step::Work(time))
            }
            Task::Write(block, pair) => (Task::Next(block, pair), self.touch(2, block, true)),
            Task::Next(block, pair) if pair < grid.blocks => (
                Task::Release(block, pair),
                self.draft(block, pair, Place::Beside),
            ),
            Task::Release(block, pair) => (Task::Over, Step::Release(self.name(block, pair))),
            Task::Next(..) | Task::Over => (Task::Over, Step::End),
        };
        *task = next;
        step
    }
}
