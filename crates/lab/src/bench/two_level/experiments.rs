//! The experiments: which jobs run together, and how these jobs get processors.

use std::time::Instant;

use tidegate_policy::SharePolicy;
use tidegate_workloads::phases::{First, Phases};
use tidegate_workloads::{Program, Rayon, Runtime, Serial, Tidegate};

use super::super::crew::Spec;
use crate::arguments::Experiment;

/// How jobs get their processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Tidegate,
    Off,
    Static,
    Rayon,
    Serial,
}

impl Scheme {
    pub const ALL: [Self; 5] = [
        Self::Tidegate,
        Self::Off,
        Self::Static,
        Self::Rayon,
        Self::Serial,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Tidegate => "tidegate",
            Self::Off => "off",
            Self::Static => "static",
            Self::Rayon => "rayon",
            Self::Serial => "serial",
        }
    }
}

/// The work of a job: a program and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The name in the printed rows.
    pub name: String,
    program: &'static str,
    parameters: Vec<(String, String)>,
    /// Whether the job ignores the scheme and runs as a plain process on one processor.
    plain: bool,
}

#[derive(Clone, Debug)]
pub struct CaseJob {
    pub work: Work,
    /// How long the job's start is delayed, as a fraction of the time that the first job takes
    /// alone.
    pub delay: f64,
}

/// Jobs that run together in an experiment.
#[derive(Clone, Debug)]
pub struct Case {
    pub experiment: Experiment,
    pub jobs: Vec<CaseJob>,
}

/// The kinds of work from which the cases are built.
pub struct Works {
    fib: Work,
    uts: Work,
    /// A serial phase, then a parallel one.
    serial_first: Work,
    /// A parallel phase, then a serial one.
    parallel_first: Work,
    /// Like `serial_first`, but the serial phase sleeps instead of computing.
    wait_first: Work,
    /// Like `parallel_first`, but the serial phase sleeps instead of computing.
    wait_last: Work,
    bursts: Work,
    parallel: Work,
    neighbour: Work,
}

impl Work {
    fn new(name: &str, program: &'static str, parameters: &[(&str, u64)]) -> Self {
        let parameters = parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.to_string()));
        Self {
            name: name.to_owned(),
            program,
            parameters: parameters.collect(),
            plain: false,
        }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.parameters.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Creates every kind of work, scaled to the speed of this machine.
    pub fn calibrated(tiny: bool) -> Works {
        let ms = if tiny { 1_000 } else { steps_per_ms() };
        let long = if tiny { 10 * ms } else { 500 * ms };
        let wait = if tiny { 5 } else { 400 };
        let halves = |name, solo, pause, first| {
            let sizes = [
                ("rounds", 1),
                ("solo", solo),
                ("pause", pause),
                ("steps", 2 * long),
                ("tasks", 512),
            ];
            Self::new(name, Phases::NAME, &sizes).with("first", first)
        };
        let bursts = [
            ("rounds", if tiny { 2 } else { 20 }),
            ("solo", 20 * ms),
            ("steps", 5 * ms),
            ("tasks", 64),
        ];
        let parallel = [("rounds", 1), ("solo", 0), ("steps", long), ("tasks", 512)];
        let serial = [("rounds", 1), ("solo", long), ("steps", 0), ("tasks", 1)];
        Works {
            fib: Self::new("fib", "fib", &[("n", if tiny { 20 } else { 41 })]),
            uts: Self::new("uts", "uts", &[]).with("tree", if tiny { "tiny" } else { "T1" }),
            serial_first: halves("phases", long, 0, "serial"),
            parallel_first: halves("phases reversed", long, 0, "parallel"),
            wait_first: halves("phases with a wait", 0, wait, "serial"),
            wait_last: halves("phases with a wait reversed", 0, wait, "parallel"),
            bursts: Self::new("bursts", Phases::NAME, &bursts),
            parallel: Self::new("parallel phase", Phases::NAME, &parallel),
            neighbour: Self {
                plain: true,
                ..Self::new("busy process", Phases::NAME, &serial)
            },
        }
    }

    /// Returns the specification of a job that does this work while `jobs` jobs run together.
    pub fn spec(
        &self,
        scheme: Scheme,
        processors: usize,
        jobs: usize,
        confined: Option<usize>,
    ) -> Spec {
        let (runtime, workers, share) = match scheme {
            _ if self.plain => (Serial::NAME, 1, SharePolicy::Off),
            Scheme::Tidegate => (Tidegate::NAME, processors, SharePolicy::Auto),
            Scheme::Off => (Tidegate::NAME, processors, SharePolicy::Off),
            Scheme::Static => (Tidegate::NAME, (processors / jobs).max(1), SharePolicy::Off),
            Scheme::Rayon => (Rayon::NAME, processors, SharePolicy::Off),
            Scheme::Serial => (Serial::NAME, 1, SharePolicy::Off),
        };
        Spec {
            share,
            processors: confined,
            ..Spec::new(self.program, self.parameters.clone(), runtime, workers)
        }
    }
}

impl Case {
    fn new(experiment: Experiment, works: &[&Work]) -> Self {
        let job = |work: &&Work| CaseJob {
            work: (*work).clone(),
            delay: 0.0,
        };
        Self {
            experiment,
            jobs: works.iter().map(job).collect(),
        }
    }

    fn last_late(mut self) -> Self {
        if let Some(last) = self.jobs.last_mut() {
            last.delay = 0.5;
        }
        self
    }

    /// Returns the case's name: the names of its jobs' work, without consecutive duplicates.
    pub fn name(&self) -> String {
        let mut names: Vec<&str> = self.jobs.iter().map(|job| job.work.name.as_str()).collect();
        names.dedup();
        names.join(" + ")
    }
}

pub fn cases(works: &Works) -> Vec<Case> {
    let mut cases = Vec::new();
    for work in [&works.fib, &works.uts] {
        cases.push(Case::new(Experiment::Alone, &[work]));
        for jobs in 2..=4 {
            cases.push(Case::new(Experiment::Equal, &vec![work; jobs]));
            cases.push(Case::new(Experiment::Late, &vec![work; jobs]).last_late());
        }
    }
    let complementary = [
        [&works.serial_first, &works.parallel_first],
        [&works.wait_first, &works.wait_last],
    ];
    cases.extend(complementary.map(|jobs| Case::new(Experiment::Complementary, &jobs)));
    cases.push(Case::new(Experiment::Bursts, &[&works.bursts, &works.uts]));
    cases.push(Case::new(Experiment::Bursts4, &[&works.bursts; 4]));
    cases.push(Case::new(Experiment::Parallel4, &[&works.parallel; 4]));
    cases.push(Case::new(
        Experiment::Neighbour,
        &[&works.uts, &works.neighbour],
    ));
    cases.sort_by_key(|case| case.experiment as usize);
    cases
}

/// Measures how many steps a processor executes in a millisecond: the maximum over several tries.
fn steps_per_ms() -> u64 {
    const STEPS: u64 = 10_000_000;
    let program = Phases {
        rounds: 1,
        serial: STEPS,
        wait: 0,
        parallel: 0,
        tasks: 1,
        first: First::Serial,
    };
    let time = || {
        let start = Instant::now();
        std::hint::black_box(program.serial(&mut ()));
        start.elapsed()
    };
    let best = (0..5).map(|_| time()).min().unwrap_or_default();
    (STEPS * 1_000_000 / best.as_nanos().max(1) as u64).max(1)
}
