//! The jobs of the thesis, and running several of them on its machine.

use tidegate_policy::{Allot, Desire, Nanos};
use tidegate_sim::{Dag, Job, JobOutcome, Outcome, Settings, Width, run};
use tidegate_workloads::{Simulated, SimulatedVisitor, Size, visit_simulated};

use crate::reproduce::simulated::Work;
use crate::reproduce::slowed::Slowed;
use tidegate_command::failure::Failure;

pub const PROCESSORS: usize = 16;
pub const MS: Nanos = 1_000_000;

/// The cycle that the thesis chose.
pub const CYCLE: Nanos = 5 * MS;

/// A rule for desires, of this program.
pub fn rule(text: &str) -> Desire {
    text.parse().expect("a rule")
}

pub fn seconds(time: Nanos) -> f64 {
    time as f64 / 1e9
}

/// The mean time of the jobs from arrival to end, in seconds.
pub fn mean_response(outcome: &Outcome) -> f64 {
    let sum: Nanos = outcome.jobs.iter().map(JobOutcome::time).sum();
    seconds(sum) / outcome.jobs.len() as f64
}

/// A program and how long it took on 16 processors of the thesis' machine under Cilk (Sen, "Dynamic processor allocation for adaptively parallel work-stealing
/// jobs", 2004, figures 7-1 and 7-10).
#[derive(Clone, Debug)]
pub struct Published {
    pub work: Work,
    /// On how many processors it took how long, in seconds.
    pub processors: usize,
    pub seconds: f64,
}

/// A job of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub arrives: Nanos,
    pub width: Width,
}

/// The machine of the thesis with this cycle.
pub fn settings(cycle: Nanos, seed: u64) -> Settings {
    Settings {
        seed,
        allot: Allot::Dp,
        cycle,
        ..Settings::new(PROCESSORS)
    }
}

/// These dags at these times.
pub fn run_jobs<D: Dag>(settings: &Settings, jobs: Vec<(D, Arrival)>) -> Result<Outcome, Failure> {
    let job = |(dag, arrival): (D, Arrival)| Job {
        dag,
        arrives: arrival.arrives,
        width: arrival.width,
    };
    let jobs: Vec<Job<D>> = jobs.into_iter().map(job).collect();
    run(settings, &jobs).map_err(|refusal| Failure::Usage(refusal.to_string()))
}

/// A program whose tasks take so many times as long.
#[derive(Clone, Debug)]
pub struct Scaled {
    pub work: Work,
    pub factor: f64,
}

impl Published {
    /// The program with tasks so long that it takes as long as it did.
    pub fn scaled(&self) -> Result<Scaled, Failure> {
        let alone = Arrival {
            arrives: 0,
            width: Width::Fixed(self.processors),
        };
        let mut scaled = Scaled {
            work: self.work.clone(),
            factor: 1.0,
        };
        // Twice, because what does not grow with the work has its part in the time, too.
        for _ in 0..2 {
            let outcome = scaled.run(&settings(MS, 0), &[alone])?;
            scaled.factor *= self.seconds / seconds(outcome.jobs[0].time());
        }
        Ok(scaled)
    }
}

impl Scaled {
    /// As many instances of the program as there are arrivals.
    pub fn run(&self, settings: &Settings, arrivals: &[Arrival]) -> Result<Outcome, Failure> {
        let Work { program, size, .. } = self.work;
        let visitor = Instances {
            factor: self.factor,
            settings,
            arrivals,
        };
        visit_simulated(program, size, &self.work.given(), visitor)?
    }
}

struct Instances<'a> {
    factor: f64,
    settings: &'a Settings,
    arrivals: &'a [Arrival],
}

impl SimulatedVisitor for Instances<'_> {
    type Out = Result<Outcome, Failure>;

    fn visit<P: Simulated>(self, program: P) -> Self::Out {
        let slowed = || Slowed {
            dag: program.dag(),
            factor: self.factor,
        };
        let jobs = self.arrivals.iter().map(|arrival| (slowed(), *arrival));
        run_jobs(self.settings, jobs.collect())
    }
}

pub const CHOLESKY: &str = "cholesky(2048,10000)";

/// Its parameters.
pub fn cholesky(size: Size) -> &'static [(&'static str, &'static str)] {
    match size {
        Size::Tiny => &[("n", "256"), ("nonzeros", "500")],
        Size::Small | Size::Paper => &[("n", "2048"), ("nonzeros", "10000")],
    }
}

/// A program under a name.
pub fn work(
    name: &'static str,
    program: &'static str,
    given: &'static [(&'static str, &'static str)],
) -> Work {
    Work::new(name, program, Size::Tiny, given)
}
