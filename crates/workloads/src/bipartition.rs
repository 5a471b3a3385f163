//! Bipartition of a graph by branch and bound: divides the vertices into two halves so that the
//! total weight of the cut edges is minimal.
//!
//! The search assigns one vertex after another to a side. It drops a subproblem unless its lower
//! bound is below the best cut found so far. All tasks share the best cut, so the amount of
//! searching depends on how early a task finds a good cut. The answer is the weight of the best
//! cut, which doesn't depend on the order of the search. If several bipartitions have that weight,
//! each run may find a different one. From Lukas Haselsteiner, Adaptive Work-Stealing Techniques
//! (TU Wien, 2015), section 3.6, where 35 vertices have edges with probability 0.9; our weights are
//! drawn from 1 to 1000.
//!
//! The bound follows Jesper Larsson Träff and Martin Wimmer, An Improved, Easily Computable
//! Combinatorial Lower Bound for Weighted Graph Bipartitioning (arXiv 1410.0462, 2014). For a given
//! assignment of the undecided vertices to sides, each undecided vertex pays the weight of its
//! edges to decided vertices on the other side. It also pays half the weight of its lightest edges
//! to undecided vertices, one edge for each undecided vertex that must go to the other side. The
//! bound is the smallest total over all assignments. Vertices are decided in a fixed order, so the
//! sums of the lightest edges are precomputed in a table.
//!
//! The serial version and the parallel body share the bound and, below the cutoff, the search. This
//! doesn't slow the serial version down: a relaxed load of the shared cut costs as much as a plain
//! load.
//!
//! The simulator has no dag for this program: the set of subproblems depends on when cuts are
//! found, and so on the schedule itself.
//!
//! The program doesn't search the most promising subproblem first, and it doesn't start from a
//! heuristic cut.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::parameter::{Kind::Integer, named, positional};
use crate::program::{Program, parameters, result};
use crate::random_graph::{self, Edges};
use crate::runtime::Runtime;

const MOST: usize = 64;

const HEAVIEST: u64 = 1000;

/// The program `bipartition`, which divides a graph into two halves with the lightest cut.
#[derive(Clone, Copy, Debug)]
pub struct Bipartition {
    /// Number of vertices.
    pub n: usize,
    /// The probability that two vertices have an edge.
    pub p: f64,
    /// Subproblems with up to this many undecided vertices are searched without forks.
    pub cutoff: usize,
    /// The seed for the edges.
    pub seed: u64,
}

/// A graph with weighted edges.
#[derive(Debug)]
pub struct Graph {
    n: usize,
    /// The weight of the edge between each pair of vertices; 0 if there is no edge.
    weights: Vec<[u32; MOST]>,
    /// A table of the sums that [`Graph::lightest`] returns.
    lightest: Vec<u32>,
}

/// A partial solution: the first `decided` vertices are assigned to sides.
#[derive(Clone, Copy, Debug)]
struct Subproblem {
    decided: usize,
    /// How many more vertices each side has room for.
    room: [usize; 2],
    /// The weight of the cut edges between decided vertices.
    cut: u32,
    /// For each side and each undecided vertex, the total weight of the vertex's edges to that
    /// side.
    to: [[u32; MOST]; 2],
}

impl Graph {
    fn new(program: &Bipartition) -> Self {
        let n = program.n;
        let edges = Edges::new(n, program.p, program.seed);
        let weight = |a, b| {
            let drawn = edges.between(a, b).map(u64::from);
            drawn.map_or(0, |drawn| 1 + ((drawn * HEAVIEST) >> 32) as u32)
        };
        let weights: Vec<[u32; MOST]> = (0..n)
            .map(|a| std::array::from_fn(|b| if b < n { weight(a, b) } else { 0 }))
            .collect();
        let lightest = (0..n)
            .flat_map(|decided| (0..n).map(move |vertex| (decided, vertex)))
            .flat_map(|(decided, vertex)| {
                let mut others: Vec<_> = (decided..n)
                    .filter(|other| *other != vertex)
                    .map(|other| weights[vertex][other])
                    .collect();
                others.sort_unstable();
                (0..=n).map(move |count| others.iter().take(count).sum())
            })
            .collect();
        Self {
            n,
            weights,
            lightest,
        }
    }

    /// Returns the sums of the lightest edges between `vertex` and other undecided vertices,
    /// indexed by the number of edges in the sum. A pair without an edge counts as an edge of
    /// weight 0.
    fn lightest(&self, decided: usize, vertex: usize) -> &[u32] {
        &self.lightest[(decided * self.n + vertex) * (self.n + 1)..]
    }

    fn root(&self) -> Subproblem {
        Subproblem {
            decided: 0,
            room: [self.n / 2, self.n - self.n / 2],
            cut: 0,
            to: [[0; MOST]; 2],
        }
    }

    /// Returns both sides, starting with the one that adds less to the cut if it gets the next
    /// vertex.
    fn sides(&self, of: &Subproblem) -> [usize; 2] {
        let [left, right] = of.to.map(|to| to[of.decided]);
        if left >= right { [0, 1] } else { [1, 0] }
    }

    /// Assigns the next vertex to `side`. Returns `None` if that side is full or if the resulting
    /// subproblem can't beat the best cut found so far.
    fn decide(&self, of: &Subproblem, side: usize, found: &AtomicU32) -> Option<Subproblem> {
        if of.room[side] == 0 {
            return None;
        }
        let mut next = *of;
        next.decided += 1;
        next.room[side] -= 1;
        next.cut += of.to[1 - side][of.decided];
        let weights = &self.weights[of.decided];
        for (to, weight) in next.to[side].iter_mut().zip(weights) {
            *to += weight;
        }
        // Relaxed: the best cut found only decreases. A task that reads an old value only searches
        // more.
        (self.bound(&next) < found.load(Ordering::Relaxed)).then_some(next)
    }

    /// Returns a lower bound for the cut of every solution of the subproblem. If all vertices are
    /// decided, the bound is the cut itself.
    fn bound(&self, of: &Subproblem) -> u32 {
        // All weights are doubled, because each end of an edge between two undecided vertices pays
        // half of the edge's weight.
        let mut all_right = 0;
        let mut more_if_left = [0_i32; MOST];
        let undecided = of.decided..self.n;
        let more_if_left = &mut more_if_left[..undecided.len()];
        for (more, vertex) in more_if_left.iter_mut().zip(undecided) {
            let lightest = self.lightest(of.decided, vertex);
            let left = 2 * of.to[1][vertex] + lightest[of.room[1]];
            let right = 2 * of.to[0][vertex] + lightest[of.room[0]];
            all_right += right;
            *more = left as i32 - right as i32;
        }
        let lefts = of.room[0];
        if 0 < lefts && lefts < more_if_left.len() {
            more_if_left.select_nth_unstable(lefts);
        }
        let paid = all_right as i32 + more_if_left[..lefts].iter().sum::<i32>();
        of.cut + (paid as u32).div_ceil(2)
    }

    fn serial(&self, of: &Subproblem, found: &AtomicU32) {
        if of.decided == self.n {
            // Relaxed: as in `decide`. The final value is read after all tasks have ended.
            found.fetch_min(of.cut, Ordering::Relaxed);
            return;
        }
        for side in self.sides(of) {
            if let Some(next) = self.decide(of, side, found) {
                self.serial(&next, found);
            }
        }
    }

    fn parallel<R: Runtime>(
        &self,
        fork: &mut R::Fork<'_>,
        of: &Subproblem,
        found: &AtomicU32,
        cutoff: usize,
    ) {
        if self.n - of.decided <= cutoff {
            return self.serial(of, found);
        }
        // The recursion calls `decide` only when it reaches a side, so that the side must beat the
        // best cut known at that time.
        let search = |fork: &mut R::Fork<'_>, side| {
            if let Some(next) = self.decide(of, side, found) {
                self.parallel::<R>(fork, &next, found, cutoff);
            }
        };
        let [first, second] = self.sides(of);
        R::join(
            fork,
            |fork| search(fork, first),
            |fork| search(fork, second),
        );
    }
}

impl Program for Bipartition {
    const NAME: &'static str = "bipartition";
    const SUMMARY: &'static str = "minimum bisection of a graph by branch and bound";
    parameters! {
        n = positional("n", Integer(0, MOST as u64), ["16", "35", "35"], "number of vertices");
        p = random_graph::probability(["0.9"; 3]);
        cutoff = named("cutoff", Integer(0, MOST as u64), ["6", "12", "12"],
            "undecided vertices that are searched without forking");
        seed = random_graph::SEED;
    }
    result! { self, _, cut =>
        cut "minimum weight between the two halves" = *cut;
    }

    type Input = Graph;
    type Output = u32;

    fn prepare(&self) -> io::Result<Graph> {
        Ok(Graph::new(self))
    }

    fn serial(&self, graph: &mut Graph) -> u32 {
        let found = AtomicU32::new(u32::MAX);
        graph.serial(&graph.root(), &found);
        found.into_inner()
    }

    fn parallel<R: Runtime>(&self, graph: &mut Graph, fork: &mut R::Fork<'_>) -> u32 {
        let found = AtomicU32::new(u32::MAX);
        graph.parallel::<R>(fork, &graph.root(), &found, self.cutoff);
        found.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the total weight of the edges between the vertices in `set` and all other vertices.
    fn cut(graph: &Graph, set: u32) -> u32 {
        let inside = |vertex| set >> vertex & 1 == 1;
        let cut = |a: usize| {
            let others = (0..a).filter(|b| inside(a) != inside(*b));
            others.map(|b| graph.weights[a][b]).sum::<u32>()
        };
        (0..graph.n).map(cut).sum()
    }

    #[test]
    fn cut_into_halves_is_minimal() {
        for n in 0..12 {
            for p in [0.0, 0.3, 0.9, 1.0] {
                let program = Bipartition {
                    n,
                    p,
                    cutoff: 0,
                    seed: n as u64,
                };
                let mut graph = program.prepare().unwrap();
                let halves = (0..1 << n).filter(|set: &u32| set.count_ones() as usize == n / 2);
                let least = halves.map(|set| cut(&graph, set)).min().unwrap();
                assert_eq!(program.serial(&mut graph), least, "{n} {p}");
            }
        }
    }

    #[test]
    fn weights_span_the_whole_range() {
        let program = Bipartition {
            n: MOST,
            p: 1.0,
            cutoff: 0,
            seed: 1,
        };
        let graph = program.prepare().unwrap();
        let weights = (0..MOST).flat_map(|a| graph.weights[a][..a].to_vec());
        let (least, most) = (weights.clone().min().unwrap(), weights.max().unwrap());
        assert!((1..20).contains(&least) && (980..=1000).contains(&most));
    }
}
