//! `mergesort` as a dag: one draft per node of the tree. Each merger is released by its two
//! children.
//!
//! All drafts exist from the beginning, whereas the parallel body creates a merger only when the
//! first of its arrays is ready.

use super::Calls;
use crate::locality::mergesort::Mergesort;
use tidegate_sim::{Draft, Place, Step, Touch};

/// Time to generate and sort an element in a sorter's array, in nanoseconds.
const SORTED: u64 = 16;
/// Time to merge an element, in nanoseconds.
const MERGED: u64 = 2;

#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Drafts the nodes.
    All,
    /// Sorts this node's array, or merges the arrays of its children. Nodes are numbered as in a
    /// heap.
    Node(usize),
}

impl Mergesort {
    /// Returns the first sorter below a node and the number of sorters below that node.
    fn sorters_below(&self, node: usize) -> (usize, usize) {
        let height = self.sorters.ilog2() - node.ilog2();
        ((node << height) - self.sorters, 1 << height)
    }

    fn elements(&self, node: usize) -> u64 {
        let (first, count) = self.sorters_below(node);
        let start = |sorter: usize| sorter * self.n / self.sorters;
        (start(first + count) - start(first)) as u64
    }

    fn touch(&self, node: usize, writes: bool) -> Step<Call> {
        Step::Touch(Touch {
            name: node as u64,
            bytes: self.elements(node) * size_of::<u32>() as u64,
            writes,
        })
    }

    fn draft(&self, node: usize) -> Step<Call> {
        let (first, count) = self.sorters_below(node);
        let (part, turn) = ((first, self.sorters), count.ilog2() as usize);
        Step::Draft(Draft {
            task: Call::Node(node),
            name: node as u64,
            releases: if node < self.sorters { 2 } else { 0 },
            place: Place::Inside,
            put: self.locality.put(self.seed, part, turn, node as u64),
        })
    }
}

impl Calls for Mergesort {
    type Call = Call;

    fn first(&self) -> Call {
        Call::All
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        let node = match call {
            Call::All if number + 1 < 2 * self.sorters => return self.draft(number + 1),
            Call::All if number + 1 == 2 * self.sorters => return Step::Join,
            Call::All => return Step::End,
            Call::Node(node) => node,
        };
        let merges = node < self.sorters;
        // A sorter reads no other arrays.
        match number + if merges { 0 } else { 2 } {
            0 => self.touch(2 * node, false),
            1 => self.touch(2 * node + 1, false),
            2 => Step::Work(self.elements(node) * if merges { MERGED } else { SORTED }),
            3 => self.touch(node, true),
            4 if node > 1 => Step::Release(node as u64 / 2),
            _ => Step::End,
        }
    }
}
