//! What was seen of one run.

use serde::{Deserialize, Serialize};
use tidegate_sim::Outcome;

use crate::bench::crew::Done;

/// One run of one or several instances of a program.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
pub struct Observed {
    /// From start to end, the mean of the instances.
    pub seconds: f64,
    /// How often their thieves slept for a while, and how long all together.
    pub naps: f64,
    pub asleep: f64,
    /// How long all workers ran tasks, and how long they looked for some and took them.
    pub busy: f64,
    pub stealing: f64,
    pub steals: f64,
    /// How often they looked for tasks, where that is counted.
    pub attempts: f64,
    /// The most bytes that were declared at a time, where that is counted.
    pub peak: f64,
    /// How many bytes tasks touched, and how many of them were not in the cache of the task's
    /// place, on machines with caches.
    pub touched: f64,
    pub missed: f64,
}

impl Observed {
    pub fn of(outcome: &Outcome) -> Self {
        let jobs = &outcome.jobs;
        let mean = |figure: fn(&tidegate_sim::JobOutcome) -> u64| {
            jobs.iter().map(figure).sum::<u64>() as f64 / jobs.len() as f64
        };
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
        }
    }

    /// The same of processes on this machine.
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
            attempts: 0.0,
            peak: mean(|job| job.memory.map_or(0.0, |memory| memory.declared as f64)),
            touched: 0.0,
            missed: 0.0,
        }
    }
}
