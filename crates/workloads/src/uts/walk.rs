//! Counts the nodes of a tree serially, with joins, or with spawns.

use serde::{Deserialize, Serialize};

use super::tree::{Law, Node};
use crate::runtime::Runtime;

/// The counts for a subtree, including its root.
///
/// The order of the fields and their equal size are deliberate. If the sums `nodes` and `leaves`
/// were adjacent, or if one field were narrower, the compiler would load two fields at once right
/// after they were stored separately, and the CPU would stall on that load at every node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Counts {
    /// The number of all nodes, with and without children.
    pub nodes: u64,
    /// Depth of the deepest node; the tree's root has depth 0.
    pub depth: u64,
    /// Number of nodes without children.
    pub leaves: u64,
}

impl Counts {
    /// Returns the counts of a leaf.
    #[inline]
    pub fn leaf(depth: u32) -> Self {
        Self {
            nodes: 1,
            leaves: 1,
            depth: depth.into(),
        }
    }

    /// Returns the counts of two sets of nodes together.
    #[inline]
    pub fn and(self, other: Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            leaves: self.leaves + other.leaves,
            depth: self.depth.max(other.depth),
        }
    }

    /// Adds the parent of the counted subtrees.
    #[inline]
    pub fn with_parent(self) -> Self {
        Self {
            nodes: self.nodes + 1,
            ..self
        }
    }
}

/// Counts the nodes of the subtree below `node` serially, including `node`.
pub fn serial(law: &Law, node: &Node) -> Counts {
    if node.children == 0 {
        return Counts::leaf(node.depth);
    }
    (0..node.children)
        .map(|number| serial(law, &law.child(node, number)))
        .fold(Counts::default(), Counts::and)
        .with_parent()
}

/// How a walk unfolds a tree: as its [`Law`] says, or less of it.
pub(super) trait Unfold: Sync {
    fn law(&self) -> &Law;

    /// Returns how many children of the node the walk visits: all or none.
    fn children(&self, node: &Node) -> u32;
}

impl Unfold for Law {
    #[inline]
    fn law(&self) -> &Law {
        self
    }

    #[inline]
    fn children(&self, node: &Node) -> u32 {
        node.children
    }
}

/// Runs the parallel body with joins, which halve the range of a node's children.
#[inline]
pub fn by_joins<R: Runtime>(fork: &mut R::Fork<'_>, law: &Law, node: &Node) -> Counts {
    below::<R>(fork, law, node, node.children)
}

/// Counts the nodes below `node`, including `node`, if the walk visits `children` of its children.
#[inline]
pub(super) fn below<R: Runtime>(
    fork: &mut R::Fork<'_>,
    tree: &impl Unfold,
    node: &Node,
    children: u32,
) -> Counts {
    match children {
        0 => Counts::leaf(node.depth),
        children => among::<R>(fork, tree, node, 0, children).with_parent(),
    }
}

#[inline]
fn child<R: Runtime>(
    fork: &mut R::Fork<'_>,
    tree: &impl Unfold,
    parent: &Node,
    number: u32,
) -> Counts {
    // The node is not copied: the CPU would stall, because its fields were stored separately.
    let node = tree.law().child(parent, number);
    below::<R>(fork, tree, &node, tree.children(&node))
}

/// Counts the nodes below the children `start..end` of `parent`, including these children.
///
/// To save stack on each level of the tree, a half that is a single child takes no additional call,
/// and closures capture by value.
fn among<R: Runtime>(
    fork: &mut R::Fork<'_>,
    tree: &impl Unfold,
    parent: &Node,
    start: u32,
    end: u32,
) -> Counts {
    if end - start == 1 {
        return child::<R>(fork, tree, parent, start);
    }
    let middle = start + (end - start) / 2;
    let (a, b) = R::join(
        fork,
        move |fork| half::<R>(fork, tree, parent, start, middle),
        move |fork| half::<R>(fork, tree, parent, middle, end),
    );
    a.and(b)
}

#[inline]
fn half<R: Runtime>(
    fork: &mut R::Fork<'_>,
    tree: &impl Unfold,
    parent: &Node,
    start: u32,
    end: u32,
) -> Counts {
    match end - start {
        1 => child::<R>(fork, tree, parent, start),
        _ => among::<R>(fork, tree, parent, start, end),
    }
}

/// Up to this many children write their counts into their parent's frame. For more children, the
/// parent allocates a vector.
const FEW: usize = 8;

/// Runs the parallel body with spawns: a scope for every inner node, and a spawn for every child.
pub fn by_spawns<R: Runtime>(law: &Law, node: &Node) -> Counts {
    let mut counts = Counts::default();
    spawn_below::<R>(law, node, &mut counts);
    counts
}

/// Counts the nodes below `node`, including `node`. Writes the counts directly to their
/// destination, because a return value would be copied through several frames.
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

/// Counts the nodes below `parent`, including `parent`. Each child writes its counts to one element
/// of `children`; `counts` receives the total.
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
