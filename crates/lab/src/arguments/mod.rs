//! The command line.

use clap::{Parser, Subcommand};

mod bench;
mod comparison;
mod keep;
mod reproduction;

pub use bench::{
    Bench, BenchArguments, CalibrateArguments, Experiment, ProgramsArguments, QueuesArguments,
    RayonProgramsArguments, ShareArguments, TwoLevelArguments,
};
pub use comparison::{Case, CompareArguments};
pub use keep::KeepFlags;
use reproduction::{AFTER_REPORT, AFTER_REPRODUCE};
pub use reproduction::{Experiments, ReportArguments, ReproduceArguments};
pub use tidegate_command::arguments::Size;
pub use tidegate_command::compare::Rival;

/// The laboratory of Tidegate: reproduce published experiments, and measure single mechanisms.
#[derive(Parser, Debug)]
#[command(name = "tidegate-lab", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Reproduce published experiments, on simulated machines and on this one
    #[command(after_help = AFTER_REPRODUCE)]
    Reproduce(ReproduceArguments),
    /// Make an HTML page of the results of `reproduce`
    #[command(after_help = AFTER_REPORT)]
    Report(ReportArguments),
    /// Measure how jobs divide this machine, what queues, places, intervals and waiting for memory cost, and rayon programs
    #[command(disable_help_subcommand = true)]
    Bench(BenchArguments),
    /// Compare runtimes in one mechanism, in turns
    #[command(disable_help_subcommand = true)]
    Compare(CompareArguments),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
