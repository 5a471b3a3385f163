//! Random interval graphs: edges, locks, places, values, failures and nested intervals.

use crate::maker::{Around, Maker};
use crate::oracle::{CAUGHT, mix};
use crate::program::{Spot, Task};
use crate::world::World;
use std::sync::atomic::{AtomicU64, Ordering};
use tidegate::interval::{
    self, Failure, Interval, IntervalBuilder, Locked, Scope, UsageError, UsageErrorKind,
};

/// The number of locks that a graph's intervals share.
const LOCKS: usize = 2;

#[derive(Debug)]
pub struct Graph {
    /// The number of the catch that records this graph's failure.
    pub catch: usize,
    pub nodes: Vec<Node>,
}

/// A node of the graph: an interval, and how the program builds it.
#[derive(Debug)]
pub struct Node {
    pub task: Task,
    /// Whether the interval returns an error.
    pub fails: bool,
    pub children: Vec<Task>,
    pub inline: Option<Graph>,
    /// An interval that receives this interval's value.
    pub then: Option<Task>,
    locks: Vec<usize>,
    spot: Option<Spot>,
    edges: Vec<Edge>,
    builder: Builder,
}

/// What the program does with an interval's builder. Unless it is `Scheduled`, the interval starts
/// only after the surrounding body has returned.
#[derive(Clone, Copy, Debug)]
enum Builder {
    Scheduled,
    Dropped,
    Kept,
}

/// An edge between this node and an older one.
#[derive(Debug)]
enum Edge {
    /// From the end of the older node to the start of this node.
    EndToStart(usize),
    StartToStart(usize),
    EndToEnd(usize),
    /// From the end of this node to the end of the older node, which may already have ended.
    Back(usize),
}

impl Graph {
    pub fn random(maker: &mut Maker, around: Around) -> Self {
        let count = maker.rng.usize(1..12);
        let mut nodes = Vec::new();
        for _ in 0..count {
            nodes.push(Node::random(maker, around, &nodes));
        }
        Self {
            catch: maker.number_of_catch(),
            nodes,
        }
    }
}

impl Node {
    fn random(maker: &mut Maker, around: Around, older: &[Node]) -> Self {
        let mut locks: Vec<usize> = (0..LOCKS).filter(|_| maker.once_in(4)).collect();
        if maker.rng.bool() {
            locks.reverse();
        }
        let edges = match older.len() {
            0 => 0,
            _ => maker.rng.usize(..3),
        };
        let mut edge = || {
            let other = maker.rng.usize(..older.len());
            // If an interval holds a lock, its end must not wait for an interval that may want the
            // lock.
            match maker.rng.u32(..6) {
                0 if locks.is_empty() => Edge::EndToEnd(other),
                1 if older[other].locks.is_empty() => Edge::Back(other),
                2 => Edge::StartToStart(other),
                _ => Edge::EndToStart(other),
            }
        };
        let mut edges: Vec<Edge> = (0..edges).map(|_| edge()).collect();
        // `Back` edges may be rejected because they would close a cycle. Other edges are never
        // rejected, so they come first.
        edges.sort_by_key(|edge| matches!(edge, Edge::Back(_)));
        let children = if maker.once_in(4) {
            maker.rng.usize(..4)
        } else {
            0
        };
        Self {
            task: maker.task(around),
            fails: maker.once_in(150),
            children: (0..children).map(|_| maker.task(around)).collect(),
            inline: maker.once_in(12).then(|| Graph::random(maker, around)),
            then: maker.once_in(5).then(|| maker.task(around)),
            locks,
            spot: maker.once_in(5).then(|| maker.spot()),
            edges,
            builder: [Builder::Scheduled, Builder::Dropped, Builder::Kept][maker.rng.usize(..3)],
        }
    }

    /// Returns the tasks that have run when this interval ends.
    fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.children.iter().chain([&self.task])
    }

    fn all_tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks().chain(&self.then)
    }

    /// Returns the nodes that have ended when this node starts.
    fn earlier<'a>(&self, graph: &'a Graph) -> impl Iterator<Item = &'a Node> {
        self.edges.iter().filter_map(|edge| match edge {
            Edge::EndToStart(other) => Some(&graph.nodes[*other]),
            _ => None,
        })
    }
}

/// A running graph.
struct Run<'a> {
    world: &'a World,
    graph: &'a Graph,
    /// Each lock guards a count of the intervals that have held it.
    locks: [Locked<usize>; LOCKS],
    sum: AtomicU64,
}

/// Runs a graph. If `around` is given, the graph runs inline in that scope's body.
pub fn run(world: &World, graph: &Graph, around: Option<&Scope<'_, '_>>) -> u64 {
    let run = Run {
        world,
        graph,
        locks: [Locked::new(0), Locked::new(0)],
        sum: AtomicU64::new(0),
    };
    let tasks = graph.nodes.iter().flat_map(Node::all_tasks);
    let _waits = world.ledger.waits_for(tasks.map(|task| task.number));
    let result = match around {
        None => interval::run(|body| run.draft_all(body)),
        Some(around) => around.inline(|body| run.draft_all(body)),
    };
    match result {
        Ok(()) => run.value(),
        Err(failure) => {
            run.fails(failure);
            CAUGHT
        }
    }
}

impl<'env> Run<'env> {
    fn draft_all<'scope>(&'env self, body: &Scope<'scope, 'env>) {
        let places = tidegate::places();
        let (mut drafts, mut intervals): (Vec<IntervalBuilder<'_, u64>>, Vec<Interval<'_, u64>>) =
            Default::default();
        for node in &self.graph.nodes {
            let token = self.world.ledger.token(node.task.number);
            let mut draft = body.try_interval(move |body| {
                let value = token.run(|| self.node(node, body));
                if node.fails {
                    return Err("on purpose");
                }
                self.add(value);
                Ok(value)
            });
            for lock in &node.locks {
                let lock = draft.lock(self.locks[*lock].handle());
                self.must(lock);
            }
            if let Some(spot) = node.spot {
                draft = draft.at(spot.of(&places));
            }
            for edge in &node.edges {
                self.order(edge, &draft, &intervals);
            }
            if let Some(then) = &node.then {
                let token = self.world.ledger.token(then.number);
                let add = move |_: &Scope<'scope, 'env>, value: &u64| {
                    let own = token.run(|| then.call(self.world, &[]));
                    self.add(mix(*value, own));
                };
                self.must(draft.then(body, add).map(drop));
            }
            intervals.push(Interval::clone(&draft));
            match node.builder {
                Builder::Scheduled => drop(draft.schedule()),
                Builder::Dropped => drop(draft),
                Builder::Kept => drafts.push(draft),
            }
        }
    }

    fn order(&self, edge: &Edge, new: &IntervalBuilder<'_, u64>, older: &[Interval<'_, u64>]) {
        match edge {
            Edge::EndToStart(other) => self.must(older[*other].end().before(new.start())),
            Edge::StartToStart(other) => self.must(older[*other].start().before(new.start())),
            Edge::EndToEnd(other) => self.must(older[*other].end().before(new.end())),
            Edge::Back(other) => match new.end().before(older[*other].end()) {
                Err(misuse)
                    if ![UsageErrorKind::Cycle, UsageErrorKind::Occurred]
                        .contains(&misuse.wrong()) =>
                {
                    self.must(Err(misuse));
                }
                _ => {}
            },
        }
    }

    fn must(&self, result: Result<(), UsageError>) {
        if let Err(misuse) = result {
            self.world.ledger.mistake(misuse.to_string());
        }
    }

    fn node<'scope>(&'env self, node: &'env Node, body: &Scope<'scope, 'env>) -> u64 {
        let ledger = &self.world.ledger;
        let number = node.task.number;
        for earlier in node.earlier(self.graph) {
            if earlier.fails {
                ledger.mistake(format!("task {number} runs after one that has failed"));
            }
            for task in earlier
                .tasks()
                .filter(|task| !ledger.has_finished(task.number))
            {
                ledger.mistake(format!(
                    "task {number} runs before the end of {}",
                    task.number
                ));
            }
        }
        for lock in &node.locks {
            self.locks[*lock].with(body, |held| *held += 1);
        }
        for child in &node.children {
            let token = ledger.token(child.number);
            body.interval(move |_| {
                self.add(token.run(|| child.call(self.world, &[])));
            });
        }
        let inline = node.inline.as_ref();
        let inline = inline.map_or(0, |graph| run(self.world, graph, Some(body)));
        mix(inline, node.task.call(self.world, &[]))
    }

    fn add(&self, value: u64) {
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// Returns the value of a graph without failures.
    fn value(self) -> u64 {
        for (number, lock) in self.locks.into_iter().enumerate() {
            let holders = |node: &&Node| node.locks.contains(&number);
            let holders = self.graph.nodes.iter().filter(holders).count();
            let held = lock.into_inner();
            if held != holders {
                let mistake = format!("lock {number} was held {held} times, expected {holders}");
                self.world.ledger.mistake(mistake);
            }
        }
        self.sum.into_inner()
    }

    fn fails(&self, failure: Failure) {
        if failure.is_stall() {
            self.world.ledger.mistake(failure.to_string());
        }
        if let Ok(payload) = failure.into_panic() {
            self.world.ledger.caught(self.graph.catch, payload);
        }
    }
}
