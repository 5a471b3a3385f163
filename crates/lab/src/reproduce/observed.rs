//! The figures of one run.

use serde::{Deserialize, Serialize};
use tidegate_policy::Nanos;
use tidegate_sim::Outcome;

use crate::bench::crew::Done;

/// The figures of one run of a program, averaged over the program's instances.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
pub struct Observed {
    pub seconds: f64,
    /// The number of timed sleeps of all thieves.
    pub naps: f64,
    /// The total time that thieves slept, in seconds.
    pub asleep: f64,
    /// The total time that workers spent running tasks, in seconds.
    pub busy: f64,
    /// The total time that workers spent searching for tasks and taking them, in seconds.
    pub stealing: f64,
    pub steals: f64,
    /// How often workers looked for tasks; 0 for runs on this machine, where it is not counted.
    pub attempts: f64,
    /// Peak declared memory in bytes; 0 if the run did not measure it.
    pub peak: f64,
    /// How many bytes tasks touched, on simulated machines with caches.
    pub touched: f64,
    /// How many of the touched bytes were missing from the cache of the task's place.
    pub missed: f64,
    /// The time in time slices of a simulated machine, if workers waited in line for processors.
    pub slices: Option<f64>,
}

impl Observed {
    /// Makes up a run that takes this long.
    #[cfg(test)]
    pub fn lasting(seconds: f64) -> Self {
        Self {
            seconds,
            ..Self::default()
        }
    }

    pub fn of(outcome: &Outcome, slice: Nanos) -> Self {
        let jobs = &outcome.jobs;
        let mean = |figure: fn(&tidegate_sim::JobOutcome) -> u64| {
            jobs.iter().map(figure).sum::<u64>() as f64 / jobs.len() as f64
        };
        let took_turns = jobs.iter().any(|job| job.stood_in_line);
        Self {
            seconds: mean(|job| job.time()) / 1e9,
            naps: mean(|job| job.counters.naps),
            asleep: mean(|job| job.counters.asleep) / 1e9,
            busy: mean(|job| job.counters.working - job.counters.stealing) / 1e9,
            stealing: mean(|job| job.counters.searching + job.counters.stealing) / 1e9,
            steals: mean(|job| job.counters.steals),
            attempts: mean(|job| job.counters.attempts),
            peak: mean(|job| job.peak_bytes),
            touched: mean(|job| job.counters.touched_bytes),
            missed: mean(|job| job.counters.missed_bytes),
            slices: took_turns.then_some(mean(|job| job.time()) / slice as f64),
        }
    }

    /// Whether workers took turns on processors for so few time slices that the figures show who
    /// was first in line.
    pub fn is_short(&self) -> bool {
        self.slices.is_some_and(|slices| slices < 20.0)
    }

    /// Like [`of`](Self::of), but for processes on this machine.
    pub fn of_jobs(jobs: &[Done]) -> Self {
        let mean =
            |figure: fn(&Done) -> f64| jobs.iter().map(figure).sum::<f64>() / jobs.len() as f64;
        Self {
            seconds: mean(|job| job.seconds),
            naps: mean(|job| job.told.sleeps as f64),
            asleep: mean(|job| job.told.asleep_seconds),
            busy: mean(|job| job.told.busy_seconds),
            stealing: mean(|job| job.told.stealing_seconds),
            steals: mean(|job| job.told.steals as f64),
            peak: mean(|job| job.memory.map_or(0.0, |memory| memory.declared as f64)),
            ..Self::default()
        }
    }
}
