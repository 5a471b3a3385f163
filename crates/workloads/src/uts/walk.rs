//! Counting a tree: serially, by joins, and by spawns.

use super::tree::{Law, Node};
use crate::runtime::Runtime;

/// What is counted below a node, itself included.
///
/// In this order and of one size on purpose: were the two sums neighbours, or one field narrower, the compiler would load
/// two fields at once that were stored one by one just before, and at every node the processor would wait for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counts {
    /// Nodes.
    pub nodes: u64,
    /// Depth of the deepest node, the tree's root having depth 0.
    pub depth: u64,
    /// Nodes without children.
    pub leaves: u64,
}

impl Counts {
    #[inline]
    fn leaf(depth: u32) -> Self {
        Self {
            nodes: 1,
            leaves: 1,
            depth: depth.into(),
        }
    }

    #[inline]
    fn and(self, other: Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            leaves: self.leaves + other.leaves,
            depth: self.depth.max(other.depth),
        }
    }

    #[inline]
    fn with_parent(self) -> Self {
        Self {
            nodes: self.nodes + 1,
            ..self
        }
    }
}

/// The serial version.
pub fn serial(law: &Law, node: &Node) -> Counts {
    if node.children == 0 {
        return Counts::leaf(node.depth);
    }
    (0..node.children)
        .map(|number| serial(law, &law.child(node, number)))
        .fold(Counts::default(), Counts::and)
        .with_parent()
}

/// The parallel body by joins: the children of a node are halved down to one.
#[inline]
pub fn by_joins<R: Runtime>(fork: &mut R::Fork<'_>, law: &Law, node: &Node) -> Counts {
    match node.children {
        0 => Counts::leaf(node.depth),
        children => among::<R>(fork, law, node, 0, children).with_parent(),
    }
}

/// Counts the children of `parent` from `start` to before `end`.
///
/// A leaf is counted in the half that it is, without a call, and closures take what they need by
/// value: they and this frame are what a level of the tree costs on the stack.
fn among<R: Runtime>(
    fork: &mut R::Fork<'_>,
    law: &Law,
    parent: &Node,
    start: u32,
    end: u32,
) -> Counts {
    if end - start == 1 {
        return by_joins::<R>(fork, law, &law.child(parent, start));
    }
    let middle = start + (end - start) / 2;
    let (a, b) = R::join(
        fork,
        move |fork| half::<R>(fork, law, parent, start, middle),
        move |fork| half::<R>(fork, law, parent, middle, end),
    );
    a.and(b)
}

#[inline]
fn half<R: Runtime>(
    fork: &mut R::Fork<'_>,
    law: &Law,
    parent: &Node,
    start: u32,
    end: u32,
) -> Counts {
    match end - start {
        1 => by_joins::<R>(fork, law, &law.child(parent, start)),
        _ => among::<R>(fork, law, parent, start, end),
    }
}

/// So many children leave their counts in their parent's frame, more of them in a vector.
const FEW: usize = 8;

/// The parallel body by spawns: a scope for every node that has children, a spawn for every child.
pub fn by_spawns<R: Runtime>(law: &Law, node: &Node) -> Counts {
    let mut counts = Counts::default();
    spawn_below::<R>(law, node, &mut counts);
    counts
}

/// Counts into the place where the sum is wanted, which a value on its way through several frames would reach by copies.
#[inline]
fn spawn_below<R: Runtime>(law: &Law, node: &Node, counts: &mut Counts) {
    match node.children as usize {
        0 => *counts = Counts::leaf(node.depth),
        few @ 1..=FEW => {
            spawn_children::<R>(law, node, &mut [Counts::default(); FEW][..few], counts);
        }
        many => spawn_children::<R>(law, node, &mut vec![Counts::default(); many], counts),
    }
}

/// Counts the children of `parent`, each into its place in `children`.
fn spawn_children<R: Runtime>(
    law: &Law,
    parent: &Node,
    children: &mut [Counts],
    counts: &mut Counts,
) {
    R::scope(|scope| {
        for (number, counts) in (0..).zip(children.iter_mut()) {
            R::spawn(scope, move |_| {
                spawn_below::<R>(law, &law.child(parent, number), counts);
            });
        }
    });
    let sum = children.iter().copied().fold(*counts, Counts::and);
    *counts = sum.with_parent();
}
