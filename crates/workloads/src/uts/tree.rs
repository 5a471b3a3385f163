//! The laws that determine how a tree unfolds: four types of trees and four shapes of geometric
//! trees.
//!
//! A law computes a node's number of children only from the node's depth and its random number, so
//! a tree can be counted without being stored.

use std::f64::consts::TAU;

use super::state::State;

/// The maximum number of children of a node, except for the root of a binomial tree.
const MOST_CHILDREN: u32 = 100;

/// A hybrid tree is geometric down to this fraction of `depth`.
const HYBRID_SHIFT: f64 = 0.5;

/// The number of depths for which the values of a geometric tree are precomputed.
const KNOWN_DEPTHS: u32 = 256;

/// The type of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Each node has `m` children with probability `q` and otherwise none; the root has `b0`
    /// children.
    Binomial,
    /// The number of children has a geometric distribution whose mean depends on the depth.
    Geometric,
    /// Nodes are geometric down to half of `depth`, and binomial below that.
    Hybrid,
    /// Each node at a depth less than `depth` has `b0` children.
    Balanced,
}

/// How the mean number of children in a geometric tree depends on the depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The mean falls linearly and reaches zero at `depth`.
    Linear,
    /// The mean falls as a power of the depth and reaches one at `depth`.
    ExpDecrease,
    /// The mean oscillates with a period of `depth` for five periods.
    Cyclic,
    /// The mean is `b0` at every depth less than `depth`.
    Fixed,
}

/// The parameters of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tree {
    /// Whether the tree is binomial, geometric, hybrid or balanced.
    pub kind: Type,
    /// How the mean number of children in a geometric tree depends on the depth.
    pub shape: Shape,
    /// For a binomial tree, the number of the root's children; for a balanced tree, the number of
    /// each node's children. For a geometric or hybrid tree, the mean number of the root's
    /// children.
    pub b0: f64,
    /// The depth of a balanced tree. For a geometric or hybrid tree, the scale of the depth.
    pub depth: u32,
    /// The probability that a binomial node has children.
    pub q: f64,
    /// The number of children of a binomial node that has children.
    pub m: u32,
    /// The seed for the root's state.
    pub seed: u32,
}

impl Tree {
    /// Returns the mean number of children of a geometric node.
    fn mean(&self, depth: u32) -> f64 {
        if depth == 0 {
            return self.b0;
        }
        let (k, d) = (f64::from(depth), f64::from(self.depth));
        match self.shape {
            Shape::Linear => self.b0 * (1.0 - k / d),
            Shape::ExpDecrease => self.b0 * k.powf(-self.b0.ln() / d.ln()),
            Shape::Cyclic if k > 5.0 * d => 0.0,
            Shape::Cyclic => self.b0.powf((TAU * k / d).sin()),
            Shape::Fixed if depth < self.depth => self.b0,
            Shape::Fixed => 0.0,
        }
    }

    /// Returns ln(1 - p) for a geometric node, where p is the probability that the node has no
    /// children.
    fn log_failure(&self, depth: u32) -> f64 {
        let p = 1.0 / (1.0 + self.mean(depth));
        (1.0 - p).ln()
    }

    fn is_geometric_at(&self, depth: u32) -> bool {
        match self.kind {
            Type::Geometric => true,
            Type::Hybrid => f64::from(depth) < HYBRID_SHIFT * f64::from(self.depth),
            Type::Binomial | Type::Balanced => false,
        }
    }
}

/// A tree node. It is computed when a walk reaches it, and never stored.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Determines the subtree, together with the depth.
    pub state: State,
    /// The distance from the root, which has depth 0.
    pub depth: u32,
    /// How many children the law gives to the node.
    pub children: u32,
}

/// The law of a tree, with precomputed values that depend only on the depth.
#[derive(Clone, Debug)]
pub struct Law {
    tree: Tree,
    log_failures: Vec<f64>,
}

impl Law {
    /// Creates the law of `tree`.
    pub fn new(tree: Tree) -> Self {
        let log_failures = (0..KNOWN_DEPTHS)
            .take_while(|&depth| tree.is_geometric_at(depth))
            .map(|depth| tree.log_failure(depth))
            .collect();
        Self { tree, log_failures }
    }

    /// Computes the root from the tree's seed.
    pub fn root(&self) -> Node {
        self.node(State::root(self.tree.seed), 0)
    }

    /// Returns the child of `parent` at the index `number`.
    // This must not be inlined, because its locals would then be in the frame of every level of a
    // walk.
    #[inline(never)]
    pub fn child(&self, parent: &Node, number: u32) -> Node {
        self.node(parent.state.child(number), parent.depth + 1)
    }

    /// Computes the node with this state at `depth`.
    #[inline]
    pub fn node(&self, state: State, depth: u32) -> Node {
        let probability = f64::from(state.rand()) / f64::from(1_u32 << 31);
        Node {
            state,
            depth,
            children: self.children(probability, depth),
        }
    }

    /// Returns the number of children of a node at `depth` with the random number `probability`.
    #[inline]
    fn children(&self, probability: f64, depth: u32) -> u32 {
        if let Some(&log_failure) = self.log_failures.get(depth as usize) {
            return geometric(probability, log_failure);
        }
        let tree = &self.tree;
        match tree.kind {
            Type::Binomial if depth == 0 => tree.b0 as u32,
            _ if tree.is_geometric_at(depth) => geometric(probability, tree.log_failure(depth)),
            Type::Balanced if depth >= tree.depth => 0,
            Type::Balanced => (tree.b0 as u32).min(MOST_CHILDREN),
            _ if probability < tree.q => tree.m.min(MOST_CHILDREN),
            _ => 0,
        }
    }
}

/// Returns a geometrically distributed number of children for the random number `probability`.
#[inline]
fn geometric(probability: f64, log_failure: f64) -> u32 {
    let children = ((1.0 - probability).ln() / log_failure).floor();
    (children as u32).min(MOST_CHILDREN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: Tree = Tree {
        kind: Type::Geometric,
        shape: Shape::Linear,
        b0: 4.0,
        depth: 6,
        q: 0.25,
        m: 3,
        seed: 0,
    };

    /// Returns the number of children of a node at `depth` for three random numbers.
    fn children(tree: Tree, depth: u32) -> [u32; 3] {
        let law = Law::new(tree);
        [0.3, 0.6, 0.98].map(|probability| law.children(probability, depth))
    }

    #[test]
    fn geometric_trees_have_their_mean() {
        let shape = |shape, depth| children(Tree { shape, ..TREE }, depth);
        // With the mean b, the random number u gives floor(ln(1-u) / ln(b/(1+b))) children.
        assert_eq!(shape(Shape::Linear, 0), [1, 4, 17]);
        assert_eq!(shape(Shape::Linear, 3), [0, 2, 9]); // b = 2
        assert_eq!(shape(Shape::Linear, 6), [0, 0, 0]); // b = 0
        assert_eq!(shape(Shape::Fixed, 5), [1, 4, 17]); // b = 4
        assert_eq!(shape(Shape::Fixed, 6), [0, 0, 0]);
        assert_eq!(shape(Shape::ExpDecrease, 6), [0, 1, 5]); // b = 1
        assert_eq!(shape(Shape::Cyclic, 3), [0, 1, 5]); // b = 1
        assert_eq!(shape(Shape::Cyclic, 30), [0, 1, 5]);
        assert_eq!(shape(Shape::Cyclic, 31), [0, 0, 0]);
    }

    #[test]
    fn other_trees_follow_their_law() {
        let kind = |kind, depth| children(Tree { kind, ..TREE }, depth);
        assert_eq!(kind(Type::Binomial, 0), [4, 4, 4]);
        assert_eq!(kind(Type::Binomial, 1), [0, 0, 0]);
        let likely = Tree {
            kind: Type::Binomial,
            q: 0.5,
            ..TREE
        };
        assert_eq!(children(likely, 1), [3, 0, 0]);
        assert_eq!(kind(Type::Hybrid, 2), [1, 2, 12]); // b = 8/3
        assert_eq!(kind(Type::Hybrid, 3), [0, 0, 0]);
        assert_eq!(kind(Type::Balanced, 5), [4, 4, 4]);
        assert_eq!(kind(Type::Balanced, 6), [0, 0, 0]);
    }

    #[test]
    fn only_binomial_root_exceeds_hundred_children() {
        let wide = |kind| {
            children(
                Tree {
                    kind,
                    b0: 2000.0,
                    ..TREE
                },
                0,
            )
        };
        assert_eq!(wide(Type::Binomial), [2000; 3]);
        assert_eq!(wide(Type::Balanced), [100; 3]);
        assert_eq!(wide(Type::Geometric), [100; 3]);
    }

    #[test]
    fn precomputation_does_not_change_the_tree() {
        for shape in [
            Shape::Linear,
            Shape::ExpDecrease,
            Shape::Cyclic,
            Shape::Fixed,
        ] {
            let tree = Tree {
                shape,
                depth: 60,
                ..TREE
            };
            let (known, unknown) = (
                Law::new(tree),
                Law {
                    tree,
                    log_failures: Vec::new(),
                },
            );
            for step in 0..3000_u32 {
                let probability = f64::from(step % 100) / 100.0;
                let depth = step / 100 * 11;
                assert_eq!(
                    known.children(probability, depth),
                    unknown.children(probability, depth)
                );
            }
        }
    }
}
