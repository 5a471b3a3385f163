//! The options and parameters of the subcommands.
//!
//! Options are declared here. Parameters come from the registry of programs, which also checks
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
use tidegate_command::arguments::{Chosen, Format, Size, repetitions};
use tidegate_command::compare::{ComparisonFlags, after_compare};
use tidegate_command::options::{self, Flags};

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
pub struct RunArguments {
    #[command(subcommand)]
    pub chosen: Chosen,
    #[command(flatten)]
    pub flags: Flags,
    /// Number of measured runs; without this option a warm-up run comes first [default: 3]
    #[arg(long, value_name = "R", global = true, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: Option<u32>,
    /// Also print CPU time, memory, the pool's counters and where the time went
    #[arg(long, global = true, conflicts_with = "json")]
    pub stats: bool,
    /// Run the serial version instead, on one thread without a pool
    #[arg(long, global = true, conflicts_with_all = options::OF_POOLS)]
    pub serial: bool,
    #[command(flatten)]
    pub pictures: PictureArguments,
    #[command(flatten)]
    pub trace: TraceArguments,
    /// Problem size, which sets the parameters' defaults: runs of milliseconds (tiny), of seconds
    /// (small), or as published (paper); test, A and B are aliases of tiny, small and paper
    #[arg(long, value_enum, default_value_t, global = true)]
    pub size: Size,
    #[command(flatten)]
    pub format: Format,
}

/// The options of `run` that write the task graph and the timeline to files.
#[derive(Args, Clone, Debug, Default)]
pub struct PictureArguments {
    /// Run once more, record all intervals, and write their order to FILE as a Graphviz graph; -
    /// for standard output
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "serial")]
    pub dot: Option<PathBuf>,
    /// Like --dot, but draw a timeline of which worker ran which interval; - for standard output
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "serial")]
    pub svg: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = after_compare())]
pub struct CompareArguments {
    #[command(subcommand)]
    pub chosen: Chosen,
    #[command(flatten)]
    pub flags: ComparisonFlags,
}

#[derive(Args, Debug)]
pub struct SimArguments {
    #[command(subcommand)]
    pub simulation: Simulation,
    #[command(flatten)]
    pub machine: SimulatedMachine,
}
