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
use tidegate_command::compare::{AFTER_COMPARE, ComparisonFlags};
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
#[command(after_help = AFTER_RUN)]
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

const AFTER_RUN: &str = "\
JSON:
  workload, parameters, workers
  options: null with --serial
  result: its fields are listed by `run WORKLOAD --help`
  verified: whether every run's answer matches the reference
  reference: its source; null if there is none
  changed: files that changed between runs and were ignored
  repetitions
  seconds: min, median and max of a run
  serial_seconds: time of the serial version
  cpu_seconds: CPU time of all runs
  peak_rss_bytes: peak memory of the process, read after the last run
  peak_declared_bytes: peak of the memory that tasks reserved
  notes: reasons to distrust the times

These fields are null with --serial:
  memory_sleeps: how often a task slept while waiting for a reservation
  allotment: number of workers that the pool was entitled to after the last
    run, given the other jobs
  counters: the pool's counters, over all runs
  breakdown: seconds by activity, in total and per_worker, including spare
    threads and guests
  waiting: seconds without a slot, by reason

The run for --dot and --svg is checked like the others, but not measured. Every interval is drawn, so choose a small \
problem.

Exit codes: 0 success, 1 wrong answer, 2 invalid usage or value, 3 the request could not be carried out.";

#[derive(Args, Debug)]
#[command(after_help = AFTER_COMPARE)]
pub struct CompareArguments {
    #[command(subcommand)]
    pub chosen: Chosen,
    #[command(flatten)]
    pub flags: ComparisonFlags,
}

#[derive(Args, Debug)]
#[command(after_help = AFTER_SIM)]
pub struct SimArguments {
    #[command(subcommand)]
    pub simulation: Simulation,
    #[command(flatten)]
    pub machine: SimulatedMachine,
}

const AFTER_SIM: &str = "\
JSON of a program, with times in seconds of simulated time:
  workload, parameters, processors
  topology, costs: the given files, or null
  cache_bytes: per place
  sim_seed
  options, among them
    desire: null if every job has all processors
    est_cycle: the time between two estimates of the desire
    allot: the policy that divides processors among jobs
    allotments: the given limits, or null
  t1: work of all tasks
  tinf: span, the longest chain of dependent tasks
  t: time of the run
  p_mean: mean number of processors allotted
  p_trimmed: p_mean, leaving out the tinf seconds with the most processors
  all_procs_seconds: until every processor has had work; null if one never had
  tasks
  attempts, steals: attempts to steal, and those that succeeded
  failed_busy, failed_empty: attempts that failed although the victim had
    work, or because it had none
  asleep_seconds: how long all workers slept for lack of work
  held_up_seconds: how long workers were delayed because the job estimated its
    desire
  peak_bytes: peak of reserved memory
  touched_bytes: bytes that tasks touched, if they report them
  missed_bytes: the part of them that was not in the place's cache
  sleeps: how often a task slept until memory was available, or
    yielded to an earlier task
  refusals: requests for memory that could never be granted
  bounds: for each bound, by name: value, limit, holds, and can_fail (false if
    every run meets it)
  waste: value (processor time spent searching), and limit (the most that Sen
    2004 allows a good scheduler)
  events: steps of the simulation

With --seeds, `sim_seed` and the figures move to `runs`, a list with one row per seed. With several jobs and no \
--seeds, the figures move to `jobs`, a list with one row per job. Rows leave out `p_trimmed`, `all_procs_seconds`, \
`waste` and `events`. In `runs`, figures are sums over all jobs, except for `p_mean`, their mean, and `peak_bytes`, \
their maximum.

Fields that appear only with --seeds or several jobs:
  job: the number of the job (in `jobs`)
  program: its program, as on the command line (in `jobs`, with --job)
  arrived: when the job arrived (in `jobs`)
  t: from the first arrival to the last completion (in `runs`)
  mean_response, worst_response: from a job's arrival to its completion (in
    `runs`)
  bounds_broken: the number of broken bounds, instead of `bounds`
  summary: median, min and max of each figure, if there is more than one row
  t1, tinf: of one job
  instances: the number of jobs
  arrivals: as given, or null if all jobs arrive at once
  programs: with --job, a list that replaces `workload`, `parameters`, `t1` and
    `tinf`; each entry has these fields, and `program`

--csv and --wide print the same rows. Summary rows have median, min or max in the first column. A single run is \
printed as one row.

JSON of `sim jobs`: events, a list of event (as in the file) and allotments (processors by job, after the event).

The costs of forks, steals and wake-ups are the rows of `tidegate tunables` that begin with `sim.`, unless --costs \
FILE sets them.

Exit codes: 0 success, 1 a bound is broken, 2 invalid usage or value, 3 the request could not be carried out.";
