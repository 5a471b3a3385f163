//! `treesum` as a dag: every node forks, including leaves.

use super::Calls;
use crate::treesum::Treesum;
use tidegate_sim::Step;

/// Time per node, excluding its children, in nanoseconds.
const NODE: u64 = 2;

impl Calls for Treesum {
    /// A position in the tree. Positions are numbered level by level; those after the last node are
    /// empty.
    type Call = usize;

    fn first(&self) -> usize {
        0
    }

    fn step(&self, place: usize, number: usize) -> Step<usize> {
        match number {
            0 if place < self.nodes => Step::Work(NODE),
            1 if place < self.nodes => Step::Fork(2 * place + 1, 2 * place + 2),
            _ => Step::End,
        }
    }
}
