//! `treesum` as a dag: every node forks, including leaves.

use super::Simulated;
use crate::treesum::Treesum;
use tidegate_sim::{Dag, Step};

/// Time per node, excluding its children, in nanoseconds.
const NODE: u64 = 2;

/// The dag of the program `treesum`: every node forks.
#[derive(Clone, Copy, Debug)]
pub struct TreesumDag {
    nodes: usize,
}

/// A position in the tree. Positions are numbered level by level; those after the last node are
/// empty.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    place: usize,
    next: Next,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Work,
    Fork,
    End,
}

impl Task {
    const fn at(place: usize) -> Self {
        Self {
            place,
            next: Next::Work,
        }
    }
}

impl Simulated for Treesum {
    type Dag = TreesumDag;

    fn dag(&self) -> TreesumDag {
        TreesumDag { nodes: self.nodes }
    }
}

impl Dag for TreesumDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::at(0)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match task.next {
            Next::Work if task.place < self.nodes => {
                task.next = Next::Fork;
                Step::Work(NODE)
            }
            Next::Fork => {
                task.next = Next::End;
                let left = 2 * task.place + 1;
                Step::Fork(Task::at(left), Task::at(left + 1))
            }
            Next::Work | Next::End => Step::End,
        }
    }
}
