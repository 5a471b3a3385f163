//! Runs of programs on simulated machines.

use tidegate_sim::{Job, Settings, Width, run};
use tidegate_workloads::{Given, Simulated, SimulatedVisitor, Size, visit_simulated};

use super::observed::Observed;
use super::slowed::Slowed;
use tidegate_cli_support::failure::Failure;

/// A program of an experiment, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// The program's name in the experiment.
    pub name: &'static str,
    pub program: &'static str,
    pub size: Size,
    /// Parameters whose values differ from the defaults for the size, such as `n=16 form=join`.
    pub given: String,
    /// Whether each run on a real machine has different data, generated from the run's seed.
    pub reseeded: bool,
    /// The factor by which the program's tasks are slower on a simulated machine than on this
    /// machine.
    pub slower: f64,
}

impl Work {
    pub fn new(name: &'static str, program: &'static str, size: Size, given: &str) -> Self {
        Self {
            name,
            program,
            size,
            given: given.to_owned(),
            reseeded: false,
            slower: 1.0,
        }
    }

    /// Returns everything that the program's runs depend on, as a string.
    pub fn in_full(&self) -> String {
        let (program, given, size, slower) = (self.program, &self.given, self.size, self.slower);
        let space = if given.is_empty() { "" } else { " " };
        format!("{program} {given}{space}size={size:?} slower={slower}")
    }

    pub fn given(&self) -> Given {
        let pairs = self.given.split_whitespace();
        let pairs = pairs.map(|pair| pair.split_once('=').expect("a name and a value"));
        Given {
            named: pairs
                .map(|(name, value)| (name.to_owned(), value.into()))
                .collect(),
            ..Given::default()
        }
    }
}

/// Instances of a program that run at the same time on a machine.
#[derive(Clone, Debug)]
pub struct Case {
    pub work: Work,
    pub settings: Settings,
    pub instances: usize,
    /// How many processors each instance gets.
    pub width: Width,
}

impl Case {
    /// Runs the case once with this seed.
    pub fn observe(&self, seed: u64) -> Result<Observed, Failure> {
        let Work { program, size, .. } = self.work;
        visit_simulated(program, size, &self.work.given(), Once { case: self, seed })?
    }
}

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
            width,
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
            width: *width,
        });
        let jobs: Vec<_> = jobs.collect();
        let outcome = run(&settings, &jobs).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(Observed::of(&outcome))
    }
}
