//! `uts` as a dag: the tree's law determines the children of each node as the tasks unfold.
//!
//! In the form with joins, the children of a node are halved down to single children. In the form
//! with spawns, a loop spawns the children in order.

use super::Simulated;
use crate::program::Form;
use crate::uts::{Law, Node, Uts};
use tidegate_sim::{Dag, Step};

/// The time that a node itself takes, in nanoseconds. Measurements gave 66 to 82, depending on the
/// fraction of leaves.
const NODE: u64 = 75;

/// The tasks of `uts`.
#[derive(Clone, Debug)]
pub struct UtsDag {
    law: Law,
    form: Form,
}

/// A node or a range of a node's children, and what it does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// A node that has not started.
    Node(Node),
    /// A range of a node's children (the end is exclusive); joins halve the range.
    Among(Node, u32, u32),
    /// A node that spawns its children, starting with this one.
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
    /// The task for the children `start..end` of `parent`.
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
