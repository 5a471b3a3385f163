//! Runs graphs with `dagrs`, whose nodes are asynchronous tasks on tokio and whose edges are
//! channels.
//!
//! `dagrs` orders nodes by messages: a node waits for a message from each predecessor and sends one
//! to each successor. Like a batch of intervals, each graph is created, run and dropped.

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use dagrs::{
    Action, Content, DefaultNode, EnvVar, Graph, InChannels, Node, NodeTable, OutChannels, Output,
};
use tokio::runtime::{Builder, Runtime};

use super::costs::{BATCH, Pattern};

pub const NAME: &str = "dagrs";

pub struct Graphs(Runtime);

/// A node that only receives and sends its messages.
struct Empty;

#[async_trait]
impl Action for Empty {
    async fn run(
        &self,
        before: &mut InChannels,
        behind: &mut OutChannels,
        _: Arc<EnvVar>,
    ) -> Output {
        before.map(|_| ()).await;
        behind.broadcast(Content::new(())).await;
        Output::empty()
    }
}

impl Graphs {
    /// Creates a runtime with `workers` workers. A single worker is the calling thread.
    pub fn with_workers(workers: usize) -> io::Result<Self> {
        let mut builder = match workers {
            1 => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        builder.worker_threads(workers).build().map(Self)
    }

    pub fn batch(&self, pattern: Pattern) {
        let mut graph = graph(pattern);
        let run = self.0.block_on(graph.async_start());
        run.expect("no node fails");
    }
}

fn graph(pattern: Pattern) -> Graph {
    let mut table = NodeTable::default();
    let node = |_| DefaultNode::with_action(String::new(), Empty, &mut table);
    let nodes: Vec<_> = (0..BATCH).map(node).collect();
    let ids: Vec<_> = nodes.iter().map(Node::id).collect();
    let mut graph = Graph::new();
    for node in nodes {
        graph.add_node(node).expect("each has an id of its own");
    }
    for (number, id) in ids.iter().enumerate() {
        let behind = pattern.behind(number);
        if !behind.is_empty() {
            let edges = graph.add_edge(*id, ids[behind].to_vec());
            edges.expect("all nodes are in the graph");
        }
    }
    graph.set_env(EnvVar::new(table));
    graph
}
