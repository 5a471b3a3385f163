//! Turns the trials of a case into a row.

use std::collections::BTreeMap;

use serde::Serialize;

use super::experiments::{Case, Scheme};
use crate::bench::crew::Done;
use crate::engine::Sample;

/// The results of one run of a case's jobs.
#[derive(Clone, Debug)]
pub struct Trial {
    /// How many seconds later than the first job each job started.
    pub delays: Vec<f64>,
    pub done: Vec<Done>,
}

/// Medians over the trials of a case under one scheme.
#[derive(Serialize, Clone, Debug)]
pub struct Row {
    pub experiment: String,
    pub program: String,
    pub scheme: &'static str,
    pub jobs: usize,
    pub processors: usize,
    median_of: usize,
    pub mean_response: f64,
    pub worst_response: f64,
    pub makespan: f64,
    pub ideal_makespan: f64,
    throughput: f64,
    pub power: f64,
    pub cpu_seconds: f64,
    pub context_switches: u64,
    pub slowdown_ratio: f64,
}

impl Trial {
    fn responses(&self) -> impl Iterator<Item = f64> + '_ {
        self.done.iter().map(|done| done.seconds)
    }

    fn makespan(&self) -> f64 {
        let ends = self
            .delays
            .iter()
            .zip(self.responses())
            .map(|(delay, seconds)| delay + seconds);
        ends.fold(0.0, f64::max)
    }

    fn mean_response(&self) -> f64 {
        self.responses().sum::<f64>() / self.done.len() as f64
    }

    fn throughput(&self) -> f64 {
        self.done.len() as f64 / self.makespan()
    }

    fn slowdown_ratio(&self, alone: &[f64]) -> f64 {
        let slow: Vec<f64> = self
            .responses()
            .zip(alone)
            .map(|(seconds, alone)| seconds / alone)
            .collect();
        let most = slow.iter().copied().fold(0.0, f64::max);
        most / slow.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

impl Row {
    /// Summarizes the trials of `case` under `scheme`. `alone` holds the runs in which each kind of
    /// work ran alone, keyed by name.
    pub fn of(
        case: &Case,
        scheme: Scheme,
        processors: usize,
        trials: &[Trial],
        alone: &BTreeMap<String, Vec<Done>>,
    ) -> Self {
        let alone: Vec<(f64, f64)> = case
            .jobs
            .iter()
            .map(|job| {
                let alone = &alone[&job.work.name];
                let median = |of: fn(&Done) -> f64| Sample::new(alone.iter().map(of)).median();
                (median(|done| done.seconds), median(Done::cpu))
            })
            .collect();
        let responses: Vec<f64> = alone.iter().map(|(response, _)| *response).collect();
        let median = |of: &dyn Fn(&Trial) -> f64| Sample::new(trials.iter().map(of)).median();
        let worst = |trial: &Trial| trial.responses().fold(0.0, f64::max);
        let cpu = |trial: &Trial| trial.done.iter().map(Done::cpu).sum::<f64>();
        let switches = |trial: &Trial| {
            trial
                .done
                .iter()
                .filter_map(|done| done.context_switches)
                .sum::<u64>() as f64
        };
        Self {
            experiment: case.experiment.name(),
            program: case.name(),
            scheme: scheme.name(),
            jobs: case.jobs.len(),
            processors,
            median_of: trials.len(),
            mean_response: median(&Trial::mean_response),
            worst_response: median(&worst),
            makespan: median(&Trial::makespan),
            ideal_makespan: ideal(case, processors, &alone),
            throughput: median(&Trial::throughput),
            power: median(&|trial| trial.throughput() / trial.mean_response()),
            cpu_seconds: median(&cpu),
            context_switches: median(&switches) as u64,
            slowdown_ratio: median(&|trial| trial.slowdown_ratio(&responses)),
        }
    }
}

/// Returns a lower bound on the makespan. A case takes at least as long as its total work divided
/// by the number of processors, and as each job's delay plus the time that the job takes alone.
fn ideal(case: &Case, processors: usize, alone: &[(f64, f64)]) -> f64 {
    let work: f64 = alone.iter().map(|(_, cpu)| cpu).sum();
    let first = alone.first().map_or(0.0, |(response, _)| *response);
    let jobs = case.jobs.iter().zip(alone);
    let longest = jobs.map(|(job, (response, _))| first * job.delay + response);
    longest.fold(work / processors as f64, f64::max)
}
