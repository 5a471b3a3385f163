//! `lu` as a dag: each step factors a panel and then updates all later panels. The dag computes no
//! matrix elements.

use super::Simulated;
use crate::factors::lu::Lu;
use tidegate_sim::{Dag, Nanos, Step};

/// Multiply-subtract operations per 10 ns.
const MULTIPLIED: Nanos = 52;

/// The dag of the program `lu`: in each step, a serial panel and then a parallel update.
#[derive(Clone, Copy, Debug)]
pub struct LuDag {
    blocks: usize,
    side: Nanos,
}

/// What a task does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Factors the panel of this step.
    Step(usize),
    /// Updates the later panels; the field is the index of the next step.
    Later(usize),
    /// Updates later panels. The fields are the number of panels and the number of blocks to update
    /// in each panel.
    Panels(usize, usize),
    /// Updates this many blocks of a later panel.
    Blocks(usize),
    /// Applies the final row exchanges to a range of panels (the end is exclusive).
    Exchanges(usize, usize),
    Over,
}

impl Simulated for Lu {
    type Dag = LuDag;

    fn dag(&self) -> LuDag {
        LuDag {
            blocks: self.blocks,
            side: self.side as Nanos,
        }
    }
}

impl LuDag {
    /// Returns the time to subtract a product of two blocks.
    fn product(&self) -> Nanos {
        self.side.pow(3) * 10 / MULTIPLIED
    }

    /// Returns the time to solve for a block of U.
    fn solve(&self) -> Nanos {
        self.product() / 2
    }

    /// Returns the time to factor a panel of `blocks` blocks.
    fn panel(&self, blocks: usize) -> Nanos {
        self.product() / 3 + (blocks - 1) as Nanos * self.solve()
    }

    /// Returns the time to apply the row exchanges of `steps` steps to a panel: 1 ns per element.
    fn exchange(&self, steps: usize) -> Nanos {
        steps as Nanos * self.side.pow(2)
    }
}

impl Dag for LuDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Step(0)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match *task {
            Task::Step(step) if step == self.blocks => {
                *task = Task::Over;
                Step::Call(Task::Exchanges(0, self.blocks))
            }
            Task::Step(step) => {
                *task = Task::Later(step + 1);
                Step::Work(self.panel(self.blocks - step))
            }
            Task::Later(step) => {
                *task = Task::Step(step);
                let later = self.blocks - step;
                match later {
                    0 => Step::Join,
                    _ => Step::Call(Task::Panels(later, later)),
                }
            }
            Task::Panels(1, blocks) => {
                *task = Task::Blocks(blocks);
                Step::Work(self.exchange(1) + self.solve())
            }
            Task::Panels(panels, blocks) => {
                *task = Task::Over;
                let half = panels / 2;
                Step::Fork(
                    Task::Panels(half, blocks),
                    Task::Panels(panels - half, blocks),
                )
            }
            Task::Blocks(1) => {
                *task = Task::Over;
                Step::Work(self.product())
            }
            Task::Blocks(blocks) => {
                *task = Task::Over;
                let half = blocks / 2;
                Step::Fork(Task::Blocks(half), Task::Blocks(blocks - half))
            }
            Task::Exchanges(first, end) if end - first == 1 => {
                *task = Task::Over;
                Step::Work(self.exchange(self.blocks - end))
            }
            Task::Exchanges(first, end) => {
                *task = Task::Over;
                let middle = first + (end - first) / 2;
                Step::Fork(Task::Exchanges(first, middle), Task::Exchanges(middle, end))
            }
            Task::Over => Step::End,
        }
    }
}
