//! How large a dag is: its tasks, its work T1 and its span Tinf.
//!
//! T1 is the time on one processor, Tinf that on as many as could be used, both without any cost of scheduling. The machine
//! finds the same numbers on its way; a walk finds them without a schedule, so that each can be held against the other.

use crate::chain::Chain;
use crate::dag::{Dag, Step};
use tidegate_policy::Nanos;

/// The size of a dag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// How many tasks it has.
    pub tasks: u64,
    /// The time that all of them take together.
    pub work: Nanos,
    /// The time that the longest chain takes of tasks that wait for each other, rests included.
    pub span: Nanos,
    /// How many actions the longest chain has: steps, and one more for every `k` bytes of a lease, as in the bounds of depth-first schedulers.
    pub depth: u64,
    /// Whether a task rests.
    pub rests: bool,
    /// The most that is declared at a time in this order, S1.
    pub peak_bytes: u64,
}

/// A task on the way down, and the longest chain that ends where it stands.
struct Level<T> {
    task: T,
    chain: Chain,
    /// The longest chain through what it has spawned.
    longest: Chain,
    /// The second half of a fork, until the first is over.
    second: Option<(T, Chain)>,
    /// Whether it joins when it is reached again: after a call or fork it does, after a spawn it does not.
    joins: bool,
    /// What it has declared.
    leases: Vec<u64>,
}

impl<T> Level<T> {
    fn new(task: T, chain: Chain) -> Self {
        Self {
            task,
            chain,
            longest: Chain::default(),
            second: None,
            joins: false,
            leases: Vec::new(),
        }
    }

    /// Declares so many bytes.
    fn lease(&mut self, bytes: u64, k: u64) -> u64 {
        self.chain.actions += bytes / k.max(1);
        self.leases.push(bytes);
        bytes
    }

    /// The task is over. What it gives back.
    fn end(&mut self) -> u64 {
        self.join();
        self.leases.iter().sum()
    }

    /// Goes on behind all that it has spawned.
    fn join(&mut self) {
        self.chain = self.chain.max(self.longest);
    }
}

impl Extent {
    /// Walks the whole of `dag`, in series and depth first; a lease is one action.
    pub fn of<D: Dag>(dag: &D) -> Self {
        Self::with_k(dag, u64::MAX)
    }

    /// The same; a lease is an action more for every `k` bytes of it.
    pub fn with_k<D: Dag>(dag: &D, k: u64) -> Self {
        let mut extent = Self::default();
        let mut declared = 0;
        let mut stack = vec![Level::new(dag.root(), Chain::default())];
        while let Some(level) = stack.last_mut() {
            if let Some((second, chain)) = level.second.take() {
                stack.push(Level::new(second, chain));
                continue;
            }
            if std::mem::take(&mut level.joins) {
                level.join();
            }
            level.chain.actions += 1;
            let child = match dag.next(&mut level.task) {
                Step::Work(time) => {
                    extent.work = extent.work.saturating_add(time);
                    level.chain.lengthen(time);
                    continue;
                }
                Step::Rest(time) => {
                    extent.rests = true;
                    level.chain.lengthen(time);
                    continue;
                }
                Step::Lease(bytes) => {
                    declared += level.lease(bytes, k);
                    extent.peak_bytes = extent.peak_bytes.max(declared);
                    continue;
                }
                Step::Free => {
                    declared -= level.leases.pop().unwrap_or(0);
                    continue;
                }
                Step::Join => {
                    level.join();
                    continue;
                }
                Step::End => {
                    declared -= level.end();
                    extent.end(&mut stack);
                    continue;
                }
                Step::Fork(first, second) => {
                    level.second = Some((second, level.chain));
                    level.joins = true;
                    first
                }
                Step::Call(child) => {
                    level.joins = true;
                    child
                }
                Step::Spawn(child) => child,
            };
            let chain = level.chain;
            stack.push(Level::new(child, chain));
        }
        extent
    }

    /// The task on top is over: the one below hears how long its chain was.
    fn end<T>(&mut self, stack: &mut Vec<Level<T>>) {
        self.tasks += 1;
        let ended = stack.pop().map_or(Chain::default(), |level| level.chain);
        match stack.last_mut() {
            Some(level) => level.longest = level.longest.max(ended),
            None => (self.span, self.depth) = (ended.time, ended.actions),
        }
    }
}
