//! The sum over a balanced tree of boxed nodes: forks that also touch memory.
//!
//! Every node forks, including leaves. The difference from the serial version, divided by the
//! number of nodes, is therefore the cost of a fork in a body that follows pointers. The nodes hold
//! 1, 2, 3, …, so the sum is known.
//!
//! Runtimes differ in which half of a join they run first. Nodes are therefore allocated level by
//! level, so that walking the tree from the left costs as much as walking it from the right. In
//! preorder or postorder, one direction would read sequentially and the other would be four times
//! slower.
//!
//! Building the tree is not timed; the tree is the input.

use std::io;

use serde_json::Value;

use crate::parameter::{Kind::Integer, positional};
use crate::program::{Program, Reference, answer, parameters, result};
use crate::runtime::Runtime;

/// A node of the tree, which owns its subtrees.
#[derive(Debug)]
pub struct Node {
    value: u64,
    left: Option<Box<Self>>,
    right: Option<Box<Self>>,
}

impl Node {
    /// Builds a complete binary tree of `nodes` nodes, allocated level by level. Returns `None` for
    /// 0 nodes.
    pub fn tree(nodes: usize) -> Option<Box<Self>> {
        let mut loose: Vec<_> = (1..)
            .take(nodes)
            .map(|value| {
                Some(Box::new(Self {
                    value,
                    left: None,
                    right: None,
                }))
            })
            .collect();
        for index in (1..nodes).rev() {
            let child = loose[index].take();
            if let Some(parent) = &mut loose[(index - 1) / 2] {
                let side = if index % 2 == 1 {
                    &mut parent.left
                } else {
                    &mut parent.right
                };
                *side = child;
            }
        }
        loose.into_iter().next().flatten()
    }
}

/// Sums the values of a tree serially.
pub fn serial(node: &Node) -> u64 {
    node.value + node.left.as_deref().map_or(0, serial) + node.right.as_deref().map_or(0, serial)
}

/// Sums the values of a tree with the parallel body; each node forks once.
pub fn parallel<R: Runtime>(fork: &mut R::Fork<'_>, node: &Node) -> u64 {
    let (left, right) = R::join(
        fork,
        move |fork| node.left.as_deref().map_or(0, |n| parallel::<R>(fork, n)),
        move |fork| node.right.as_deref().map_or(0, |n| parallel::<R>(fork, n)),
    );
    node.value + left + right
}

/// The program `treesum`, which sums the values of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Treesum {
    /// Number of nodes, at least one.
    pub nodes: usize,
}

impl Program for Treesum {
    const NAME: &'static str = "treesum";
    const SUMMARY: &'static str = "sum of a balanced binary tree";
    parameters! {
        nodes = positional("nodes", Integer(1, 1 << 28), ["1023", "1048575", "16777215"],
            "number of nodes");
    }
    result! { self, _, output =>
        sum "sum of all values" = *output;
    }

    type Input = Option<Box<Node>>;
    type Output = u64;

    fn prepare(&self) -> io::Result<Self::Input> {
        Ok(Node::tree(self.nodes))
    }

    fn serial(&self, root: &mut Self::Input) -> u64 {
        root.as_deref().map_or(0, serial)
    }

    fn parallel<R: Runtime>(&self, root: &mut Self::Input, fork: &mut R::Fork<'_>) -> u64 {
        root.as_deref().map_or(0, |root| parallel::<R>(fork, root))
    }

    fn published(&self) -> Option<Reference> {
        let n = self.nodes as u64;
        Some(Reference {
            answer: answer([("sum", Value::from(n * (n + 1) / 2))]),
            source: "n (n + 1) / 2",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn height(node: Option<&Node>) -> u32 {
        node.map_or(0, |n| {
            1 + height(n.left.as_deref()).max(height(n.right.as_deref()))
        })
    }

    #[test]
    fn tree_of_any_size_is_balanced() {
        for nodes in 0..200 {
            let root = Node::tree(nodes);
            let levels = usize::BITS - nodes.leading_zeros();
            assert_eq!(height(root.as_deref()), levels);
            let sum = root.as_deref().map_or(0, serial);
            assert_eq!(sum, (nodes * (nodes + 1) / 2) as u64);
        }
    }
}
