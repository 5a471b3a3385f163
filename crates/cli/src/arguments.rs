//! The command line: subcommands, options, and each program's parameters.
//!
//! Options are declared here; parameters come from the registry of programs, which also checks their
//! values. Every program is a subcommand of `run` and of `compare`, so its parameters, what they
//! allow and the fields of its result stand in its own `--help`. Positional parameters can be given
//! by name as well.
//!
//! Nothing is read twice: a value that the parser accepts is used as it stands.

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod chosen;

pub use chosen::{Case, Chosen, Contest};

use crate::options::{self, Flags};
use crate::output;

/// The work-stealing runtime Tidegate: run programs on it, compare it with others.
#[derive(Parser, Debug)]
#[command(name = "tidegate", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run a program, check its result, and report times and counters
    #[command(
        subcommand_value_name = "WORKLOAD",
        subcommand_help_heading = "Workloads",
        disable_help_subcommand = true
    )]
    Run(RunArguments),
    /// Run a program or a case on several runtimes in turns, and print a table
    #[command(
        subcommand_value_name = "WORKLOAD",
        subcommand_help_heading = "Workloads and cases",
        disable_help_subcommand = true
    )]
    Compare(CompareArguments),
    /// Tell cores, caches, affinity and quotas, and why so many workers
    Machine(Format),
    /// List everything that can be set, with unit, range, default and reason
    Tunables(Format),
}

/// How the answer is printed.
#[derive(Args, Clone, Copy, Debug)]
pub struct Format {
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// How big a program is when parameters are left out.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    // No texts for help: with them it would take three times the lines.
    Tiny,
    #[default]
    Small,
    Paper,
}

impl From<Size> for tidegate_workloads::Size {
    fn from(size: Size) -> Self {
        match size {
            Size::Tiny => Self::Tiny,
            Size::Small => Self::Small,
            Size::Paper => Self::Paper,
        }
    }
}

/// The arguments of `run`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_RUN)]
pub struct RunArguments {
    /// The program.
    #[command(subcommand)]
    pub chosen: Chosen,
    /// How the pool is made.
    #[command(flatten)]
    pub flags: Flags,
    /// How often the program runs, on the same pool
    #[arg(long, value_name = "R", default_value_t = 1, global = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Run the serial version instead, on one thread and without a pool
    #[arg(long, global = true)]
    pub serial: bool,
    /// For parameters that are left out: milliseconds, seconds, or as in the program's source
    #[arg(long, value_enum, default_value_t, global = true)]
    pub size: Size,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

const AFTER_RUN: &str = "\
JSON: workload, parameters, workers, options (null with --serial), result (its fields: `run WORKLOAD --help`), verified
  (whether every run had the answer that reference names), reference (null if there was none to compare with), changed
  (what was left out because it changed between the runs), repetitions, seconds {min, median, max} of a run,
  serial_seconds, cpu_seconds of all runs, peak_rss_bytes until their end, and of the pool, for all runs: counters,
  breakdown (seconds by activity, summed and per worker), slotless (seconds without a slot by reason).

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

const AFTER_COMPARE: &str = "\
JSON: a list of rows: case, runtime, version, workers, median_ns, p99_ns, min_ns, max_ns (null where the runtime cannot do
  it), repetitions, over_serial_ns, ratio_to_serial and ratio_to_rayon (of the medians; rayon's with as many workers),
  cpu_seconds and wakeups (of the whole process during all repetitions).

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

/// A runtime to compare Tidegate with.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// The program's serial version.
    Serial,
    /// Two independent copies of the serial version side by side: what two workers could reach.
    #[value(name = "2xserial")]
    TwiceSerial,
    /// rayon.
    Rayon,
    /// chili.
    Chili,
    /// One scoped thread per worker over a static split of the first forks.
    Std,
}

/// The arguments of `compare`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_COMPARE)]
pub struct CompareArguments {
    /// The program or case.
    #[command(subcommand)]
    pub contest: Contest,
    /// Runtimes to compare tidegate with [default: those that can do it]
    #[arg(
        long,
        value_name = "RIVAL,..",
        value_enum,
        value_delimiter = ',',
        global = true
    )]
    pub with: Vec<Rival>,
    /// Numbers of workers [default: 1 and what affinity and quotas allow; cases that need two: 2]
    #[arg(long, value_name = "N,..", value_delimiter = ',', global = true, value_parser = options::workers())]
    pub workers: Vec<usize>,
    /// Repetitions of each row [default: enough for a stable median, by case]
    #[arg(long, value_name = "R", global = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: Option<u32>,
    /// For parameters that are left out: milliseconds, seconds, or as in the program's source
    #[arg(long, value_enum, default_value_t, global = true)]
    pub size: Size,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

/// Prints what is wrong with the command line, or the help that was asked for.
pub fn refuse(error: &clap::Error) -> ExitCode {
    let text = output::tame(&error.render().to_string());
    if error.use_stderr() {
        output::to_stderr(&text);
        return ExitCode::from(2);
    }
    match output::to_stdout(|out| out.write_all(text.as_bytes())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::complain(&failure.to_string());
            failure.code()
        }
    }
}
