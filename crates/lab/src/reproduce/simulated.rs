//! Runs of programs on simulated machines.

use tidegate_sim::{AnyDag, Job, Settings, Width, run_mix};
use tidegate_workloads::{Given, ParameterError, Size, find_simulated};

use super::observed::Observed;
use tidegate_cli_support::failure::Failure;

/// A program of an experiment, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
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

impl Workload {
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

    /// Returns the program's dag, with work that takes `factor` times as long.
    pub fn dag(&self, factor: f64) -> Result<Box<dyn AnyDag>, ParameterError> {
        let program = find_simulated(self.program, self.size, &self.given())?;
        Ok(program.slowed(factor))
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
pub struct Setup {
    pub work: Workload,
    pub settings: Settings,
    pub instances: usize,
    pub width: Width,
}

impl Setup {
    pub fn observe(&self, seed: u64) -> Result<Observed, Failure> {
        let settings = Settings {
            seed,
            ..self.settings.clone()
        };
        let dags = (0..self.instances).map(|_| self.work.dag(self.work.slower));
        let dags: Vec<_> = dags.collect::<Result<_, _>>()?;
        let jobs = dags.iter().map(|dag| Job {
            dag: &**dag,
            arrives: 0,
            width: self.width,
        });
        let outcome = run_mix(&settings, &jobs.collect::<Vec<_>>(), &mut |_, _| {})
            .map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(Observed::of(&outcome, settings.costs.slice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_sim::Costs;

    /// `quicksort` sorts its data while its tasks unfold.
    #[test]
    fn instances_have_data_of_their_own() {
        let busy = |instances| {
            let setup = Setup {
                work: Workload::new("quicksort", "quicksort", Size::Tiny, ""),
                settings: Settings {
                    costs: Costs::NONE,
                    ..Settings::new(4)
                },
                instances,
                width: Width::Fixed(2),
            };
            setup.observe(0).unwrap().busy
        };
        assert_eq!(busy(2), busy(1));
    }
}
