//! The jobs that run together on the simulated machine, and the figures of their runs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tidegate_policy::Nanos;
use tidegate_sim::{Costs, Outcome, Settings, Width};

use super::job::{Arrival, CYCLE, Job, MS, PROCESSORS, mean_response, seconds, settings};
use crate::engine::Cell;

/// Instances of a job, and the machine that they run on.
#[derive(Clone)]
pub struct Setup {
    /// The parts of the experiment that use this setup, separated by `/`.
    pub parts: &'static str,
    pub job: Arc<Job>,
    /// A short name for how the job gets processors, such as "WSAP".
    pub contender: &'static str,
    /// How the job gets processors.
    pub width: Width,
    pub instances: Instances,
    pub processors: usize,
    /// The time between two estimates, in milliseconds.
    pub cycle: u64,
    /// The processor time that an estimate takes, in nanoseconds.
    pub estimate: Nanos,
}

/// How many instances there are, and when they arrive.
#[derive(Clone, Debug)]
pub enum Instances {
    One,
    /// One instance. Afterwards, another instance runs alone on as many processors as the first had
    /// on average, rounded up.
    OneAndFixed,
    /// Two instances. A run of the first instance alone determines when the second one arrives: as
    /// soon as all processors have had work, or after a millisecond if that never happens.
    SecondWhenAllWork,
    /// Instances that arrive at these times, in seconds.
    At(Vec<f64>),
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The mean time from the arrival of an instance to its end, in seconds.
    pub response: f64,
    pub end: f64,
    /// The time until the first instance had work for all processors, in seconds; `None` if that
    /// never happened.
    pub all: Option<f64>,
    /// The first instance's work, in seconds.
    pub work: f64,
    /// The first instance's span, in seconds.
    pub span: f64,
    /// The first instance's mean effective allotment; see
    /// [`tidegate_sim::JobOutcome::effective_allotment`].
    pub effective: f64,
    /// The first instance's trimmed mean allotment; see
    /// [`tidegate_sim::JobOutcome::trimmed_allotment`].
    pub trimmed: f64,
    pub allotments: Vec<f64>,
    /// The time, in seconds, that another instance takes on a fixed number of processors, which is
    /// the first instance's average. `None` unless the setup is [`Instances::OneAndFixed`].
    pub fixed: Option<f64>,
}

impl Seen {
    fn of(outcome: &Outcome) -> Self {
        let first = &outcome.jobs[0];
        Self {
            response: mean_response(outcome),
            end: seconds(outcome.end()),
            all: first.all_processors.map(seconds),
            work: seconds(first.work),
            span: seconds(first.span),
            effective: first.effective_allotment,
            trimmed: first.trimmed_allotment,
            allotments: outcome.jobs.iter().map(|job| job.mean_allotment).collect(),
            fixed: None,
        }
    }
}

impl Setup {
    /// Creates a setup with one instance on the machine of the thesis, with the cycle of the thesis.
    pub fn new(
        parts: &'static str,
        job: &Arc<Job>,
        (contender, width): (&'static str, Width),
    ) -> Self {
        Self {
            parts,
            job: job.clone(),
            contender,
            width,
            instances: Instances::One,
            processors: PROCESSORS,
            cycle: CYCLE,
            estimate: Costs::default().estimate,
        }
    }

    pub fn with(self, instances: Instances) -> Self {
        Self { instances, ..self }
    }

    /// Returns the name of the setup's cell, which contains everything that the runs depend on.
    fn name(&self) -> String {
        let Job { name, in_full, .. } = &*self.job;
        let (parts, contender, instances) = (self.parts, self.contender, &self.instances);
        let (processors, cycle, estimate) = (self.processors, self.cycle, self.estimate);
        let width = match self.width {
            Width::Fixed(fixed) => format!("fixed={fixed}"),
            Width::Desired(desire) => format!("desire={desire}"),
            Width::Limited(desire, limit) => format!("desire={desire} limit={limit}"),
        };
        format!(
            "{parts}/{name}/{in_full}/{contender}/{width} instances={instances:?}/{cycle} ms/\
             processors={processors} estimate={estimate}"
        )
    }

    pub fn cell(self) -> Cell<'static, Seen> {
        Cell::new(self.name(), move |run| Ok(self.observe(run)))
    }

    fn observe(&self, seed: u64) -> Seen {
        let settings = Settings {
            costs: Costs {
                estimate: self.estimate,
                wake_series: self.job.wake_series,
                ..Costs::default()
            },
            ..settings(self.processors, self.cycle, seed)
        };
        let run = |arrives: &[Nanos], width: Width| {
            let arrivals = arrives.iter().map(|&arrives| Arrival { arrives, width });
            self.job.run(&settings, &arrivals.collect::<Vec<_>>())
        };
        match &self.instances {
            Instances::One => Seen::of(&run(&[0], self.width)),
            Instances::OneAndFixed => {
                let seen = Seen::of(&run(&[0], self.width));
                let processors = (seen.allotments[0].ceil() as usize).clamp(1, self.processors);
                let fixed = run(&[0], Width::Fixed(processors));
                Seen {
                    fixed: Some(mean_response(&fixed)),
                    ..seen
                }
            }
            Instances::SecondWhenAllWork => {
                let alone = run(&[0], self.width);
                let arrives = alone.jobs[0].all_processors.unwrap_or(MS);
                Seen::of(&run(&[0, arrives], self.width))
            }
            Instances::At(times) => {
                let times = times.iter().map(|time| (time * 1e9) as Nanos);
                Seen::of(&run(&times.collect::<Vec<_>>(), self.width))
            }
        }
    }
}
