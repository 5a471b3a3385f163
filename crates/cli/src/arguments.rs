//! The command line: subcommands, options, and the parameters of each program.
//!
//! Options are declared here. Parameters come from the registry of programs, which also checks
//! their values. Every program is a subcommand of `run` and `compare`, whose `--help` lists the
//! program's parameters, their valid values and the fields of its result. Positional parameters can
//! also be passed by name.
//!
//! Values are parsed only once: the commands get typed values and not text.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

mod exec;
mod other_program;
mod replay;
mod simulation;

pub use exec::ExecArguments;
#[cfg(target_os = "linux")]
pub use exec::How;
pub use other_program::OtherProgram;
use replay::AFTER_REPLAY;
pub use replay::{ReplayArguments, TraceArguments};
pub use simulation::{JobsArguments, Simulated, SimulatedMachine, Simulation, SimulationFlags};
use tidegate_command::arguments::{Chosen, Deferred, Format, Size, TableFormat, repetitions};
use tidegate_command::compare::{AFTER_COMPARE, ComparisonFlags};
use tidegate_command::options::{self, Flags};

use crate::fan::Programs;
use crate::top;

/// Run and benchmark programs on the Tidegate work-stealing runtime.
#[derive(Parser, Debug)]
#[command(name = "tidegate", version, max_term_width = 100, after_help = AFTER_ALL)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_ALL: &str = "\
`run` checks and times one program, `compare` benchmarks it against other runtimes, and `sim` simulates it on a \
larger machine. Start with `tidegate run digest /usr/share`.

Use - for standard input or output, and ./- for a file named -. If a file option writes to standard output, \
human-readable output goes to standard error and --json is rejected.";

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run a program, check its result, and report its times
    #[command(subcommand_value_name = "WORKLOAD", disable_help_subcommand = true)]
    Run(Deferred<RunArguments>),
    /// Benchmark a program on Tidegate and on other runtimes
    #[command(subcommand_value_name = "WORKLOAD", disable_help_subcommand = true)]
    Compare(Deferred<CompareArguments>),
    /// Simulate a program on a larger machine, or the allotments of jobs that share one
    #[command(
        subcommand_value_name = "WORKLOAD",
        subcommand_help_heading = "Instead of a workload",
        disable_help_subcommand = true
    )]
    Sim(Deferred<SimArguments>),
    /// Replay a recorded trace and check that every scheduling decision matches; or export a
    /// timeline
    #[command(after_help = AFTER_REPLAY)]
    Replay(Deferred<ReplayArguments>),
    /// Show CPU topology, affinity and quotas, and how the worker count was chosen
    #[command(after_help = AFTER_MACHINE)]
    Machine(Deferred<MachineArguments>),
    /// List all tuning parameters with their defaults and variables; --wide adds units, ranges and
    /// rationale
    Tunables(Deferred<TableFormat>),
    /// List running Tidegate jobs with their desire, share and usage
    #[command(after_help = AFTER_JOBS)]
    Jobs(Deferred<TableFormat>),
    /// Monitor running jobs (live view)
    #[command(after_help = AFTER_TOP)]
    Top(Deferred<TopArguments>),
    /// Inspect and clean up the shared job table
    #[command(subcommand, disable_help_subcommand = true)]
    Table(Deferred<TableCommand>),
    /// Run any program as a job that shares the processors
    Exec(Deferred<ExecArguments>),
    /// Split a program into pieces, run them on many machines, and merge their results
    #[command(subcommand, disable_help_subcommand = true, after_help = AFTER_FAN)]
    Fan(Deferred<tidegate_fan::Verb<Programs>>),
    /// Waits until `exec` ends; if it died, restores what it has confined, or ends its program
    #[cfg(target_os = "linux")]
    #[command(name = tidegate_exec::SUBCOMMAND, hide = true)]
    ExecWatch { record: Option<PathBuf> },
}

#[derive(Subcommand, Clone, Copy, Debug)]
pub enum TableCommand {
    /// Check the table file, list live and dead jobs, and free the rows of dead ones
    #[command(after_help = AFTER_CHECK)]
    Check(Format),
}

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

const AFTER_MACHINE: &str = "\
A topology file has one statement per line, such as `cpus 0-7`, `core 0-1 2-3`, `L1d 0-1 2-3 size=32K`, \
`L3 0-3 4-7`, `node 0-3 4-7`, `package 0-7`; see docs/topology.md.

JSON with --tree: nested objects of kind (machine, package, node, L3, L1d, .., core), id (of packages and \
nodes), size_bytes (of caches), cpus, children. If two kinds have the same CPUs, one is the only child of \
the other.

Exit codes: 0 success, 2 invalid usage or value, 3 the file cannot be read.";

#[derive(Args, Clone, Copy, Debug)]
pub struct TopArguments {
    /// Time between screen updates
    #[arg(long, value_name = "TIME", value_parser = top::every, help = top::help_of_every())]
    pub every: Option<Duration>,
}

const AFTER_JOBS: &str = "\
`desire` is the number of processors that a job could use. `allotment` is the number that it is entitled to. \
`in use` is the number of its running workers, whether or not each has a processor at the moment. `efficiency` is the \
fraction of their time that goes into work. `weight` is the job's weight relative to others. Of a program that \
`tidegate exec` runs, `in use` is the number of processors that it keeps busy, and the efficiency is unknown.

Every active job is entitled to at least one processor. Allotments can therefore exceed the number of processors: \
permanently if there are more active jobs than processors, and briefly after desires change. The allotment of a job \
with a desire of 0 is not reserved; it is what the job would start with.

This is a single snapshot. Only `tidegate top` shows whether a job is stalled.

JSON: table (the path), why (how it was chosen), exists (whether there is a table), jobs: a list of pid, name, \
desire, allotment, in_use, efficiency (0 to 1; null if unknown), weight, limit (maximum processors), since (start in seconds since \
1970), cpu_seconds (of its process so far).

Exit codes: 0 success, even without a table; 2 invalid usage, 3 the table cannot be used.";

const AFTER_TOP: &str = "\
Keys: p n d a u e s sort by pid, name, desire, allotment, in use, efficiency, since; r reverses; arrows, PgUp, \
PgDn, Home and End scroll; q, Esc and Ctrl-C quit; Ctrl-Z suspends until `fg`.

The last column shows how many processors a job recently used. A full-height bar is the maximum of its desire and \
its use in that period. A yellow bar means that the job used fewer processors than it desired.

Exit codes: 0 success, 2 invalid usage or no terminal (use `tidegate jobs`), 3 the terminal is lost or this system \
has no table.";

const AFTER_FAN: &str = "\
The programs are uts, digest and sim with --seeds. The merged result is that of `tidegate run` or `tidegate sim`, \
whichever machines run the pieces, even if some of them run twice. All machines need the same version of this command \
and a folder that they share. docs/fan.md describes what is published there.

Exit codes: 0 success, 1 a result is missing, torn or wrong, 2 invalid usage, plan or item, 3 another machine or \
another time may succeed, \
128 + n signal n has interrupted `run`.";

const AFTER_CHECK: &str = "\
JSON: table (the path), why (how it was chosen), exists (whether there is a table), rows (capacity), alive, dead \
(died without leaving), orphaned (dead, but a child holds the row): lists of jobs as in `tidegate jobs --help`, \
freed (number of rows).

Exit codes: 0 sound, even if rows were freed or if the first job has yet to create the table; 2 invalid usage, 3 the \
file cannot be trusted or created.";

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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, CommandFactory};
    use tidegate_workloads::registry::ENTRIES;

    #[test]
    fn command_line_is_sound() {
        Cli::command().debug_assert();
    }

    /// A start must not pay for options that the user has not chosen.
    #[test]
    fn subcommands_wait_to_be_chosen() {
        let cli = Cli::command();
        let programs = Programs::augment_args(clap::Command::new("fan piece"));
        let simulation = programs.find_subcommand("sim").unwrap();
        assert!(!simulation.has_subcommands());
        for command in cli.get_subcommands() {
            let is_built = command.has_subcommands() || command.get_opts().count() > 0;
            assert!(!is_built, "{command}");
        }
    }

    fn all_commands(command: &clap::Command) -> Vec<&clap::Command> {
        let below = command.get_subcommands().flat_map(all_commands);
        [command].into_iter().chain(below).collect()
    }

    /// The parser wraps text at the terminal's width, so hard line breaks would leave short lines.
    #[test]
    fn help_paragraphs_have_no_line_breaks() {
        let mut cli = Cli::command();
        cli.build();
        let mut helps = 0;
        for command in all_commands(&cli) {
            let Some(help) = command.get_after_help() else {
                continue;
            };
            let help = help.to_string();
            for paragraph in help.trim().split("\n\n") {
                let list = |line: &str| line.starts_with("  ");
                assert!(paragraph.lines().skip(1).all(list), "{paragraph}");
            }
            helps += 1;
        }
        assert!(helps > 6);
    }

    #[test]
    fn parameters_and_options_have_different_names() {
        let mut cli = Cli::command();
        cli.build();
        for command in ["run", "compare"] {
            let command = cli.find_subcommand(command).unwrap();
            let options: Vec<_> = command.get_arguments().filter_map(Arg::get_long).collect();
            assert!(options.contains(&"json"));
            for entry in ENTRIES {
                for parameter in entry.parameters {
                    assert!(!options.contains(&parameter.name), "{}", parameter.name);
                }
            }
        }
    }
}
