//! `knary` as a dag: every node runs some of its children in series. Joins halve the range of the
//! others.

use super::Simulated;
use crate::knary::{Knary, STEPS};
use crate::steps;
use tidegate_sim::{Dag, Nanos, Step};

/// The tasks of `knary`.
#[derive(Clone, Copy, Debug)]
pub struct KnaryDag {
    tree: Knary,
    /// The time that a node itself takes.
    node: Nanos,
}

/// A node or a range of a node's children, and what it does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// A node that has not started.
    Node {
        /// The number of levels, including the node's own.
        levels: u32,
    },
    /// A node that has run its own steps and some of its children in series.
    Series {
        /// The number of levels, including the node's own.
        levels: u32,
        /// How many children have been called.
        called: u32,
    },
    /// Several nodes in parallel.
    Among {
        /// The number of levels of each node.
        levels: u32,
        /// The number of nodes, at least two.
        nodes: u32,
    },
    Over,
}

impl Task {
    /// Returns the task that runs `nodes` nodes.
    const fn of(nodes: u32, levels: u32) -> Self {
        match nodes {
            1 => Self::Node { levels },
            _ => Self::Among { levels, nodes },
        }
    }
}

impl Simulated for Knary {
    type Dag = KnaryDag;

    fn dag(&self) -> KnaryDag {
        KnaryDag {
            tree: *self,
            node: steps::time(STEPS),
        }
    }
}

impl Dag for KnaryDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Node {
            levels: self.tree.n,
        }
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        let Knary { k, r, .. } = self.tree;
        match *task {
            Task::Node { levels } => {
                *task = Task::Series { levels, called: 0 };
                Step::Work(self.node)
            }
            Task::Series { levels: 1, .. } | Task::Over => Step::End,
            Task::Series { levels, called } if called < r => {
                let called = called + 1;
                *task = Task::Series { levels, called };
                Step::Call(Task::of(1, levels - 1))
            }
            Task::Series { .. } if k == r => Step::End,
            Task::Series { levels, .. } if k - r == 1 => {
                *task = Task::Over;
                Step::Call(Task::of(1, levels - 1))
            }
            Task::Series { levels, .. } => {
                *task = Task::Over;
                halves(k - r, levels - 1)
            }
            Task::Among { levels, nodes } => {
                *task = Task::Over;
                halves(nodes, levels)
            }
        }
    }
}

/// Forks `nodes` nodes, at least two, as two halves.
const fn halves(nodes: u32, levels: u32) -> Step<Task> {
    let half = nodes / 2;
    Step::Fork(Task::of(half, levels), Task::of(nodes - half, levels))
}
