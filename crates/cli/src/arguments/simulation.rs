//! What `sim` simulates: a program, or a list of jobs that arrive and leave.
//!
//! The options of a simulation belong to the program's subcommand instead of `sim`, because `sim
//! jobs` does not use them.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use tidegate::policy::{IdlePolicy, MemoryPolicy, StealAmount, VictimPolicy};
use tidegate_policy::tunables::{self, Allowed};
use tidegate_policy::{DesirePolicy, Nanos};
use tidegate_sim::{Allot, Allotments, Arrivals};
use tidegate_workloads::registry::{ENTRIES, Entry};

use tidegate_cli_support::arguments::{
    Choice, Chosen, Format, Size, TableFormat, grouped_help, open, program, whole,
};
use tidegate_cli_support::options::{est_cycle, help, help_of_policy};

use super::other_program::{OtherProgram, other_program};

/// The only subcommand of `sim` that isn't a program.
const JOBS: &str = "jobs";

#[derive(Clone, Debug)]
pub enum Simulation {
    /// A program on the machine, as one job or several.
    Program(Simulated, TableFormat),
    /// The allotments of jobs that arrive, change their desires and leave.
    Jobs(JobsArguments),
}

/// A program that is simulated, and how.
#[derive(Clone, Debug)]
pub struct Simulated {
    pub chosen: Chosen,
    pub flags: Box<SimulationFlags>,
}

/// The machine that is simulated.
#[derive(Args, Clone, Debug)]
pub struct SimulatedMachine {
    #[arg(long, value_name = "P", global = true, value_parser = processors(), allow_negative_numbers = true, help = processors_help())]
    pub processors: Option<usize>,
    /// Simulate the machine in this topology file, with one processor per CPU and the same
    /// distances; - for standard input [format: see `tidegate machine --help`]
    #[arg(long, value_name = "FILE", global = true)]
    pub topology: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Simulation options")]
pub struct SimulationFlags {
    /// Seed of the machine's random draws; a program's own seed is one of its parameters
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = whole(0, u64::MAX), allow_negative_numbers = true)]
    pub sim_seed: u64,
    #[arg(long, value_name = "POLICY", help = help_of_policy(&tunables::IDLE))]
    pub idle: Option<IdlePolicy>,
    #[arg(long, value_name = "AMOUNT", help = help(&tunables::STEAL))]
    pub steal: Option<StealAmount>,
    #[arg(long, value_name = "RULE", help = help(&tunables::VICTIM))]
    pub victim: Option<VictimPolicy>,
    /// The workers of each place of --topology share a deque, and thieves of other places steal its
    /// oldest task
    #[arg(long)]
    pub place_deques: bool,
    #[arg(long, value_name = "POLICY", help = help_of_policy(&tunables::SPACE))]
    pub memory: Option<MemoryPolicy>,
    #[arg(long, value_name = "RULE", help = desire_help())]
    pub desire: Option<DesirePolicy>,
    #[arg(long, value_name = "TIME", value_parser = est_cycle, allow_negative_numbers = true, help = help(&tunables::EST_CYCLE) + "; with --desire")]
    pub est_cycle: Option<Nanos>,
    /// Costs of forks, steals and so on, as printed by `tidegate-lab bench calibrate --json`; - for
    /// standard input [default: the rows of `tidegate tunables` that begin with `sim.`]
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    #[arg(long, value_name = "BYTES", value_parser = |text: &str| tunables::SIM_CACHE.parse(text), allow_negative_numbers = true, help = help(&tunables::SIM_CACHE))]
    pub cache: Option<usize>,
    /// Also run a job of another program, given by its name, parameters and --size, such as "knary
    /// 8 4 2"; may be repeated
    #[arg(long, value_name = "PROGRAM", value_parser = other_program)]
    pub job: Vec<OtherProgram>,
    /// Number of jobs that share the machine, taking the programs in turn [default: one per
    /// program, or one per time of --arrivals]
    #[arg(long, value_name = "N", value_parser = whole(1_usize, 1_000), allow_negative_numbers = true)]
    pub instances: Option<usize>,
    /// Pin worker i of each job to processor i; workers on the same processor take turns
    #[arg(long, conflicts_with = "desire")]
    pub pinned: bool,
    /// When the jobs arrive: at:TIME,.. or poisson:MEAN, at random with this mean interval
    /// [default: all at once]
    #[arg(long, value_name = "WHEN")]
    pub arrivals: Option<Arrivals>,
    #[arg(long, value_name = "RULE", help = format!("{}; with --desire [default: {}]", allot_help(), Allot::Dp))]
    pub allot: Option<Allot>,
    /// Limit each job to P processors from TIME after its arrival: TIME:P,.. such as 0ms:4,10ms:2,
    /// or random:TIME for a random limit from 1 to --processors every TIME [default: no limit]
    #[arg(long, value_name = "WHEN", conflicts_with = "pinned")]
    pub allotments: Option<Allotments>,
    /// Run with N seeds, starting with --sim-seed, and print a row for each and a summary
    #[arg(long, value_name = "N", value_parser = whole(1_usize, 10_000), allow_negative_numbers = true)]
    pub seeds: Option<usize>,
    /// Problem size, which sets the parameters' defaults: runs of milliseconds (tiny), of seconds
    /// (small), or as published (paper)
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
}

fn desire_help() -> String {
    format!(
        "Start with one processor and adjust the number with this policy [possible values: {}] [default: always all \
         processors] [parameters: see `tidegate tunables`]",
        DesirePolicy::names().join(", ")
    )
}

#[derive(Args, Clone, Debug)]
pub struct JobsArguments {
    /// JSON list of ["arrive", JOB, DESIRE], ["desire", JOB, DESIRE] and ["leave", JOB]; - for
    /// standard input
    pub file: PathBuf,
    #[arg(long, value_name = "RULE", default_value_t = Allot::Dp, help = allot_help())]
    pub allot: Allot,
    #[command(flatten)]
    pub format: Format,
}

fn allot_help() -> String {
    format!(
        "The policy that divides processors among jobs [possible values: {}]",
        Allot::names().join(", ")
    )
}

/// Returns the parser of `--processors`.
fn processors() -> impl TypedValueParser<Value = usize> {
    match tunables::SIM_PROCESSORS.allowed {
        Allowed::Between(least, most) => whole(least, most),
        Allowed::OneOf(_) => whole(1, usize::MAX),
    }
}

fn processors_help() -> String {
    let default = tunables::SIM_PROCESSORS.default;
    format!("Processors of the simulated machine [default: {default}, or the CPUs of --topology]")
}

pub(super) const SIMULATED: Choice = Choice {
    noun: "workload",
    participle: "simulated",
    list: "tidegate sim",
};

pub(super) fn simulated() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().filter(|entry| entry.simulated)
}

/// Returns a program's subcommand. Its help describes no result, because a simulation does not
/// compute the program's result.
fn command(entry: &Entry) -> Command {
    SimulationFlags::augment_args(program(entry)).about(entry.summary)
}

fn jobs() -> Command {
    let about = "Divide processors among jobs that arrive, change and leave, and print every step";
    JobsArguments::augment_args(Command::new(JOBS)).about(about)
}

impl FromArgMatches for Simulation {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        match matches.subcommand() {
            Some((JOBS, matches)) => JobsArguments::from_arg_matches(matches).map(Self::Jobs),
            Some((name, flags)) if is_simulated(name) => Ok(Self::Program(
                Simulated::from_arg_matches(matches)?,
                TableFormat::from_arg_matches(flags)?,
            )),
            _ => {
                let programs = simulated().map(|entry| entry.name);
                Err(SIMULATED.unknown(matches, programs.chain([JOBS])))
            }
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Simulation {
    fn augment_subcommands(parent: Command) -> Command {
        let programs = simulated().map(|entry| {
            let command = TableFormat::augment_args(command(entry)).about(entry.summary);
            command.after_help("JSON: see `sim --help`.").hide(true)
        });
        let help = grouped_help(|entry| entry.simulated);
        open(parent)
            .help_template(help)
            .subcommands(programs)
            .subcommand(jobs())
    }

    fn augment_subcommands_for_update(parent: Command) -> Command {
        Self::augment_subcommands(parent)
    }

    fn has_subcommand(name: &str) -> bool {
        name == JOBS || is_simulated(name)
    }
}

fn is_simulated(name: &str) -> bool {
    simulated().any(|entry| entry.name == name)
}

impl FromArgMatches for Simulated {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        match matches.subcommand() {
            Some((name, flags)) if is_simulated(name) => Ok(Self {
                chosen: Chosen::from_arg_matches(matches)?,
                flags: Box::new(SimulationFlags::from_arg_matches(flags)?),
            }),
            _ => Err(SIMULATED.unknown(matches, simulated().map(|entry| entry.name))),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Simulated {
    /// Adds those programs whose names are `wanted`.
    pub fn augment_programs(parent: Command, wanted: impl Fn(&str) -> bool) -> Command {
        let programs = simulated().filter(|entry| wanted(entry.name));
        let programs = programs.map(|entry| command(entry).hide(true));
        let help = grouped_help(|entry| entry.simulated);
        open(parent).help_template(help).subcommands(programs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::Cli;
    use clap::{Arg, CommandFactory};

    #[test]
    fn parameters_and_options_have_different_names() {
        let mut cli = Cli::command();
        cli.build();
        let sim = cli.find_subcommand("sim").unwrap();
        let flags = SimulationFlags::augment_args(Command::new("flags"));
        let flags = TableFormat::augment_args(flags);
        let options = sim.get_arguments().chain(flags.get_arguments());
        let options: Vec<_> = options.filter_map(Arg::get_long).collect();
        for name in [
            "json",
            "processors",
            "topology",
            "sim-seed",
            "desire",
            "size",
        ] {
            assert!(options.contains(&name), "{name}");
        }
        for parameter in simulated().flat_map(|entry| entry.parameters) {
            assert!(!options.contains(&parameter.name), "{}", parameter.name);
        }
    }
}
