//! `sparselu` as a dag: each step has two loops, which spawn one task per nonzero block. The dag
//! computes no matrix elements.

use super::Simulated;
use crate::factors::sparselu::{Sparselu, is_filled};
use tidegate_sim::{Dag, Nanos, Step};

/// Multiply-subtract operations per 10 ns.
const MULTIPLIED: Nanos = 80;

/// The dag of the program `sparselu`: two loops of spawned tasks in each step.
#[derive(Clone, Debug)]
pub struct SparseluDag {
    blocks: usize,
    /// For each block, row by row, the first step at which the block is nonzero; `usize::MAX` if it
    /// is always zero.
    since: Vec<usize>,
    /// Time to subtract a product of two blocks.
    product: Nanos,
}

/// What a task does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Factors the diagonal block of this step.
    Step(usize),
    /// Runs the first loop of a step, over the blocks in the row and column of the diagonal block.
    /// The second field is the next iteration.
    Solve(usize, usize),
    /// Runs the second loop of a step, over the blocks below and to the right of the diagonal
    /// block. The second field is the next iteration.
    Subtract(usize, usize),
    /// Works on a block for this long.
    Block(Nanos),
    Over,
}

impl Simulated for Sparselu {
    type Dag = SparseluDag;

    fn dag(&self) -> SparseluDag {
        SparseluDag {
            blocks: self.blocks,
            since: since(self.blocks),
            product: (self.side as Nanos).pow(3) * 10 / MULTIPLIED,
        }
    }
}

/// Returns, for each of `blocks` by `blocks` blocks, the first step at which the block is nonzero.
fn since(blocks: usize) -> Vec<usize> {
    let mut since = vec![usize::MAX; blocks * blocks];
    for row in 0..blocks {
        let filled = (0..blocks).filter(|&column| is_filled(row, column));
        filled.for_each(|column| since[row * blocks + column] = 0);
    }
    for step in 0..blocks {
        for (row, column) in behind(blocks, step) {
            let left = since[row * blocks + step];
            let upper = since[step * blocks + column];
            if left.max(upper) <= step {
                let first = &mut since[row * blocks + column];
                *first = (*first).min(step + 1);
            }
        }
    }
    since
}

/// Returns the rows and columns of the blocks below and to the right of a step's diagonal block.
fn behind(blocks: usize, step: usize) -> impl Iterator<Item = (usize, usize)> {
    let rest = step + 1..blocks;
    rest.clone()
        .flat_map(move |row| rest.clone().map(move |column| (row, column)))
}

impl SparseluDag {
    fn is_filled(&self, step: usize, row: usize, column: usize) -> bool {
        self.since[row * self.blocks + column] <= step
    }

    /// Returns the first iteration, at or after `from`, in which a step's first loop spawns a task.
    fn solve(&self, step: usize, from: usize) -> Option<usize> {
        let rest = self.blocks - step - 1;
        (from..2 * rest).find(|&at| {
            let other = step + 1 + at % rest;
            match at < rest {
                true => self.is_filled(step, step, other),
                false => self.is_filled(step, other, step),
            }
        })
    }

    /// Returns the first iteration, at or after `from`, in which a step's second loop spawns a
    /// task.
    fn subtract(&self, step: usize, from: usize) -> Option<usize> {
        let rest = self.blocks - step - 1;
        (from..rest * rest).find(|&at| {
            let (row, column) = (step + 1 + at / rest, step + 1 + at % rest);
            self.is_filled(step, row, step) && self.is_filled(step, step, column)
        })
    }
}

impl Dag for SparseluDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Step(0)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        let (next, step) = match *task {
            Task::Step(step) if step == self.blocks => (Task::Over, Step::End),
            Task::Step(step) => (Task::Solve(step, 0), Step::Work(self.product / 3)),
            Task::Solve(step, from) => match self.solve(step, from) {
                Some(at) => {
                    let block = Task::Block(self.product / 2);
                    (Task::Solve(step, at + 1), Step::Spawn(block))
                }
                None => (Task::Subtract(step, 0), Step::Join),
            },
            Task::Subtract(step, from) => match self.subtract(step, from) {
                Some(at) => {
                    let block = Task::Block(self.product);
                    (Task::Subtract(step, at + 1), Step::Spawn(block))
                }
                None => (Task::Step(step + 1), Step::Join),
            },
            Task::Block(time) => (Task::Over, Step::Work(time)),
            Task::Over => (Task::Over, Step::End),
        };
        *task = next;
        step
    }
}
