//! `mergesort` as a dag: one draft per node of the tree. Each merger is released by its two
//! children.
//!
//! All drafts exist from the beginning, whereas the parallel body creates a merger only when the
//! first of its arrays is ready.

use super::Simulated;
use crate::locality::mergesort::Mergesort;
use tidegate_sim::{Dag, Draft, Place, Step, Touch};

/// Time to generate and sort an element in a sorter's array, in nanoseconds.
const SORTED: u64 = 16;
/// Time to merge an element, in nanoseconds.
const MERGED: u64 = 2;

/// The dag of the program `mergesort`: one draft per sorter or merger.
#[derive(Clone, Copy, Debug)]
pub struct MergesortDag {
    program: Mergesort,
}

/// What a task does next. Nodes are numbered as in a heap.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Drafts this node; continues with the next node.
    Draft(usize),
    /// Reads the left input array of a merger, then the right one.
    Left(usize),
    Right(usize),
    /// Sorts the node's array, or merges the arrays of the node's children.
    Work(usize),
    /// Writes the node's output array.
    Write(usize),
    /// Releases the node's parent.
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
    /// Returns the first sorter below a node and the number of sorters below that node.
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
