//! Named trees and their node counts.
//!
//! Names, parameters and sizes are those of the sample trees of the UTS benchmark (Olivier, Huan,
//! Liu, Prins, Dinan, Sadayappan and Tseng, UTS: An Unbalanced Tree Search Benchmark, LCPC 2006);
//! the tiny trees are ours. `BOTS-tiny` is both the input `tiny` of the Barcelona OpenMP Tasks
//! Suite and the larger tree of Adnan and Sato, "Dynamic multiple work stealing strategy for
//! flexible load balancing", 2012. Both sources report 30,399,116 nodes, which leaves out the root.

use super::tree::{Shape, Tree, Type};
use super::walk::Counts;

/// A named tree with known counts.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The tree's name, as a parameter value.
    pub name: &'static str,
    /// The tree's parameters.
    pub tree: Tree,
    /// The known counts of the tree's nodes.
    pub counts: Counts,
}

/// The benchmark's defaults, for parameters that a named tree doesn't set.
const PLAIN: Tree = Tree {
    kind: Type::Geometric,
    shape: Shape::Linear,
    b0: 4.0,
    depth: 6,
    q: 0.234375,
    m: 4,
    seed: 0,
};

const fn fixed(depth: u32, seed: u32) -> Tree {
    Tree {
        shape: Shape::Fixed,
        depth,
        seed,
        ..PLAIN
    }
}

const fn binomial(q: f64, m: u32, seed: u32) -> Tree {
    Tree {
        kind: Type::Binomial,
        b0: 2000.0,
        q,
        m,
        seed,
        ..PLAIN
    }
}

const fn named(name: &'static str, tree: Tree, nodes: u64, depth: u32, leaves: u64) -> Named {
    let counts = Counts {
        nodes,
        leaves,
        depth: depth as u64,
    };
    Named { name, tree, counts }
}

const T4: Tree = Tree {
    kind: Type::Hybrid,
    depth: 16,
    b0: 6.0,
    seed: 1,
    ..PLAIN
};

const T5: Tree = Tree {
    depth: 20,
    seed: 34,
    ..PLAIN
};

/// The trees that can be selected by name.
#[rustfmt::skip]
pub const TREES: &[Named] = &[
    named("T1", fixed(10, 19), 4_130_071, 10, 3_305_118),
    named("T3", binomial(0.124875, 8, 42), 4_112_897, 1572, 3_599_034),
    named("T4", T4, 4_132_453, 134, 3_108_986),
    named("T5", T5, 4_147_582, 20, 2_181_318),
    named("T1L", fixed(13, 29), 102_181_082, 13, 81_746_377),
    named("T3L", binomial(0.200014, 5, 7), 111_345_631, 17_844, 89_076_904),
    named("BOTS-tiny", binomial(0.333332, 3, 8), 30_399_117, 6974, 20_266_744),
    named("tiny", fixed(5, 19), 3987, 5, 3232),
    named("small", fixed(8, 19), 257_042, 8, 205_878),
    named("tiny-binomial", binomial(0.12, 8, 42), 62_689, 124, 55_102),
];

/// The names of all named trees, as parameter values.
#[rustfmt::skip]
pub const NAMES: &[&str] = &[
    "T1", "T3", "T4", "T5", "T1L", "T3L", "BOTS-tiny", "tiny", "small", "tiny-binomial",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uts::{Law, serial};
    use std::thread;

    /// The stack size for the deepest tree that the tests count, even without optimization.
    const STACK: usize = 64 << 20;

    fn counts(named: &Named) -> Counts {
        let law = Law::new(named.tree);
        let counting = thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || serial(&law, &law.root()));
        counting.expect("a thread").join().expect("the counts")
    }

    #[test]
    fn names_and_trees_are_the_same() {
        assert!(
            TREES
                .iter()
                .map(|named| named.name)
                .eq(NAMES.iter().copied())
        );
    }

    /// The test covers the trees with fewer than 100,000 nodes.
    #[test]
    fn small_trees_have_known_counts() {
        let small: Vec<_> = TREES.iter().filter(|t| t.counts.nodes < 100_000).collect();
        assert_eq!(small.len(), 2);
        for named in small {
            assert_eq!(counts(named), named.counts, "{}", named.name);
        }
    }

    #[test]
    #[cfg_attr(
        debug_assertions,
        ignore = "takes a second for four million nodes, a minute without optimisation"
    )]
    fn large_trees_have_known_counts() {
        for named in TREES.iter().filter(|t| t.counts.nodes < 100_000_000) {
            assert_eq!(counts(named), named.counts, "{}", named.name);
        }
    }
}
