//! The jobs of the thesis, with tasks so long that each job takes the published time.

use std::sync::{Arc, OnceLock};

use tidegate_policy::Nanos;
use tidegate_sim::{Allot, AnyDag, Job as Simulation, Outcome, Settings, Width, run_mix};
use tidegate_workloads::dags::{CallsDag, Slowed};
use tidegate_workloads::knary::Knary;
use tidegate_workloads::{Simulated, Size};

use super::series::Series;
use crate::reproduce::simulated::Workload;

/// The number of processors of the thesis' machine.
pub const PROCESSORS: usize = 16;
pub const MS: Nanos = 1_000_000;
/// The time between two estimates in the thesis, in milliseconds.
pub const CYCLE: u64 = 5;

/// The arrival time of an instance, and how it gets processors.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub arrives: Nanos,
    pub width: Width,
}

/// Runs one instance for each arrival, with all tasks lengthened by a factor.
type Run = dyn Fn(f64, &Settings, &[Arrival]) -> Outcome + Send + Sync;

/// A program and its published time.
pub struct Job {
    pub name: &'static str,
    /// Everything that the job's runs depend on, as a string.
    pub in_full: String,
    /// The number of processors with which each of `instances` instances takes `seconds` on
    /// average.
    processors: usize,
    seconds: f64,
    instances: usize,
    run: Box<Run>,
    factor: OnceLock<f64>,
}

impl Job {
    /// Creates a job that takes `seconds` on `processors` processors.
    pub fn of(work: Workload, processors: usize, seconds: f64) -> Arc<Self> {
        Arc::new(Self {
            name: work.name,
            in_full: format!("{} seconds={seconds} on={processors}", work.in_full()),
            processors,
            seconds,
            instances: 1,
            run: Box::new(move |factor, settings, arrivals| {
                instances(&work, factor, settings, arrivals)
            }),
            factor: OnceLock::new(),
        })
    }

    /// Creates two jobs that take `seconds` on average on `processors` processors each. One runs a
    /// serial tree with `levels` levels and then a parallel one; the other runs the trees in the
    /// opposite order.
    pub fn complementary(levels: u32, processors: usize, seconds: f64) -> Arc<Self> {
        Arc::new(Self {
            name: "knary(11,4,4) + knary(11,5,0)",
            in_full: format!("levels={levels} seconds={seconds} on={processors}"),
            processors,
            seconds,
            instances: 2,
            run: Box::new(move |factor, settings, arrivals| {
                pair(levels, factor, settings, arrivals)
            }),
            factor: OnceLock::new(),
        })
    }

    pub fn run(&self, settings: &Settings, arrivals: &[Arrival]) -> Outcome {
        let factor = *self.factor.get_or_init(|| self.calibrate());
        (self.run)(factor, settings, arrivals)
    }

    /// Returns the factor by which the job's tasks must be lengthened.
    fn calibrate(&self) -> f64 {
        let width = Width::Fixed(self.processors);
        let arrivals = vec![Arrival { arrives: 0, width }; self.instances];
        let machine = settings(PROCESSORS.max(self.processors), CYCLE, 0);
        // Two rounds, because the time contains some costs that do not grow with the work.
        (0..2).fold(1.0, |factor, _| {
            factor * self.seconds / mean_response(&(self.run)(factor, &machine, &arrivals))
        })
    }
}

/// Describes a machine with this number of processors and this many milliseconds between two
/// estimates.
pub fn settings(processors: usize, cycle: u64, seed: u64) -> Settings {
    Settings {
        seed,
        allot: Allot::Dp,
        cycle: cycle * MS,
        ..Settings::new(processors)
    }
}

pub fn seconds(time: Nanos) -> f64 {
    time as f64 / 1e9
}

/// Returns the mean time of the jobs from arrival to end, in seconds.
pub fn mean_response(outcome: &Outcome) -> f64 {
    let sum: Nanos = outcome
        .jobs
        .iter()
        .map(tidegate_sim::JobOutcome::time)
        .sum();
    seconds(sum) / outcome.jobs.len() as f64
}

/// Returns a program of the thesis, under its published name.
pub fn work(name: &'static str, program: &'static str, given: &str) -> Workload {
    Workload::new(name, program, Size::Tiny, given)
}

fn instances(work: &Workload, factor: f64, settings: &Settings, arrivals: &[Arrival]) -> Outcome {
    let dags = arrivals.iter().map(|_| work.dag(factor));
    let dags: Vec<_> = dags
        .collect::<Result<_, _>>()
        .expect("a program with parameters that it has");
    simulate(settings, dags, arrivals)
}

fn pair(levels: u32, factor: f64, settings: &Settings, arrivals: &[Arrival]) -> Outcome {
    let tree = |k, r| Knary { n: levels, k, r };
    let (serial, parallel) = (tree(4, 4), tree(5, 0));
    let dags = [[serial, parallel], [parallel, serial]].map(|trees| {
        let dags: Vec<CallsDag<Knary>> = trees.iter().map(Simulated::dag).collect();
        let dag = Series(dags);
        Box::new(Slowed { dag, factor }) as Box<dyn AnyDag>
    });
    simulate(settings, dags.into(), arrivals)
}

fn simulate(settings: &Settings, dags: Vec<Box<dyn AnyDag>>, arrivals: &[Arrival]) -> Outcome {
    let jobs = dags.iter().zip(arrivals).map(|(dag, arrival)| Simulation {
        dag: &**dag,
        arrives: arrival.arrives,
        width: arrival.width,
    });
    let jobs: Vec<_> = jobs.collect();
    run_mix(settings, &jobs, &mut |_, _| {}).expect("a machine that can be simulated")
}
