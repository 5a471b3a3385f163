//! Random graphs in which each pair of vertices has an edge with the same probability (Paul Erdős
//! and Alfréd Rényi, On the Evolution of Random Graphs, 1960; Edgar Gilbert, Random Graphs, Annals
//! of Mathematical Statistics 30, 1959).
//!
//! Edges are not stored: each access recomputes the edge from the seed, which takes a few
//! multiplications.

use crate::parameter::{Kind, Parameter, named, seed};
use crate::steps::random;

/// The edges of an undirected graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edges {
    vertices: u64,
    /// The probability of an edge, multiplied by 2^32.
    present: u64,
    seed: u64,
}

impl Edges {
    /// Creates the edges of a graph with `vertices` vertices (at most 2^32). Each pair of vertices
    /// has an edge with this probability.
    pub(crate) fn new(vertices: usize, probability: f64, seed: u64) -> Self {
        Self {
            vertices: vertices as u64,
            present: (probability * (1_u64 << 32) as f64) as u64,
            seed,
        }
    }

    /// Returns 32 random bits for the weight of the edge between two vertices, or `None` if they
    /// have no edge. No vertex has an edge to itself.
    pub(crate) fn between(&self, a: usize, b: usize) -> Option<u32> {
        let pair = a.min(b) as u64 * self.vertices + a.max(b) as u64;
        let drawn = random(self.seed, pair);
        (drawn >> 32 < self.present && a != b).then_some(drawn as u32)
    }
}

/// Returns the parameter `p`, with a default for each size.
pub(crate) const fn probability(sizes: [&'static str; 3]) -> Parameter {
    let meaning = "probability of an edge between two vertices";
    named("p", Kind::Number(0.0, 1.0), sizes, meaning)
}

pub(crate) const SEED: Parameter = seed("seed of the edges");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_undirected_with_given_density() {
        for probability in [0.0, 0.25, 0.9, 1.0] {
            let edges = Edges::new(500, probability, 3);
            let mut count = 0;
            for a in 0..500 {
                assert_eq!(edges.between(a, a), None);
                for b in 0..a {
                    assert_eq!(edges.between(a, b), edges.between(b, a));
                    count += usize::from(edges.between(a, b).is_some());
                }
            }
            let share = count as f64 / (500.0 * 499.0 / 2.0);
            assert!((share - probability).abs() < 0.01, "{share}");
        }
    }
}
