//! Computes all distances in a random graph with petgraph: `petgraph NODES EDGES`.

use petgraph::algo::parallel_johnson;
use petgraph::graph::DiGraph;

mod common;

fn main() {
    let [nodes, edges] = common::arguments("petgraph NODES EDGES");
    let mut random = fastrand::Rng::with_seed(1);
    let mut node = || random.u32(..nodes as u32);
    let edges = (0..edges).map(|_| (node(), node(), i64::from(node())));
    let graph = DiGraph::<(), i64>::from_edges(edges);
    let distances = parallel_johnson(&graph, |edge| *edge.weight()).expect("no weight is negative");
    // A sum, because the map yields its entries in any order.
    let entries = distances
        .into_iter()
        .map(|((from, to), distance)| (from.index() * nodes + to.index()) as u64 * distance as u64);
    common::print_checksum([entries.sum::<u64>()]);
}
