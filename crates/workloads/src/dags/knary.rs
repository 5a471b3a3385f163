//! `knary` as a dag: each node calls some of its children in series, then runs its other children
//! in parallel with joins that halve the range.

use super::Simulated;
use crate::knary::{Knary, STEPS};
use crate::steps;
use tidegate_sim::{Dag, Nanos, Step};

/// The dag of the program `knary`: a tree with serial and parallel children.
#[derive(Clone, Copy, Debug)]
pub struct KnaryDag {
    tree: Knary,
    /// The time per node, excluding its children.
    node: Nanos,
}

/// What a task does next, for a node or a range of siblings.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Runs the steps of a node.
    Node {
        /// The number of levels of the node's subtree.
        levels: u32,
    },
    /// Calls the remaining serial children of a node, then runs the parallel ones.
    Series {
        /// The number of levels of the node's subtree.
        levels: u32,
        /// How many children have already been called.
        called: u32,
    },
    /// Runs sibling nodes in parallel.
    Among {
        /// The number of levels of each node's subtree.
        levels: u32,
        /// The number of siblings, at least two.
        nodes: u32,
    },
    Over,
}

impl Task {
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

/// Forks `nodes` siblings (at least two) as two halves.
const fn halves(nodes: u32, levels: u32) -> Step<Task> {
    let half = nodes / 2;
    Step::Fork(Task::of(half, levels), Task::of(nodes - half, levels))
}
