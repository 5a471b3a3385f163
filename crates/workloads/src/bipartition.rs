//! Bipartition of a graph by branch and bound: the division of its vertices into two halves that cuts the least weight.
//!
//! Vertices are decided one after the other. A subproblem whose bound is not below the least cut found so far is given up, and tasks share that cut: so how much is searched depends on
//! how early good cuts are found, also by others. The answer is the cut, which every order finds; of several with that cut each run may find another. From Lukas Haselsteiner, Adaptive
//! Work-Stealing Techniques (TU Wien, 2015), section 3.6, where 35 vertices have edges with probability 0.9; our weights are drawn from 1 to 1000.
//!
//! The bound is in the manner of Jesper Larsson Träff and Martin Wimmer, An Improved, Easily Computable Combinatorial Lower Bound for Weighted Graph Bipartitioning (arXiv 1410.0462,
//! 2014): each vertex that is not decided pays for its edges to vertices decided for the other side, and half of as many of its lightest other edges as must be cut, because the other
//! side has still room for so many; who goes where is chosen so that they pay the least. As vertices are decided in a fixed order, sums of lightest edges are in a table.
//!
//! Serial version and parallel body share the bound and, below the cut-off, the search. A relaxed load of the shared cut costs what a plain one does.
//!
//! It is no dag for the simulator: which subproblems there are depends on when cuts are found, so on the schedule itself.
//!
//! What it does not do: take the most promising subproblem of all first, or begin with a cut from a heuristic.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::parameter::{Kind, Parameter, ParameterError, Preset, Values};
use crate::program::{Answer, Field, Program, answer};
use crate::random_graph::{self, Edges};
use crate::runtime::Runtime;

/// The most vertices that a graph may have.
const MOST: usize = 64;

/// The largest weight of an edge.
const HEAVIEST: u64 = 1000;

/// The program `bipartition`.
#[derive(Clone, Copy, Debug)]
pub struct Bipartition {
    /// How many vertices.
    pub n: usize,
    /// The probability that two of them have an edge.
    pub p: f64,
    /// Up to how many undecided vertices a subproblem is searched without forks.
    pub cutoff: usize,
    /// From which the edges are drawn.
    pub seed: u64,
}

/// A graph with weights.
#[derive(Debug)]
pub struct Graph {
    n: usize,
    /// The weight between each two vertices, 0 where there is no edge.
    weights: Vec<[u32; MOST]>,
    /// See [`Graph::lightest`].
    lightest: Vec<u32>,
}

/// Some vertices are decided, the others not.
#[derive(Clone, Copy, Debug)]
struct Subproblem {
    /// How many are decided: those before it.
    decided: usize,
    /// How many more each side takes.
    room: [usize; 2],
    /// The weight that is cut among those decided.
    cut: u32,
    /// For each side and undecided vertex: the weight of its edges to that side.
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

    /// By number of edges: what the lightest ones between a vertex and others that are not decided weigh, pairs without an edge being edges of no weight.
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

    /// The sides for the next vertex, the one that cuts less first.
    fn sides(&self, of: &Subproblem) -> [usize; 2] {
        let [left, right] = of.to.map(|to| to[of.decided]);
        if left >= right { [0, 1] } else { [1, 0] }
    }

    /// The next vertex is decided; none if that side has no room, or if that cannot lead below the cut that was found.
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
        // Relaxed: a number that only falls. Who sees an old one searches more.
        (self.bound(&next) < found.load(Ordering::Relaxed)).then_some(next)
    }

    /// What every solution of the subproblem cuts at least; what it cuts, if all is decided.
    fn bound(&self, of: &Subproblem) -> u32 {
        // Twice the weights: of an edge between two undecided vertices each pays half.
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

    /// The serial version.
    fn serial(&self, of: &Subproblem, found: &AtomicU32) {
        if of.decided == self.n {
            // Relaxed: as in `decide`; it is read in the end by who has waited for all.
            found.fetch_min(of.cut, Ordering::Relaxed);
            return;
        }
        for side in self.sides(of) {
            if let Some(next) = self.decide(of, side, found) {
                self.serial(&next, found);
            }
        }
    }

    /// The parallel body.
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
        // Only when a side's turn comes is it known which cut it has to beat.
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
    const SUMMARY: &'static str = "minimum cut of a graph into halves by branch and bound";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter {
            name: "n",
            positional: true,
            kind: Kind::Integer(0, MOST as u64),
            preset: Preset::Sizes(["16", "35", "35"]),
            meaning: "how many vertices",
        },
        random_graph::probability(["0.9"; 3]),
        Parameter {
            name: "cutoff",
            positional: false,
            kind: Kind::Integer(0, MOST as u64),
            preset: Preset::Sizes(["6", "12", "12"]),
            meaning: "up to how many undecided vertices are searched without forks",
        },
        random_graph::SEED,
    ];
    const RESULT: &'static [Field] = &[Field {
        name: "cut",
        meaning: "the least weight between two halves",
    }];

    type Input = Graph;
    type Output = u32;

    fn from_values(values: &Values) -> Result<Self, ParameterError> {
        Ok(Self {
            n: values.integer("n")? as usize,
            p: values.number("p")?,
            cutoff: values.integer("cutoff")? as usize,
            seed: values.integer("seed")?,
        })
    }

    fn parameters(&self) -> Answer {
        answer([
            ("n", self.n.into()),
            ("p", self.p.into()),
            ("cutoff", self.cutoff.into()),
            ("seed", self.seed.into()),
        ])
    }

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

    fn answer(&self, _: &Graph, cut: &u32) -> Answer {
        answer([("cut", (*cut).into())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weight between the vertices in the set and the others.
    fn cut(graph: &Graph, set: u32) -> u32 {
        let inside = |vertex| set >> vertex & 1 == 1;
        let cut = |a: usize| {
            let others = (0..a).filter(|b| inside(a) != inside(*b));
            others.map(|b| graph.weights[a][b]).sum::<u32>()
        };
        (0..graph.n).map(cut).sum()
    }

    #[test]
    fn the_cut_is_the_least_of_all_into_halves() {
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
    fn weights_reach_from_one_to_the_heaviest() {
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
