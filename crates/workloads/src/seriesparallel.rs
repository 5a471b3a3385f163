//! A random graph of series and parallel parts: the general form of a fork-join program.
//!
//! A part with one leaf consists of that leaf. A part with several leaves divides them at random
//! between two parts, which run in series or in parallel. Series-parallel graphs are exactly the
//! graphs that fork and join can build (Jacobo Valdes, Robert Tarjan and Eugene Lawler, The
//! recognition of series parallel digraphs, SIAM Journal on Computing 11, 1982). Every leaf takes a
//! random number of steps.
//!
//! The program doesn't resemble any particular application, and it has no cutoff.

use crate::parameter::{Kind::Integer, named, positional, seed};
use crate::program::{Program, parameters, result, without_input};
use crate::runtime::Runtime;
use crate::steps::{random, steps};

/// The program `seriesparallel`, which runs a random series-parallel graph.
#[derive(Clone, Copy, Debug)]
pub struct Seriesparallel {
    /// Number of leaves.
    pub n: u64,
    /// The percentage of parts with several leaves whose two halves run in parallel.
    pub parallel: u64,
    /// The maximum number of steps that a leaf takes.
    pub steps: u64,
    /// The seed for all random choices.
    pub seed: u64,
}

/// A part of the graph.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    leaves: u64,
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A leaf that takes this many steps.
    Leaf(u64),
    Series(Part, Part),
    Parallel(Part, Part),
}

/// Returns a pseudorandom number less than `end`, determined by `seed` and `number`.
fn below(seed: u64, number: u64, end: u64) -> u64 {
    ((u128::from(random(seed, number)) * u128::from(end)) >> 64) as u64
}

impl Seriesparallel {
    /// Returns the part that is the whole graph.
    pub(crate) const fn whole(&self) -> Part {
        Part {
            leaves: self.n,
            seed: self.seed,
        }
    }

    pub(crate) fn shape(&self, Part { leaves, seed }: Part) -> Shape {
        if leaves == 1 {
            return Shape::Leaf(1 + below(seed, 0, self.steps));
        }
        let first = 1 + below(seed, 0, leaves - 1);
        let part = |leaves, number| Part {
            leaves,
            seed: random(seed, number),
        };
        let (first, second) = (part(first, 1), part(leaves - first, 2));
        if below(seed, 3, 100) < self.parallel {
            Shape::Parallel(first, second)
        } else {
            Shape::Series(first, second)
        }
    }

    fn walk(&self, part: Part) -> u64 {
        match self.shape(part) {
            Shape::Leaf(count) => steps(part.seed | 1, count),
            Shape::Series(first, second) | Shape::Parallel(first, second) => {
                self.walk(first).wrapping_add(self.walk(second))
            }
        }
    }

    fn fork<R: Runtime>(&self, fork: &mut R::Fork<'_>, part: Part) -> u64 {
        let (first, second) = match self.shape(part) {
            Shape::Leaf(count) => (steps(part.seed | 1, count), 0),
            Shape::Series(first, second) => {
                let first = self.fork::<R>(fork, first);
                (first, self.fork::<R>(fork, second))
            }
            Shape::Parallel(first, second) => R::join(
                fork,
                move |fork| self.fork::<R>(fork, first),
                move |fork| self.fork::<R>(fork, second),
            ),
        };
        first.wrapping_add(second)
    }
}

impl Program for Seriesparallel {
    const NAME: &'static str = "seriesparallel";
    const SUMMARY: &'static str = "random series-parallel graph";
    parameters! {
        n = positional("n", Integer(1, 1 << 40), ["1000", "1000000", "10000000"],
            "number of leaves");
        parallel = named("parallel", Integer(0, 100), ["70"; 3],
            "percentage of compositions that are parallel");
        steps = named("steps", Integer(1, 1 << 40), ["100", "1000", "1000"],
            "maximum steps of work per leaf");
        seed = seed("seed of the graph");
    }
    result! { self, (), output =>
        mix "sum of the leaves' results, modulo 2^64" = *output;
    }

    without_input! {}
    type Output = u64;

    fn serial(&self, (): &mut ()) -> u64 {
        self.walk(self.whole())
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> u64 {
        self.fork::<R>(fork, self.whole())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(graph: &Seriesparallel, part: Part) -> [u64; 3] {
        let (own, parts) = match graph.shape(part) {
            Shape::Leaf(steps) => {
                assert!((1..=graph.steps).contains(&steps));
                return [1, 0, 0];
            }
            Shape::Series(a, b) => ([0, 1, 0], [a, b]),
            Shape::Parallel(a, b) => ([0, 0, 1], [a, b]),
        };
        let [a, b] = parts.map(|part| count(graph, part));
        [0, 1, 2].map(|kind| own[kind] + a[kind] + b[kind])
    }

    /// The test also checks the number of leaves.
    #[test]
    fn graph_has_requested_parallel_share() {
        for parallel in [0, 30, 100] {
            let graph = Seriesparallel {
                n: 10_000,
                parallel,
                steps: 7,
                seed: 3,
            };
            let [leaves, series, pairs] = count(&graph, graph.whole());
            assert_eq!((leaves, series + pairs), (10_000, 9_999));
            assert!(pairs.abs_diff(parallel * 100) < 300, "{pairs}");
        }
    }
}
