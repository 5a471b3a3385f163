//! A tree whose work and span can be chosen separately, because some children of every node run in
//! series.
//!
//! `knary(n, k, r)` has `n` levels and `k` children per inner node. The first `r` children run one
//! after the other, then the rest run in parallel; every node takes [`STEPS`] steps. The program is
//! by Robert Blumofe; see Siddhartha Sen, Dynamic Processor Allocation for Adaptively Parallel
//! Work-Stealing Jobs (MIT, 2004), section 7.
//!
//! With `form join`, a node calls its serial children. With `form spawn`, it spawns each child and
//! waits after each serial one, as in Cilk, so a thief can take the node while a serial child runs.
//!
//! The program has no cutoff, and its tree is not random; for a random tree, use `uts`.

use crate::parameter::{Kind::Integer, ParameterError, positional};
use crate::program::{Form, Program, parameters, result, with_form, without_input};
use crate::runtime::Runtime;
use crate::steps::{random, steps};

/// Steps per node.
pub const STEPS: u64 = 100;

/// The maximum number of nodes in a tree.
const MOST_NODES: u64 = 1 << 40;

/// The program `knary`, which walks a tree of equal nodes.
#[derive(Clone, Copy, Debug)]
pub struct Knary {
    /// Number of levels, including the root's.
    pub n: u32,
    /// Children per inner node.
    pub k: u32,
    /// How many of each node's children run in series.
    pub r: u32,
    /// How the parallel body creates its tasks.
    pub form: Form,
}

/// The number of nodes in a subtree and a checksum of their states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    nodes: u64,
    mix: u64,
}

impl Tally {
    #[inline]
    fn and(self, other: Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            mix: self.mix.wrapping_add(other.mix),
        }
    }
}

/// A node that has run its steps: the number of levels of its subtree, and the state after its last
/// step.
#[derive(Clone, Copy)]
struct Node {
    levels: u32,
    state: u64,
}

impl Node {
    #[inline]
    fn new(levels: u32, seed: u64) -> Self {
        let state = steps(seed, STEPS);
        Self { levels, state }
    }

    #[inline]
    fn child(self, number: u32) -> Self {
        Self::new(self.levels - 1, random(self.state, number.into()))
    }

    #[inline]
    fn tally(self) -> Tally {
        Tally {
            nodes: 1,
            mix: self.state,
        }
    }
}

impl Knary {
    fn root(&self) -> Node {
        Node::new(self.n, 1)
    }

    /// Returns the number of nodes in the tree, or `None` if it exceeds `MOST_NODES`.
    fn nodes(&self) -> Option<u64> {
        let mut nodes = 1_u64;
        for _ in 1..self.n {
            nodes = nodes.checked_mul(self.k.into())?.checked_add(1)?;
            if nodes > MOST_NODES {
                return None;
            }
        }
        Some(nodes)
    }

    fn walk(&self, node: Node) -> Tally {
        if node.levels == 1 {
            return node.tally();
        }
        (0..self.k)
            .map(|number| self.walk(node.child(number)))
            .fold(node.tally(), Tally::and)
    }

    fn fork<R: Runtime>(&self, fork: &mut R::Fork<'_>, node: Node) -> Tally {
        if node.levels == 1 {
            return node.tally();
        }
        let series = (0..self.r)
            .map(|number| self.fork::<R>(fork, node.child(number)))
            .fold(node.tally(), Tally::and);
        match self.k - self.r {
            0 => series,
            _ => series.and(self.fork_among::<R>(fork, node, self.r, self.k)),
        }
    }

    fn by_spawns<R: Runtime>(&self, node: Node) -> Tally {
        if node.levels == 1 {
            return node.tally();
        }
        let mut tallies = vec![Tally::default(); self.k as usize];
        let (series, parallel) = tallies.split_at_mut(self.r as usize);
        for (group, first) in series.chunks_mut(1).chain([parallel]).zip(0..) {
            R::scope(|scope| {
                for (tally, number) in group.iter_mut().zip(first..) {
                    let child = move || self.by_spawns::<R>(node.child(number));
                    R::spawn(scope, move |_| *tally = child());
                }
            });
        }
        tallies.into_iter().fold(node.tally(), Tally::and)
    }

    /// Runs the children `start..end` of `node` in parallel.
    fn fork_among<R: Runtime>(
        &self,
        fork: &mut R::Fork<'_>,
        node: Node,
        start: u32,
        end: u32,
    ) -> Tally {
        if end - start == 1 {
            return self.fork::<R>(fork, node.child(start));
        }
        let middle = start + (end - start) / 2;
        let (a, b) = R::join(
            fork,
            move |fork| self.fork_among::<R>(fork, node, start, middle),
            move |fork| self.fork_among::<R>(fork, node, middle, end),
        );
        a.and(b)
    }
}

impl Program for Knary {
    const NAME: &'static str = "knary";
    const SUMMARY: &'static str = "k-ary tree; some children of each node run in series";
    parameters! {
        n = positional("n", Integer(1, 1000), ["5", "10", "10"], "levels of the tree");
        k = positional("k", Integer(1, 1000), ["4", "4", "6"], "children of each inner node");
        r = positional("r", Integer(0, 1000), ["1", "2", "1"],
            "children that run in series, at most k");
        form = Form::parameter("join");
    }
    result! { self, (), tally =>
        nodes "number of nodes" = tally.nodes;
        mix "sum of the nodes' results, modulo 2^64" = tally.mix;
    }

    without_input! {}
    type Output = Tally;
    with_form! {}

    fn check(&self) -> Result<(), ParameterError> {
        let Self { n, k, r, .. } = *self;
        if r > k {
            let expected = format!("an integer from 0 to k, which is {k}");
            return Err(ParameterError::invalid(r, "r", expected));
        }
        self.nodes().map(|_| ()).ok_or_else(|| {
            ParameterError::new(format!(
                "the tree with n={n} and k={k} is too large: expected at most {MOST_NODES} nodes"
            ))
        })
    }

    fn serial(&self, (): &mut ()) -> Tally {
        self.walk(self.root())
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> Tally {
        match self.form {
            Form::Join => self.fork::<R>(fork, self.root()),
            Form::Spawn => self.by_spawns::<R>(self.root()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: u32, k: u32, r: u32) -> Knary {
        let form = Form::Join;
        Knary { n, k, r, form }
    }

    #[test]
    fn node_count_matches_the_formula() {
        for (n, k) in [(1, 5), (6, 1), (5, 4), (4, 6)] {
            let knary = of(n, k, 1);
            assert_eq!(Some(knary.walk(knary.root()).nodes), knary.nodes());
        }
        let paper = of(10, 4, 2);
        assert_eq!(paper.nodes(), Some(349_525));
    }

    #[test]
    fn oversized_tree_is_rejected() {
        let knary = of(100, 3, 0);
        assert_eq!(knary.nodes(), None);
    }
}
