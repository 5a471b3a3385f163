//! The jobs of the thesis, with tasks so long that each job takes the published time.

use std::sync::{Arc, OnceLock};

use tidegate_policy::Nanos;
use tidegate_sim::{Allot, AnyDag, Job as Simulation, Outcome, Settings, Width, run_mix};
use tidegate_workloads::dags::Slowed;
use tidegate_workloads::knary::Knary;
use tidegate_workloads::program::Form;
use tidegate_workloads::{Simulated, Size};

use super::series::Series;
use crate::reproduce::simulated::Workload;

/// The number of processors of the thesis' machine.
pub const PROCESSORS: usize = 16;
pub const MS: Nanos = 1_000_000;
/// The time between two estimates in the thesis, in milliseconds.
pub const CYCLE: u64 = 5;

/// The time between two wake-ups of a job. With this time, it takes as long as published, 71 to 127
/// ms, until all 16 processors have work under Cilk.
pub const SERIES: Nanos = 7 * MS;

/// How much longer a node of knary(11,5,0) takes than one of knary(11,4,4), so that a job of P2 has
/// the published parallelism of 13.68. By their nodes it would be 9.73.
const PARALLEL: f64 = (13.68 - 1.0) / (9.73 - 1.0);

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
    /// The time between two wake-ups of the job, in nanoseconds.
    pub wake_series: Nanos,
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
    pub fn of(work: Workload, wake_series: Nanos, processors: usize, seconds: f64) -> Arc<Self> {
        let of = format!("seconds={seconds} on={processors} wake-series={wake_series}");
        Arc::new(Self {
            name: work.name,
            in_full: format!("{} {of}", work.in_full()),
            wake_series,
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
            in_full: format!(
                "levels={levels} form=spawn slower={PARALLEL} seconds={seconds} on={processors} \
                 wake-series={SERIES}"
            ),
            wake_series: SERIES,
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
        let mut machine = settings(PROCESSORS.max(self.processors), CYCLE, 0);
        machine.costs.wake_series = self.wake_series;
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
    let tree = |k, r, factor| {
        let (n, form) = (levels, Form::Spawn);
        let dag = Knary { n, k, r, form }.dag();
        Slowed { dag, factor }
    };
    let (serial, parallel) = (tree(4, 4, factor), tree(5, 0, factor * PARALLEL));
    let dags = [[serial, parallel], [parallel, serial]];
    let dags = dags.map(|dags| Box::new(Series(dags.into())) as Box<dyn AnyDag>);
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
