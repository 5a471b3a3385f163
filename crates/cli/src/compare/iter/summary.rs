//! What the rows say of Tidegate in the place of rayon's runtime, beside what it should be.
//!
//! Facts and goals only: nothing here decides whether the command succeeds.

use std::fmt;

use serde_json::Value;
use tidegate_workloads::{Rayon, Runtime, Tidegate};

use super::lanes::Call;
use crate::compare::fact::{Fact, Goal};
use crate::compare::race::{Race, SERIAL};
use crate::compare::row::Row;
use crate::output::show_nanos;

/// How many times less overhead a chain that forks on few items should have inside.
const LESS_OVERHEAD: Goal = Goal::AtLeast(3.0);

/// A call from outside should not take longer.
const OUTSIDE: Goal = Goal::AtMost(1.0);

/// Throughput, at any size and number of workers.
const THROUGHPUT: Goal = Goal::AtLeast(0.97);

/// Noise in nanoseconds a call, if the samples show less.
const LEAST_NOISE: f64 = 1.0;

/// A call with the rows of both runtimes, on the same number of workers, and the serial one.
struct Pair<'a> {
    call: &'a Call<'a>,
    workers: usize,
    serial: Option<&'a Row>,
    rayon: &'a Row,
    tidegate: &'a Row,
}

/// Everything that the rows of these calls say. Rows that were not asked for are missed in silence.
pub fn of(calls: &[Call<'_>], workers: &[usize], rows: &[Row]) -> Vec<Fact> {
    let pairs: Vec<_> = calls
        .iter()
        .flat_map(|call| workers.iter().map(move |workers| (call, *workers)))
        .filter_map(|(call, workers)| Pair::find(call, workers, rows))
        .collect();
    let mut facts: Vec<_> = pairs.iter().filter_map(Pair::overhead).collect();
    facts.extend(pairs.iter().filter_map(Pair::outside));
    facts.extend(throughputs(&pairs));
    facts
}

impl<'a> Pair<'a> {
    fn find(call: &'a Call<'a>, workers: usize, rows: &'a [Row]) -> Option<Self> {
        let case = call.name();
        let on = |runtime, workers| {
            let found = rows
                .iter()
                .find(|row| row.case == case && row.runtime == runtime && row.workers == workers);
            found.filter(|row| row.median().is_some())
        };
        Some(Self {
            call,
            workers,
            serial: on(SERIAL, 1),
            rayon: on(Rayon::NAME, workers)?,
            tidegate: on(Tidegate::NAME, workers)?,
        })
    }

    /// How many times more overhead rayon has inside, in a chain that forks on few items.
    ///
    /// Both overheads are differences from the same serial median. What that is sure of is how far the fastest serial
    /// sample lies below it: tidegate's overhead counts as that much at least, and of rayon's nothing is said below.
    fn overhead(&self) -> Option<Fact> {
        let Call {
            forks, place, rank, ..
        } = *self.call;
        if !(forks && rank == 0 && place == "inside") {
            return None;
        }
        let serial = self.serial?.nanos.as_ref()?;
        let noise = (serial.median() - serial.min()).max(LEAST_NOISE);
        let [rayon, tidegate] = [self.rayon.over_serial()?, self.tidegate.over_serial()?];
        let [by_rayon, by_tidegate, spread] = [rayon, tidegate, noise].map(show_nanos);
        let what = format!("rayon's overhead by tidegate's, {self}, {by_rayon} by {by_tidegate}");
        if rayon < noise {
            let words = format!("lost in the serial version's noise of {spread}");
            return Some(Fact::plain(what, Value::Null, words));
        }
        Some(Fact::ratio(
            what,
            rayon / tidegate.max(noise),
            LESS_OVERHEAD,
        ))
    }

    /// How long a call from outside takes beside rayon's.
    fn outside(&self) -> Option<Fact> {
        let what = format!("tidegate's time by rayon's, {self}");
        let outside = self.call.place == "outside" && self.call.rank == 0;
        outside.then(|| Fact::ratio(what, 1.0 / self.throughput(), OUTSIDE))
    }

    /// Calls in the time in which rayon makes one.
    fn throughput(&self) -> f64 {
        let [rayon, tidegate] =
            [self.rayon, self.tidegate].map(|row| row.median().unwrap_or(f64::NAN));
        rayon / tidegate
    }
}

impl fmt::Display for Pair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, pool of {}", self.call.name(), self.workers)
    }
}

/// The least throughput of each chain.
fn throughputs(pairs: &[Pair<'_>]) -> Vec<Fact> {
    let mut chains: Vec<&str> = Vec::new();
    for pair in pairs {
        if !chains.contains(&&*pair.call.chain) {
            chains.push(&pair.call.chain);
        }
    }
    let least = |chain| {
        let same = pairs.iter().filter(|pair| pair.call.chain == chain);
        let pair = same.min_by(|a, b| a.throughput().total_cmp(&b.throughput()))?;
        let what = format!("rayon's time by tidegate's at worst, {pair}");
        Some(Fact::ratio(what, pair.throughput(), THROUGHPUT))
    };
    chains.into_iter().filter_map(least).collect()
}
