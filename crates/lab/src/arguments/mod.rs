//! The command line.

use clap::{Parser, Subcommand};

mod fan;
mod reproduction;

use crate::bench::BenchArguments;
use crate::compare::CompareArguments;
use fan::AFTER_FAN;
pub use fan::{FanArguments, Program, Programs, Reproduction};
use reproduction::{AFTER_REPORT, AFTER_REPRODUCE};
pub use reproduction::{Experiments, ReportArguments, ReproduceArguments, Selection};
use tidegate_cli_support::arguments::Deferred;
pub use tidegate_cli_support::arguments::Size;

/// Reproduce published experiments with Tidegate, and measure individual mechanisms.
#[derive(Parser, Debug)]
#[command(name = "tidegate-lab", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Reproduce published experiments, in simulation and on this machine
    #[command(after_help = AFTER_REPRODUCE)]
    Reproduce(Deferred<ReproduceArguments>),
    /// Reproduce simulated experiments in pieces, on many machines
    #[command(disable_help_subcommand = true, after_help = AFTER_FAN)]
    Fan(Deferred<FanArguments>),
    /// Render `reproduce` results as an HTML report
    #[command(after_help = AFTER_REPORT)]
    Report(Deferred<ReportArguments>),
    /// Measure machine sharing between jobs, the cost of queues, places, intervals, streams and
    /// memory policies, and rayon programs
    #[command(disable_help_subcommand = true)]
    Bench(Deferred<BenchArguments>),
    /// Compare runtimes on a single mechanism, in interleaved runs
    #[command(disable_help_subcommand = true)]
    Compare(Deferred<CompareArguments>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    /// A piece must not pay for the options of the other subcommands.
    #[test]
    fn subcommands_wait_to_be_chosen() {
        for command in Cli::command().get_subcommands() {
            let is_built = command.has_subcommands() || command.get_opts().count() > 0;
            assert!(!is_built, "{command}");
        }
    }
}
