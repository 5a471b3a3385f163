//! `sparselu` as a dag: each step has two loops that spawn a task for each block that is filled at
//! that step. The dag computes no numbers.

use super::Simulated;
use crate::factors::sparselu::{Sparselu, is_filled};
use tidegate_sim::{Dag, Nanos, Step};

/// How many multiplications, each with its subtraction, take 10 ns.
const MULTIPLIED: Nanos = 80;

/// The tasks of `sparselu`.
#[derive(Clone, Debug)]
pub struct SparseluDag {
    blocks: usize,
    /// For each block, row by row, the step from which the block is filled; `usize::MAX` if it
    /// never is.
    since: Vec<usize>,
    /// Time to subtract a product of two blocks.
    product: Nanos,
}

/// A task and what it does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// A step, which begins with the block on the diagonal.
    Step(usize),
    /// A step's loop over the blocks in the row and column of its diagonal block, starting with
    /// this iteration.
    Solve(usize, usize),
    /// A step's loop over the blocks below and to the right of its diagonal block, starting with
    /// this iteration.
    Subtract(usize, usize),
    /// A task that takes this long.
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

/// Returns, for each of `blocks` by `blocks` blocks, the step from which the block is filled.
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

/// The rows and columns of the blocks below and to the right of a step's diagonal block.
fn behind(blocks: usize, step: usize) -> impl Iterator<Item = (usize, usize)> {
    let rest = step + 1..blocks;
    rest.clone()
        .flat_map(move |row| rest.clone().map(move |column| (row, column)))
}

impl SparseluDag {
    fn is_filled(&self, step: usize, row: usize, column: usize) -> bool {
        self.since[row * self.blocks + column] <= step
    }

    /// Returns the next iteration of a step's first loop that spawns a task, if any.
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

    /// Returns the next iteration of a step's second loop that spawns a task, if any.
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
