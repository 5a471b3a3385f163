//! Many runs on simulated machines, side by side on our own pool.

use std::sync::OnceLock;

use tidegate_sim::{Job, Settings, Width, run};
use tidegate_workloads::{Given, Simulated, SimulatedVisitor, Size, visit_simulated};

use super::observed::Observed;
use super::slowed::Slowed;
use tidegate_command::failure::Failure;
use tidegate_command::output::Progress;

/// A program of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// What it is called here.
    pub name: &'static str,
    pub program: &'static str,
    pub size: Size,
    /// Parameters that differ from those of the size.
    pub given: &'static [(&'static str, &'static str)],
    /// Whether each run on a real machine has other data, from a seed of its own.
    pub reseeded: bool,
    /// How many times as long as on this machine its tasks take on a simulated one.
    pub slower: f64,
}

impl Work {
    pub fn new(
        name: &'static str,
        program: &'static str,
        size: Size,
        given: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            name,
            program,
            size,
            given,
            reseeded: false,
            slower: 1.0,
        }
    }

    pub fn given(&self) -> Given {
        Given {
            named: self
                .given
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).into()))
                .collect(),
            ..Given::default()
        }
    }
}

/// So many instances of a program at once on a machine.
#[derive(Clone, Debug)]
pub struct Case {
    pub work: Work,
    pub settings: Settings,
    pub instances: usize,
}

/// What came of `runs` runs of each case, with the seeds from 0 on.
pub fn observe(
    cases: &[Case],
    runs: u64,
    progress: &Progress,
) -> Result<Vec<Vec<Observed>>, Failure> {
    let per_case = runs as usize;
    let observed = spread(cases.len() * per_case, progress, |number| {
        let case = &cases[number / per_case];
        progress.say(&format!(
            "{} with {}",
            case.work.program, case.settings.idle
        ));
        case.observe((number % per_case) as u64)
    })?;
    Ok(observed.chunks(per_case).map(<[_]>::to_vec).collect())
}

/// What comes of so many tasks on our own pool, in the order of their numbers; a failure, if there was one, is that of the first that failed.
pub fn spread<T: Send + Sync>(
    count: usize,
    progress: &Progress,
    task: impl Fn(usize) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let slots: Vec<OnceLock<Result<T, Failure>>> = (0..count).map(|_| OnceLock::new()).collect();
    tidegate::for_each(0..count, |number| {
        slots[number].get_or_init(|| task(number));
        progress.step();
    });
    let done = |slot: OnceLock<_>| slot.into_inner().expect("every task has run");
    slots.into_iter().map(done).collect()
}

impl Case {
    fn observe(&self, seed: u64) -> Result<Observed, Failure> {
        let Work { program, size, .. } = self.work;
        visit_simulated(program, size, &self.work.given(), Once { case: self, seed })?
    }
}

/// One run with this seed.
struct Once<'a> {
    case: &'a Case,
    seed: u64,
}

impl SimulatedVisitor for Once<'_> {
    type Out = Result<Observed, Failure>;

    fn visit<P: Simulated>(self, program: P) -> Self::Out {
        let Case {
            settings,
            instances,
            ..
        } = self.case;
        let settings = Settings {
            seed: self.seed,
            ..settings.clone()
        };
        let jobs = (0..*instances).map(|_| Job {
            dag: Slowed {
                dag: program.dag(),
                factor: self.case.work.slower,
            },
            arrives: 0,
            width: Width::Fixed(settings.processors),
        });
        let jobs: Vec<_> = jobs.collect();
        let outcome = run(&settings, &jobs).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(Observed::of(&outcome))
    }
}
