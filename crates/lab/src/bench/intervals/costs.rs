//! Measures the cost of empty tasks. They are created in batches, one after the other, so that
//! their memory stays in the cache.
//!
//! An inline interval creates each batch of intervals. Each batch of spawns has its own scope, and
//! each batch of `dagrs` tasks has its own graph ([`graphs`]). A sample is the mean over many
//! batches, and includes the cost of that interval, scope or graph.

use std::ops::Range;
use std::time::Instant;

use tidegate::interval::{Interval, Scope};
use tidegate_workloads::{Rayon, Runtime, Tidegate};

use super::graphs::{self, Graphs};
use crate::engine::{Sample, Session};
use tidegate_cli_support::failure::Failure;

pub const BATCH: usize = 100;
/// The number of batches is divided by this for `dagrs`, whose tasks take longer.
const FEWER: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Each task waits for this many tasks at the beginning of its batch.
    First(usize),
    Chain,
}

const PATTERNS: [(&str, Pattern); 5] = [
    ("no edges", Pattern::First(0)),
    ("1 edge each", Pattern::First(1)),
    ("2 edges each", Pattern::First(2)),
    ("5 edges each", Pattern::First(5)),
    ("chain", Pattern::Chain),
];

/// The cost of a task in one case on one runtime.
pub struct Cost<'a> {
    pub case: &'static str,
    pub runtime: &'static str,
    pub workers: usize,
    edges: usize,
    sample: Box<dyn Fn() -> f64 + 'a>,
    /// Nanoseconds per task, including the task's edges.
    pub each: Sample,
    /// Nanoseconds per edge. In each round, the time per task without edges is subtracted from the
    /// time per task of this case. The difference is divided by the number of edges per task.
    pub edge: Sample,
}

/// Returns all cases, on runtimes with the same number of workers. For each runtime, the case
/// without edges comes first.
pub fn all<'a>(
    pool: &'a Tidegate,
    rayon: &'a Rayon,
    graphs: &'a Graphs,
    workers: usize,
    batches: usize,
) -> Vec<Cost<'a>> {
    let cost = |case, runtime, edges, sample| Cost {
        case,
        runtime,
        workers,
        edges,
        sample,
        each: Sample::default(),
        edge: Sample::default(),
    };
    let mut all = vec![
        cost(
            "spawns",
            Rayon::NAME,
            0,
            Box::new(move || spawns(rayon, batches)) as Box<_>,
        ),
        cost(
            "spawns",
            Tidegate::NAME,
            0,
            Box::new(move || spawns(pool, batches)),
        ),
    ];
    all.extend(PATTERNS.map(|(name, pattern)| {
        let sample = Box::new(move || intervals(pool, pattern, batches));
        cost(name, Tidegate::NAME, pattern.edges(), sample)
    }));
    all.extend(PATTERNS.map(|(name, pattern)| {
        let batches = batches.div_ceil(FEWER);
        let sample = Box::new(move || of_each(batches, || graphs.batch(pattern)));
        cost(name, graphs::NAME, pattern.edges(), sample)
    }));
    all
}

pub fn measure(session: &Session, all: &mut [Cost<'_>], repeat: u32) -> Result<(), Failure> {
    let name = |cost: &Cost<'_>| format!("{}/{}/{}", cost.case, cost.runtime, cost.workers);
    let names: Vec<String> = all.iter().map(name).collect();
    let nanos = session.share_turns(&names, repeat.into(), |cost, _| Ok((all[cost].sample)()))?;
    let mut without = &[][..];
    for (cost, nanos) in all.iter_mut().zip(&nanos) {
        cost.each = Sample::new(nanos.iter().copied());
        if cost.edges == 0 {
            without = nanos;
            continue;
        }
        let tasks = BATCH as f64 / cost.edges as f64;
        let edge = nanos
            .iter()
            .zip(without)
            .map(|(nanos, without)| (nanos - without) * tasks);
        cost.edge = Sample::new(edge);
    }
    Ok(())
}

impl Cost<'_> {
    pub fn edges(&self) -> f64 {
        self.edges as f64 / BATCH as f64
    }
}

impl Pattern {
    /// Returns the tasks of a batch that wait for the task `number`.
    pub fn behind(self, number: usize) -> Range<usize> {
        let end = match self {
            Self::First(most) if number < most => BATCH,
            Self::First(_) => number + 1,
            Self::Chain => BATCH.min(number + 2),
        };
        number + 1..end
    }

    fn edges(self) -> usize {
        (0..BATCH).map(|number| self.behind(number).len()).sum()
    }

    /// Returns the maximum number of earlier intervals that an interval waits for.
    fn most(self) -> usize {
        match self {
            Self::First(most) => most,
            Self::Chain => 1,
        }
    }

    fn batch<'scope>(self, body: &Scope<'scope, '_>) {
        let mut before: Vec<Interval<'scope>> = Vec::with_capacity(8);
        for _ in 0..BATCH {
            let next = body.interval(|_| ());
            for before in &before {
                let edge = before.end().before(next.start());
                edge.expect("it was created before");
            }
            let next = next.schedule();
            if before.len() < self.most() {
                before.push(next);
            } else if self == Self::Chain {
                before[0] = next;
            }
        }
    }
}

fn intervals(pool: &Tidegate, pattern: Pattern, batches: usize) -> f64 {
    per_task(pool, batches, || {
        Tidegate::intervals(&mut (), |body| pattern.batch(body));
    })
}

fn spawns<R: Runtime>(runtime: &R, batches: usize) -> f64 {
    per_task(runtime, batches, || {
        R::scope(|scope| (0..BATCH).for_each(|_| R::spawn(scope, |_| ())));
    })
}

/// Returns the mean nanoseconds per task over `batches` batches.
fn per_task<R: Runtime>(runtime: &R, batches: usize, batch: impl Fn() + Sync) -> f64 {
    runtime.install(|_| of_each(batches, &batch))
}

fn of_each(batches: usize, batch: impl Fn()) -> f64 {
    let start = Instant::now();
    (0..batches).for_each(|_| batch());
    start.elapsed().as_nanos() as f64 / (batches * BATCH) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate::interval::Recorder;

    #[test]
    fn batch_has_its_pattern_edges() {
        let edges = PATTERNS.map(|(name, pattern)| {
            let recording = Recorder::new();
            recording.run(|body| pattern.batch(body)).unwrap();
            let graph = recording.finish();
            assert_eq!(graph.intervals().len(), 1 + BATCH);
            assert_eq!(graph.edges().len(), pattern.edges(), "{name}");
            pattern.edges()
        });
        assert_eq!(edges, [0, 99, 197, 485, 99]);
    }
}
