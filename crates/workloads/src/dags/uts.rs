//! `uts` as a dag: the tree itself, unfolded by its law as the tasks are.
//!
//! By joins the children of a node are halved down to one; by spawns a loop spawns one after the other.

use super::Simulated;
use crate::program::Form;
use crate::uts::{Law, Node, Uts};
use tidegate_sim::{Dag, Step};

/// What a node takes by itself, in nanoseconds: 66 to 82, by the share of leaves.
const NODE: u64 = 75;

/// The tasks of `uts`.
#[derive(Clone, Debug)]
pub struct UtsDag {
    law: Law,
    form: Form,
}

/// Some of a node's children, or a node, and what it does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// A node that has done nothing yet.
    Node(Node),
    /// The children of a node, from the first to before the end, by halves.
    Among(Node, u32, u32),
    /// A node that spawns its children from this one on.
    Loop(Node, u32),
    /// Is over.
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
    /// The children of `parent` from `start` to before `end`.
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
