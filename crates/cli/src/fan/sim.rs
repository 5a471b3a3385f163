//! Splits simulations by their seeds.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tidegate_cli_support::standard::is_standard;
use tidegate_fan::{Budget, Done, Error, Weighted};
use tidegate_workloads::digest::hex;

use super::{Divisible, REST, Report, failed};
use crate::arguments::{Simulated, SimulatedMachine};
use crate::sim::{Experiment, Figures, Processors, Runs};

pub const NAME: &str = "sim";

/// A parameter of some programs.
const PIECES: &str = "pieces";

/// The program, and the machine that is simulated.
#[derive(Clone, Debug)]
pub struct Split {
    simulated: Simulated,
    machine: SimulatedMachine,
}

/// Some runs of the simulation.
#[derive(Debug, Serialize, Deserialize)]
pub struct Item {
    /// The digest of the settings, which depend on files and variables of the machine.
    settings: String,
    /// The numbers of their seeds.
    runs: Vec<usize>,
}

/// What the runs have shown.
#[derive(Debug, Serialize, Deserialize)]
pub struct Out {
    settings: String,
    runs: Vec<Figures>,
}

/// Returns the subcommand, which has no [`programs`] yet.
pub fn command() -> Command {
    let command = Command::new(NAME).next_help_heading("Simulation options");
    let command = SimulatedMachine::augment_args(command).next_help_heading(None::<&str>);
    command
        .mut_args(without_standard_input)
        .about("a workload on a simulated machine, with --seeds N")
        .subcommand_value_name("WORKLOAD")
        .disable_help_subcommand(true)
}

/// Adds those programs whose names are `wanted`.
pub fn programs(command: Command, wanted: impl Fn(&str) -> bool) -> Command {
    Simulated::augment_programs(command, wanted).mut_subcommands(|program| {
        // `--pieces` is the number of pieces.
        let long = format!("{}-{PIECES}", program.get_name());
        program.mut_args(|arg| {
            if arg.get_id() == PIECES {
                arg.long(long.clone())
            } else {
                without_standard_input(arg)
            }
        })
    })
}

/// Removes what the help of a file says on `-`: pieces have no standard input.
fn without_standard_input(arg: Arg) -> Arg {
    match arg.get_help().map(ToString::to_string) {
        Some(help) => arg.help(help.replace("; - for standard input", "")),
        None => arg,
    }
}

impl Split {
    pub fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            simulated: Simulated::from_arg_matches(matches)?,
            machine: SimulatedMachine::from_arg_matches(matches)?,
        })
    }

    /// Returns the experiment and the digest of its settings, on a machine where neither may be that
    /// of the plan.
    fn here(&self) -> Result<(Experiment, String), Error> {
        let other = |error: Error| Error::elsewhere(format!("{}: {error}", other_settings()));
        self.experiment().map_err(other)
    }

    /// Returns the experiment and the digest of its settings.
    fn experiment(&self) -> Result<(Experiment, String), Error> {
        let flags = &self.simulated.flags;
        if flags.seeds.is_none() {
            let why = "a simulation is split by its seeds: expected --seeds N";
            return Err(Error::never(why));
        }
        let files = [&self.machine.topology, &flags.costs];
        if files.into_iter().flatten().any(|file| is_standard(file)) {
            let why =
                "pieces cannot read standard input: expected a file for --topology and --costs";
            return Err(Error::never(why));
        }
        let processors = Processors::of(&self.machine).map_err(failed)?;
        let experiment = Experiment::new(&self.simulated, &processors).map_err(failed)?;
        let settings = format!("{:?}", experiment.settings);
        let digest = hex(&Sha256::digest(settings).into());
        Ok((experiment, digest))
    }
}

/// Returns the error of a machine that would simulate something else than the plan says.
fn other_settings() -> Error {
    Error::elsewhere(
        "the settings are not those of the plan: on this machine, the file of --topology or --costs or a variable \
         that begins with TIDEGATE_ differs",
    )
}

/// Packs runs into at most `parts` items.
fn items(settings: &str, runs: &[usize], parts: usize) -> Vec<Weighted<Item>> {
    let runs = runs.chunks(runs.len().div_ceil(parts).max(1));
    let items = runs.map(|runs| Weighted {
        weight: runs.len() as u64,
        item: Item {
            settings: settings.to_owned(),
            runs: runs.to_owned(),
        },
    });
    items.collect()
}

impl Divisible for Split {
    type Item = Item;
    type Out = Out;

    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Item>>, Error> {
        let (experiment, settings) = self.experiment()?;
        let runs: Vec<_> = (0..experiment.seeds).collect();
        Ok(items(&settings, &runs, pieces))
    }

    fn run(&self, item: Item, budget: &Budget) -> Result<Done<Item, Out>, Error> {
        let (experiment, settings) = self.here()?;
        if item.settings != settings {
            return Err(other_settings());
        }
        // The first run is always made, so that every piece leaves less than it was given.
        let run = |place: usize| {
            if place > 0 && budget.is_spent() {
                Ok((Vec::new(), vec![item.runs[place]]))
            } else {
                Figures::of(&experiment, item.runs[place]).map(|run| (vec![run], Vec::new()))
            }
        };
        let all = tidegate::map_reduce(0..item.runs.len(), run, |left, right| {
            let (mut left, right) = (left?, right?);
            left.0.extend(right.0);
            left.1.extend(right.1);
            Ok(left)
        });
        let (runs, rest) = all.transpose().map_err(failed)?.unwrap_or_default();
        Ok(Done {
            rest: items(&settings, &rest, REST),
            out: Out { settings, runs },
        })
    }

    fn merge(&self, outs: Vec<Out>) -> Result<Report, Error> {
        let (experiment, settings) = self.here()?;
        if outs.iter().any(|out| out.settings != settings) {
            return Err(other_settings());
        }
        let mut runs: Vec<_> = outs.into_iter().flat_map(|out| out.runs).collect();
        runs.sort_by_key(|run| run.row.0);
        let first = experiment.settings.seed;
        let seeds = (0..experiment.seeds as u64).map(|number| first + number);
        if !runs.iter().map(|run| run.row.0).eq(seeds) {
            return Err(Error::perhaps("the results are not one for each seed"));
        }
        let runs = Runs::new(&experiment, runs).map_err(failed)?;
        Ok(Report {
            // The verbs have no `--wide`.
            text: runs.text("--json has"),
            json: runs.to_json(),
        })
    }
}
