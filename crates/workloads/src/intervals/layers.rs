//! A random graph of intervals in layers: each interval waits for some randomly drawn intervals of
//! the previous layer.
//!
//! Every interval has the same number of edges to the next layer. Two edges may have the same
//! target, and some intervals have no incoming edge. No barrier separates the layers, so paths with
//! different amounts of work run at the same time, as in the layered random graphs that are used to
//! compare schedulers (Takao Tobita and Hironori Kasahara, A standard task graph set for fair
//! evaluation of multiprocessor scheduling algorithms, Journal of Scheduling 5, 2002).
//!
//! An interval's value depends on its predecessors' values, so a wrong result reveals that an
//! interval ran too early.
//!
//! The program keeps the values of all intervals until the end of the run.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::rows::unfold;
use super::{BATCH, follow};
use crate::parameter::{Kind::Integer, ParameterError, named, seed};
use crate::program::{Program, parameters, result};
use crate::runtime::Runtime;
use crate::steps::{checksum, random, steps};

/// The maximum number of intervals in a graph.
const MOST: u64 = 1 << 32;

/// The program `layers`, which runs a random graph of intervals.
#[derive(Clone, Copy, Debug)]
pub struct Layers {
    /// How many layers the graph has.
    pub layers: u64,
    /// Intervals per layer.
    pub width: u64,
    /// Edges from each interval to the next layer.
    pub edges: u64,
    /// The maximum number of steps that an interval takes.
    pub steps: u64,
    /// The seed for all random choices.
    pub seed: u64,
}

impl Layers {
    fn number(&self, layer: u64, place: u64) -> u64 {
        layer * self.width + place
    }

    /// Returns the index, in the next layer, of the interval to which this edge leads.
    pub(crate) fn target(&self, layer: u64, place: u64, edge: u64) -> u64 {
        let number = self.number(layer, place) * self.edges + edge;
        random(self.seed, number) % self.width
    }

    /// Returns the targets of an interval's edges.
    fn targets(&self, layer: u64, place: u64) -> impl Iterator<Item = u64> {
        let this = *self;
        (0..self.edges).map(move |edge| this.target(layer, place, edge))
    }

    /// Returns the number of steps of an interval.
    pub(crate) fn length(&self, layer: u64, place: u64) -> u64 {
        1 + random(!self.seed, self.number(layer, place)) % self.steps
    }

    /// Returns the number of incoming edges of each interval of a layer.
    pub(crate) fn before(&self, layer: u64) -> Vec<u32> {
        let mut before = vec![0; self.width as usize];
        for place in 0..if layer == 0 { 0 } else { self.width } {
            for target in self.targets(layer - 1, place) {
                before[target as usize] += 1;
            }
        }
        before
    }

    /// Computes an interval's value and adds it to the values of its successors.
    fn compute(&self, values: &[AtomicU64], layer: u64, place: u64) {
        let value = |layer, place| &values[self.number(layer, place) as usize];
        // Relaxed: the order of the intervals ensures that all predecessors have added their
        // values.
        let seed = value(layer, place).load(Ordering::Relaxed) | 1;
        let end = steps(seed, self.length(layer, place));
        value(layer, place).store(end, Ordering::Relaxed);
        if layer + 1 < self.layers {
            for target in self.targets(layer, place) {
                value(layer + 1, target).fetch_add(end, Ordering::Relaxed);
            }
        }
    }

    fn sum(values: &[AtomicU64]) -> u64 {
        checksum(values.iter().map(|value| value.load(Ordering::Relaxed)))
    }
}

impl Program for Layers {
    const NAME: &'static str = "layers";
    const SUMMARY: &'static str = "random layered task graph";
    parameters! {
        layers = named("layers", Integer(1, MOST), ["20", "2000", "20000"], "number of layers");
        width = named("width", Integer(1, MOST), ["20", "100", "500"], "intervals per layer");
        edges = named("edges", Integer(0, 1000), ["2"; 3],
            "edges from each interval to the next layer");
        steps = named("steps", Integer(1, 1 << 40), ["500", "5000", "5000"],
            "maximum steps of work per interval");
        seed = seed("seed of the graph");
    }
    result! { self, _, output =>
        checksum "hash of the values of all intervals" = *output;
    }
    const INTERVALS: bool = true;

    type Input = Vec<AtomicU64>;
    type Output = u64;

    fn check(&self) -> Result<(), ParameterError> {
        if self.layers.saturating_mul(self.width) <= MOST {
            return Ok(());
        }
        Err(ParameterError::new(format!(
            "layers * width is too large: expected at most {MOST} intervals"
        )))
    }

    fn prepare(&self) -> io::Result<Vec<AtomicU64>> {
        let numbers = 0..self.layers * self.width;
        Ok(numbers
            .map(|number| AtomicU64::new(random(self.seed, number)))
            .collect())
    }

    fn reset(&self, values: &mut Vec<AtomicU64>) {
        for (number, value) in (0..).zip(values) {
            *value.get_mut() = random(self.seed, number);
        }
    }

    fn serial(&self, values: &mut Vec<AtomicU64>) -> u64 {
        for layer in 0..self.layers {
            (0..self.width).for_each(|place| self.compute(values, layer, place));
        }
        Self::sum(values)
    }

    fn parallel<R: Runtime>(&self, values: &mut Vec<AtomicU64>, fork: &mut R::Fork<'_>) -> u64 {
        let (this, all) = (*self, &values[..]);
        R::intervals(fork, |body| {
            unfold::<R, _>(body, this.layers, BATCH, move |body, layer, row| {
                let drafts: Vec<_> = (0..this.width)
                    .map(|place| {
                        let draft = body.interval(move |_| this.compute(all, layer, place));
                        R::named(draft, || format!("layer {layer}, {place}"))
                    })
                    .collect();
                for (place, before) in (0..).zip(&*row) {
                    for target in this.targets(layer - 1, place) {
                        follow(before, &drafts[target as usize]);
                    }
                }
                *row = drafts.into_iter().map(|draft| draft.schedule()).collect();
            });
        });
        Self::sum(values)
    }
}
