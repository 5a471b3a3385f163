//! `mergesort` as a dag: one draft per node of the tree, released by the two nodes below it.
//!
//! All drafts exist from the beginning, whereas the body creates a merger only when the first of
//! its arrays is ready.

use super::Simulated;
use crate::locality::mergesort::Mergesort;
use tidegate_sim::{Dag, Draft, Place, Step, Touch};

/// Nanoseconds per element: to generate and sort an array of a few elements (`SORTED`), and to
/// merge arrays (`MERGED`).
const SORTED: u64 = 16;
const MERGED: u64 = 2;

/// The tasks of `mergesort`.
#[derive(Clone, Copy, Debug)]
pub struct MergesortDag {
    program: Mergesort,
}

/// A task and what it does next. Nodes are numbered as in a heap.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Drafts the node with this number, then the node after it.
    Draft(usize),
    /// Reads the left array of a merger, then the right one.
    Left(usize),
    Right(usize),
    /// Sorts the node's array, or merges the node's two arrays.
    Work(usize),
    /// Writes the node's array.
    Write(usize),
    /// Releases the merger that merges the node's array.
    Release(usize),
    Over,
}

impl Simulated for Mergesort {
    type Dag = MergesortDag;

    fn dag(&self) -> MergesortDag {
        MergesortDag { program: *self }
    }
}

impl MergesortDag {
    /// Returns the first sorter below a node, and the number of sorters below it.
    fn sorters(&self, node: usize) -> (usize, usize) {
        let height = self.program.sorters.ilog2() - node.ilog2();
        ((node << height) - self.program.sorters, 1 << height)
    }

    fn elements(&self, node: usize) -> u64 {
        let (first, count) = self.sorters(node);
        let start = |sorter: usize| sorter * self.program.n / self.program.sorters;
        (start(first + count) - start(first)) as u64
    }

    fn touch(&self, node: usize, writes: bool) -> Step<Task> {
        Step::Touch(Touch {
            name: node as u64,
            bytes: self.elements(node) * size_of::<u32>() as u64,
            writes,
        })
    }

    fn draft(&self, node: usize) -> Step<Task> {
        let Mergesort {
            sorters,
            seed,
            locality,
            ..
        } = self.program;
        let (first, count) = self.sorters(node);
        let is_sorter = node >= sorters;
        let turn = count.ilog2() as usize;
        Step::Draft(Draft {
            task: if is_sorter {
                Task::Work(node)
            } else {
                Task::Left(node)
            },
            name: node as u64,
            releases: if is_sorter { 0 } else { 2 },
            place: Place::Inside,
            put: locality.put(seed, (first, sorters), turn, node as u64),
        })
    }
}

impl Dag for MergesortDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Draft(1)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        let sorters = self.program.sorters;
        let (next, step) = match *task {
            Task::Draft(node) if node == 2 * sorters => (Task::Over, Step::Join),
            Task::Draft(node) => (Task::Draft(node + 1), self.draft(node)),
            Task::Left(node) => (Task::Right(node), self.touch(2 * node, false)),
            Task::Right(node) => (Task::Work(node), self.touch(2 * node + 1, false)),
            Task::Work(node) => {
                let each = if node < sorters { MERGED } else { SORTED };
                (Task::Write(node), Step::Work(each * self.elements(node)))
            }
            Task::Write(node) => (Task::Release(node), self.touch(node, true)),
            Task::Release(node) if node > 1 => (Task::Over, Step::Release(node as u64 / 2)),
            Task::Release(_) | Task::Over => (Task::Over, Step::End),
        };
        *task = next;
        step
    }
}
