//! The options and parameters of subcommands. Those of `run` and `top` are beside their code.
//!
//! Parameters come from the registry of programs, which also checks
//! their values. Every program is a subcommand of `run` and `compare`, whose `--help` lists the
//! program's parameters, their valid values and the fields of its result. Positional parameters can
//! also be passed by name.
//!
//! Values are parsed only once: the commands get typed values and not text.

use std::path::PathBuf;

use clap::Args;

mod exec;
mod other_program;
mod replay;
mod simulation;

pub use exec::ExecArguments;
#[cfg(target_os = "linux")]
pub use exec::How;
pub use other_program::OtherProgram;
pub use replay::{AFTER_REPLAY, ReplayArguments, TraceArguments};
pub use simulation::{JobsArguments, Simulated, SimulatedMachine, Simulation, SimulationFlags};
use tidegate_cli_support::arguments::{Chosen, Format};
use tidegate_cli_support::compare::{ComparisonFlags, after_compare};

#[derive(Args, Clone, Debug)]
pub struct MachineArguments {
    /// Describe the machine in this topology file instead; - for standard input
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// Show as a tree which cores, caches and nodes the usable CPUs share
    #[arg(long)]
    pub tree: bool,
    #[command(flatten)]
    pub format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = after_compare())]
pub struct CompareArguments {
    #[command(subcommand)]
    pub chosen: Chosen,
    #[command(flatten)]
    pub flags: ComparisonFlags,
}
