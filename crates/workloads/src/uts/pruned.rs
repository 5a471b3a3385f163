//! A walk that can be stopped, so that other processes count the rest of the tree.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::state::State;
use super::tree::{Law, Node};
use super::walk::{Counts, Unfold, below};
use crate::runtime::Tidegate;

/// A node's state and depth, which determine its subtree.
pub type Place = (State, u32);

/// Counts the subtrees of `nodes` on the current pool. Once `stop` is true, the walk leaves out the
/// subtrees that it reaches, and also returns their roots. All of them are below `nodes`, and have
/// children.
pub fn count_until(stop: &AtomicBool, law: &Law, nodes: &[Place]) -> (Counts, Vec<Place>) {
    let pruned = Pruned {
        law,
        stop,
        left: Mutex::default(),
    };
    let count = |number: usize| {
        let (state, depth) = nodes[number];
        let node = law.node(state, depth);
        below::<Tidegate>(&mut (), &pruned, &node, node.children)
    };
    let counts = tidegate::map_reduce(0..nodes.len(), count, Counts::and).unwrap_or_default();
    let left = pruned.left.into_inner().expect("no thread panicked");
    // They were counted as leaves. Their children are deeper, so the depth stays right.
    let few = left.len() as u64;
    let counts = Counts {
        nodes: counts.nodes - few,
        leaves: counts.leaves - few,
        ..counts
    };
    (counts, left)
}

/// A tree whose inner nodes become leaves once `stop` is true.
struct Pruned<'a> {
    law: &'a Law,
    stop: &'a AtomicBool,
    /// The nodes that became leaves.
    left: Mutex<Vec<Place>>,
}

impl Pruned<'_> {
    #[cold]
    #[inline(never)]
    fn prune(&self, node: &Node) {
        let mut left = self.left.lock().expect("no thread panicked");
        left.push((node.state, node.depth));
    }
}

impl Unfold for Pruned<'_> {
    #[inline]
    fn law(&self) -> &Law {
        self.law
    }

    #[inline]
    fn children(&self, node: &Node) -> u32 {
        // Relaxed: the flag publishes nothing else.
        if node.children > 0 && self.stop.load(Ordering::Relaxed) {
            self.prune(node);
            return 0;
        }
        node.children
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uts::{Uts, serial};

    fn count(stop: bool, law: &Law, nodes: &[Place]) -> (Counts, Vec<Place>) {
        let pool = tidegate::Pool::builder().workers(2).build().unwrap();
        pool.install(|| count_until(&AtomicBool::new(stop), law, nodes))
    }

    #[test]
    fn parts_add_up_to_the_tree() {
        let law = Law::new(Uts::named("tiny").unwrap().tree);
        let root = law.root();
        let known = serial(&law, &root);
        let mut nodes = vec![(root.state, root.depth)];
        assert_eq!(count(false, &law, &nodes), (known, Vec::new()));
        let (mut all, mut parts) = (Counts::default(), 0);
        while !nodes.is_empty() {
            let (counts, left) = count(true, &law, &nodes);
            all = all.and(counts);
            nodes = left;
            parts += 1;
        }
        assert_eq!(all, known);
        assert!(parts > 2, "{parts}");
    }
}
