//! `uts` as a dag. The tree's law determines the children of each node as the tasks unfold.
//!
//! With joins, a node's range of children is halved down to single children. With spawns, a loop
//! spawns the children in order.

use super::Simulated;
use crate::program::Form;
use crate::uts::{Law, Node, Uts};
use tidegate_sim::{Dag, Step};

/// Time per node, excluding its children, in nanoseconds. Measurements gave 66 to 82 ns, depending
/// on the fraction of leaves.
const NODE: u64 = 75;

/// The dag of the program `uts`: the children of each node run in parallel.
#[derive(Clone, Debug)]
pub struct UtsDag {
    law: Law,
    form: Form,
}

/// What a task does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Does the work of a node, then continues with its children.
    Node(Node),
    /// Runs a range of a node's children (the end is exclusive) with joins that halve the range.
    Among(Node, u32, u32),
    /// Spawns a node's children, starting with the child at this index.
    Loop(Node, u32),
    Over,
}

impl Simulated for Uts {
    type Dag = UtsDag;

    fn dag(&self) -> UtsDag {
        UtsDag {
            law: Law::new(self.tree),
            form: self.form,
        }
    }
}

impl UtsDag {
    /// Returns the task for the children `start..end` of `parent`.
    fn among(&self, parent: &Node, start: u32, end: u32) -> Task {
        match end - start {
            1 => Task::Node(self.law.child(parent, start)),
            _ => Task::Among(*parent, start, end),
        }
    }
}

impl Dag for UtsDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Node(self.law.root())
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match *task {
            Task::Node(node) => {
                *task = match (node.children, self.form) {
                    (0, _) => Task::Over,
                    (_, Form::Spawn) => Task::Loop(node, 0),
                    (children, Form::Join) => Task::Among(node, 0, children),
                };
                Step::Work(NODE)
            }
            Task::Among(parent, start, end) if end - start == 1 => {
                *task = Task::Over;
                Step::Call(self.among(&parent, start, end))
            }
            Task::Among(parent, start, end) => {
                *task = Task::Over;
                let middle = start + (end - start) / 2;
                Step::Fork(
                    self.among(&parent, start, middle),
                    self.among(&parent, middle, end),
                )
            }
            Task::Loop(node, child) if child < node.children => {
                *task = Task::Loop(node, child + 1);
                Step::Spawn(Task::Node(self.law.child(&node, child)))
            }
            Task::Loop(..) => {
                *task = Task::Over;
                Step::Join
            }
            Task::Over => Step::End,
        }
    }
}
