//! Shortest paths from one vertex of a random graph: one task per relaxation, nearest vertex first.
//!
//! From Lukas Haselsteiner, Adaptive Work-Stealing Techniques (TU Wien, 2015), section 3.6: 10,000
//! vertices, edges with probability 0.5. A task scans all edges of a vertex and spawns a task for
//! each vertex to which it found a shorter path. If a vertex is relaxed before its distance is
//! final, it must be relaxed again later, so the order matters. If the nearest vertex always comes
//! first, this is Edsger Dijkstra's algorithm (A Note on Two Problems in Connexion with Graphs,
//! Numerische Mathematik 1, 1959), and no vertex is relaxed twice.
//!
//! | order | which task begins next |
//! |---|---|
//! | `nearest` | the task of the nearest vertex, by [priority](Runtime::spawn_in_order) |
//! | `youngest` | the task that a deque returns; each relaxation spawns its nearest vertex last |
//!
//! With `youngest`, the owner of a deque next relaxes the nearest vertex of its latest relaxation,
//! no matter which vertices are pending from earlier relaxations. This is depth first and repeats
//! most of the work.
//!
//! Each access to an edge recomputes the edge from the seed. Stored edges would take 800 MB, and
//! the program would wait for memory. Weights are from 1 to 2^32.
//!
//! The serial version is Dijkstra's algorithm with a heap. The simulator has no dag for this
//! program, because the schedule determines which vertices are relaxed twice.
//!
//! The program can't run in parallel without spawns, doesn't divide the edges of one vertex among
//! tasks, and doesn't record the paths.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::parameter::{
    Kind::{Choice, Integer},
    ParameterError, Words, named, positional,
};
use crate::program::{Program, parameters, result, without_input};
use crate::random_graph::{self, Edges};
use crate::runtime::Runtime;
use crate::steps::checksum;

/// The distance of an unreachable vertex.
const NEVER: u64 = u64::MAX;

/// Which vertex is relaxed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The nearest of all pending vertices.
    Nearest,
    /// The nearest vertex found by the latest relaxation.
    Youngest,
}

impl Words for Order {
    const ALL: &'static [Self] = &[Self::Nearest, Self::Youngest];
    const NAMES: &'static [&'static str] = &["nearest", "youngest"];
}

/// The program `sssp`, which finds shortest paths in a random graph.
#[derive(Clone, Copy, Debug)]
pub struct Sssp {
    /// Number of vertices, at least one. Paths start at the first vertex.
    pub n: usize,
    /// The probability that two vertices have an edge.
    pub p: f64,
    /// Which vertex is relaxed next.
    pub order: Order,
    /// The seed for the edges.
    pub seed: u64,
}

/// A distance and the vertex at that distance. Comparisons order by distance.
type Far = (u64, usize);

impl Sssp {
    fn edges(&self) -> Edges {
        Edges::new(self.n, self.p, self.seed)
    }

    /// Returns the distance of `to` on a path through another vertex.
    ///
    /// The result for a missing edge is also a number, so that the caller needs no branch for it:
    /// half of the edges are missing at random, and the CPU would often mispredict such a branch.
    fn by_way(edges: &Edges, (distance, vertex): Far, to: usize) -> u64 {
        let drawn = edges.between(vertex, to);
        drawn.map_or(NEVER, |drawn| distance + 1 + u64::from(drawn))
    }
}

/// The data that the tasks of a parallel run share.
struct Search<'a> {
    program: &'a Sssp,
    distances: Vec<AtomicU64>,
}

// Relaxed throughout: a distance only decreases and publishes no other data. A task gets the
// distance for which it was spawned through the spawn, which is ordered after the store of the
// distance.
impl Search<'_> {
    /// Relaxes the edges of `from` and spawns tasks for the vertices that are now nearer. Does
    /// nothing if a shorter path to `from` has been found since.
    fn relax<'scope, R: Runtime>(&'scope self, scope: &R::Scope<'scope>, from: Far) {
        if from.0 > self.distances[from.1].load(Ordering::Relaxed) {
            return;
        }
        let edges = self.program.edges();
        let mut shorter = Vec::new();
        for (to, known) in self.distances.iter().enumerate() {
            let distance = Sssp::by_way(&edges, from, to);
            if distance < known.load(Ordering::Relaxed)
                && distance < known.fetch_min(distance, Ordering::Relaxed)
            {
                shorter.push((distance, to));
            }
        }
        self.spawn::<R>(scope, shorter);
    }

    fn spawn<'scope, R: Runtime>(&'scope self, scope: &R::Scope<'scope>, mut shorter: Vec<Far>) {
        let relax = |far| move |scope: &R::Scope<'scope>| self.relax::<R>(scope, far);
        match self.program.order {
            Order::Nearest => {
                for far in shorter {
                    R::spawn_in_order(scope, far.0, relax(far));
                }
            }
            Order::Youngest => {
                shorter.sort_unstable_by_key(|&far| Reverse(far));
                for far in shorter {
                    R::spawn(scope, relax(far));
                }
            }
        }
    }
}

/// Returns the distances of the reachable vertices.
fn reached(distances: &[u64]) -> impl Iterator<Item = &u64> {
    distances.iter().filter(|distance| **distance < NEVER)
}

impl Program for Sssp {
    const NAME: &'static str = "sssp";
    const SUMMARY: &'static str = "single-source shortest paths in a dense random graph";
    parameters! {
        n = positional("n", Integer(1, 1 << 24), ["150", "10000", "10000"], "number of vertices");
        p = random_graph::probability(["0.5"; 3]);
        order = named("order", Choice(Order::NAMES), ["nearest"; 3],
            "which vertex is relaxed next: the nearest of all pending ones, or the youngest task");
        seed = random_graph::SEED;
    }
    result! { self, (), distances =>
        reached "number of reachable vertices, including the source" = reached(distances).count();
        farthest "largest distance" = reached(distances).max().copied();
        checksum "hash of the distances" = checksum(distances.iter().copied());
    }
    const SPAWNS: bool = true;

    without_input! {}
    type Output = Vec<u64>;

    fn serial(&self, (): &mut ()) -> Vec<u64> {
        let edges = self.edges();
        let mut distances = vec![NEVER; self.n];
        distances[0] = 0;
        let mut waiting = BinaryHeap::from([Reverse((0, 0))]);
        while let Some(Reverse(from)) = waiting.pop() {
            if from.0 > distances[from.1] {
                continue;
            }
            for (to, known) in distances.iter_mut().enumerate() {
                let distance = Self::by_way(&edges, from, to);
                if distance < *known {
                    *known = distance;
                    waiting.push(Reverse((distance, to)));
                }
            }
        }
        distances
    }

    fn parallel<R: Runtime>(&self, (): &mut (), _: &mut R::Fork<'_>) -> Vec<u64> {
        let search = Search {
            program: self,
            distances: (0..self.n).map(|_| AtomicU64::new(NEVER)).collect(),
        };
        search.distances[0].store(0, Ordering::Relaxed);
        R::scope(|scope| search.relax::<R>(scope, (0, 0)));
        let distances = search.distances.into_iter();
        distances.map(AtomicU64::into_inner).collect()
    }

    fn fits<R: Runtime>(&self, _: &R) -> Result<(), ParameterError> {
        if R::PRIORITIES || self.order == Order::Youngest {
            return Ok(());
        }
        Err(ParameterError::new(format!(
            "sssp with order nearest needs tasks with priorities, and {} has none: expected --order youngest",
            R::NAME
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tidegate;

    /// Computes the distances with the Bellman-Ford algorithm.
    fn by_rounds(program: &Sssp) -> Vec<u64> {
        let edges = program.edges();
        let mut distances = vec![NEVER; program.n];
        distances[0] = 0;
        for _ in 0..program.n {
            for from in 0..program.n {
                for to in 0..program.n {
                    let edge = edges.between(from, to).filter(|_| distances[from] < NEVER);
                    let way = edge.map_or(NEVER, |drawn| distances[from] + u64::from(drawn) + 1);
                    distances[to] = distances[to].min(way);
                }
            }
        }
        distances
    }

    /// The test covers dense and sparse graphs, and both orders of relaxation.
    #[test]
    fn distances_match_bellman_ford() {
        let pool = Tidegate::with_workers(2).unwrap();
        for (n, p) in [
            (1, 0.5),
            (2, 1.0),
            (40, 0.0),
            (40, 0.04),
            (40, 0.1),
            (40, 1.0),
        ] {
            for order in [Order::Nearest, Order::Youngest] {
                let program = Sssp {
                    n,
                    p,
                    order,
                    seed: 2,
                };
                let expected = by_rounds(&program);
                assert_eq!(program.serial(&mut ()), expected, "{n} {p}");
                let body = |fork: &mut ()| program.parallel::<Tidegate>(&mut (), fork);
                assert_eq!(pool.install(body), expected, "{n} {p} {order:?}");
            }
        }
    }
}
