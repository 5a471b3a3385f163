//! `uts` as a dag. The tree's law determines the children of each node as the tasks unfold.
//!
//! With joins, a node's range of children is halved down to single children. With spawns, a loop
//! spawns the children in order.

use super::{Calls, CallsDag, Simulated};
use crate::program::Form;
use crate::uts::{Law, Node, Uts};
use tidegate_sim::Step;

/// Time per node, excluding its children, in nanoseconds. Measurements gave 66 to 82 ns, depending
/// on the fraction of leaves.
const NODE: u64 = 75;

/// The law of the tree, and how the children of each node run in parallel.
#[derive(Clone, Debug)]
pub struct Unfolding {
    law: Law,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
pub enum Call {
    Node(Node),
    /// Runs a range of a node's children (the end is exclusive) with joins that halve the range.
    Among(Node, u32, u32),
}

impl Simulated for Uts {
    type Dag = CallsDag<Unfolding>;

    fn dag(&self) -> Self::Dag {
        CallsDag(Unfolding {
            law: Law::new(self.tree),
            form: self.form,
        })
    }
}

impl Unfolding {
    /// Returns the call for the children `start..end` of `parent`.
    fn among(&self, parent: &Node, start: u32, end: u32) -> Call {
        match end - start {
            1 => Call::Node(self.law.child(parent, start)),
            _ => Call::Among(*parent, start, end),
        }
    }

    /// Forks the children `start..end` of `parent` as two halves; an only child is called.
    fn halves(&self, parent: &Node, start: u32, end: u32) -> Step<Call> {
        if end - start == 1 {
            return Step::Call(self.among(parent, start, end));
        }
        let middle = start + (end - start) / 2;
        Step::Fork(
            self.among(parent, start, middle),
            self.among(parent, middle, end),
        )
    }
}

impl Calls for Unfolding {
    type Call = Call;

    fn first(&self) -> Call {
        Call::Node(self.law.root())
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        match (call, number) {
            (Call::Node(_), 0) => Step::Work(NODE),
            (Call::Node(node), _) if node.children == 0 => Step::End,
            (Call::Node(node), 1) if self.form == Form::Join => {
                self.halves(&node, 0, node.children)
            }
            (Call::Node(node), _) if self.form == Form::Spawn => match number - 1 {
                child if child < node.children as usize => {
                    Step::Spawn(Call::Node(self.law.child(&node, child as u32)))
                }
                child if child == node.children as usize => Step::Join,
                _ => Step::End,
            },
            (Call::Among(parent, start, end), 0) => self.halves(&parent, start, end),
            _ => Step::End,
        }
    }
}
