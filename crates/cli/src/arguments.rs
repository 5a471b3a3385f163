//! The command line: subcommands, options, and each program's parameters.
//!
//! Options are declared here; parameters come from the registry of programs, which also checks their
//! values. Every program is a subcommand of `run` and of `compare`, so its parameters, what they
//! allow and the fields of its result stand in its own `--help`. Positional parameters can be given
//! by name as well.
//!
//! Nothing is read twice: a value that the parser accepts is used as it stands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

mod other_program;
mod replay;
mod simulation;

pub use other_program::OtherProgram;
use replay::AFTER_REPLAY;
pub use replay::{ReplayArguments, TraceArguments};
pub use simulation::{JobsArguments, Simulation, SimulationFlags};
use tidegate_command::arguments::{Chosen, Format, Size, TableFormat, repetitions};
use tidegate_command::compare::{AFTER_COMPARE, ComparisonFlags};
use tidegate_command::options::{self, Flags};

use crate::top;

/// The work-stealing runtime Tidegate: run programs on it, compare it with others.
#[derive(Parser, Debug)]
#[command(name = "tidegate", version, max_term_width = 100, after_help = AFTER_ALL)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_ALL: &str = "\
Where a file is named, - is standard input or standard output, and ./- a file of that name. Standard output is for one thing: \
where a file takes it, what a command prints for people goes to standard error, and --json is refused.";

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
    /// Run a program on several runtimes in turns, and print a table
    #[command(
        subcommand_value_name = "WORKLOAD",
        subcommand_help_heading = "Workloads",
        disable_help_subcommand = true
    )]
    Compare(CompareArguments),
    /// Run a program on a simulated machine, or share its processors out among jobs
    #[command(
        subcommand_value_name = "WORKLOAD",
        subcommand_help_heading = "Workloads and jobs",
        disable_help_subcommand = true
    )]
    Sim(SimArguments),
    /// Ask the rules again what a pool has asked them (`run --trace`), and compare; or draw it over time
    #[command(after_help = AFTER_REPLAY)]
    Replay(ReplayArguments),
    /// Tell cores, caches, affinity and quotas, and why so many workers
    #[command(after_help = AFTER_MACHINE)]
    Machine(MachineArguments),
    /// List everything that can be set: name, default and variable, and with --wide unit, basis, range and reason
    Tunables(TableFormat),
    /// List the jobs that share this machine: what each could use, may use and uses
    #[command(after_help = AFTER_JOBS)]
    Jobs(TableFormat),
    /// Show the jobs that share this machine on a screen that follows them
    #[command(after_help = AFTER_TOP)]
    Top(TopArguments),
    /// Look after the table through which jobs share this machine
    #[command(subcommand, disable_help_subcommand = true)]
    Share(ShareCommand),
}

/// What can be done about the table of jobs.
#[derive(Subcommand, Clone, Copy, Debug)]
pub enum ShareCommand {
    /// Tell which file the table is and why, who lives in it and who has died, and free the rows of the dead
    #[command(after_help = AFTER_CHECK)]
    Check(Format),
}

/// The arguments of `machine`.
#[derive(Args, Clone, Debug)]
pub struct MachineArguments {
    /// Tell it of a made-up machine, which this file says; - for standard input
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// Tell instead what the CPUs that may be used share, as a tree
    #[arg(long)]
    pub tree: bool,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

const AFTER_MACHINE: &str = "\
The file has a statement a line, such as `cpus 0-7`, `core 0-1 2-3`, `L1d 0-1 2-3 size=32K`, `L3 0-3 4-7`, \
`node 0-3 4-7`, `package 0-7`; docs/topology.md explains it.

JSON with --tree: nested objects of kind (machine, package, node, L3, L1d, .., core), id (of packages and \
nodes), size_bytes (of caches), cpus, children. Where two kinds have the same CPUs, one is the only child of \
the other.

Exit codes: 0 done, 2 bad usage or value, 3 the file cannot be read.";

/// The arguments of `top`.
#[derive(Args, Clone, Copy, Debug)]
pub struct TopArguments {
    /// Time between two pictures
    #[arg(long, value_name = "TIME", value_parser = top::every, help = top::help_of_every())]
    pub every: Option<Duration>,
}

const AFTER_JOBS: &str = "\
Desire is how many processors the job could use, allotment how many it is entitled to, in use how many workers \
it has running, whether or not each of them has a processor at that moment. Efficiency is the part of their \
time that goes into work, and weight how much the job counts beside others.

Each job that works is entitled to one processor at least: where there are more such jobs than processors, \
allotments add up to more than there are, and for a moment also while desires change. An allotment beside a \
desire of 0 takes nothing from others: the job would begin with it.

This looks once. That a job has been stopped only shows over time: see `tidegate top`.

JSON: table (the path), why (it is that one), exists (whether there is a table), jobs: a list of pid, name, \
desire, allotment, in_use, efficiency (0 to 1), weight, limit (the most processors it may have), since (when \
it came, in seconds since 1970), cpu_seconds (of its process so far).

Exit codes: 0 done, also without a table; 2 bad usage, 3 there is a table and it cannot be used.";

const AFTER_TOP: &str = "\
Keys: p n d a u e s sort by pid, name, desire, allotment, in use, efficiency, since; r reverses; arrows, PgUp, \
PgDn, Home and End scroll; q, Esc and Ctrl-C end; Ctrl-Z stops until `fg`.

The last column is what a job kept busy of late: a full cell is the most that it desired in that time, and \
yellow is less than it desired then.

Exit codes: 0 done, 2 bad usage or no terminal (use `tidegate jobs`), 3 the terminal is lost or this system \
has no table.";

const AFTER_CHECK: &str = "\
JSON: table (the path), why (it is that one), exists (whether there is a table), rows (how many it has), \
alive, dead (died without leaving), orphaned (dead, and a child holds the row): lists of jobs as in `tidegate \
jobs --help`, freed (how many rows).

Exit codes: 0 sound, also after rows were freed or where the first job can make the table; 2 bad usage, 3 the \
file is not to be trusted or cannot be made.";

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
    #[arg(long, value_name = "R", default_value_t = 1, global = true, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Run the serial version instead, on one thread and without a pool
    #[arg(long, global = true, conflicts_with_all = options::OF_POOLS)]
    pub serial: bool,
    /// Where pictures are to be written.
    #[command(flatten)]
    pub pictures: PictureArguments,
    /// Where its notes are to be written.
    #[command(flatten)]
    pub trace: TraceArguments,
    /// For parameters that are left out: milliseconds, seconds, or as in the program's source; also test, A, B
    #[arg(long, value_enum, default_value_t, global = true)]
    pub size: Size,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

/// The files of `run`'s pictures.
#[derive(Args, Clone, Debug, Default)]
pub struct PictureArguments {
    /// Run once more, take notes of every interval, and write their order to FILE, for Graphviz; - for standard output
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "serial")]
    pub dot: Option<PathBuf>,
    /// The same, and write to FILE a picture of who ran which interval where and when; - for standard output
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "serial")]
    pub svg: Option<PathBuf>,
}

const AFTER_RUN: &str = "\
JSON: workload, parameters, workers, options (null with --serial), result (its fields: `run WORKLOAD --help`), \
verified (whether every run had the answer that reference names), reference (null if there was none to compare \
with), changed (what was left out because it changed between the runs), repetitions, seconds {min, median, \
max} of a run, serial_seconds, cpu_seconds of all runs, peak_rss_bytes until their end, peak_declared_bytes \
(by reservations), and of the pool: memory_sleeps (for reservations), \
allotment (how many workers other jobs left to it when the runs ended), and for all runs: counters, breakdown \
(seconds by activity, summed and per worker: threads of the pool, spare ones and guests), waiting (seconds without a slot by reason).

The run for --dot and --svg is checked like the others, and in no figure. Every interval is drawn: ask for few.

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

/// The arguments of `compare`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_COMPARE)]
pub struct CompareArguments {
    /// The program.
    #[command(subcommand)]
    pub chosen: Chosen,
    /// How it is compared.
    #[command(flatten)]
    pub flags: ComparisonFlags,
}

/// The arguments of `sim`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_SIM)]
pub struct SimArguments {
    /// What is simulated.
    #[command(subcommand)]
    pub simulation: Simulation,
    #[arg(long, value_name = "P", global = true, value_parser = simulation::processors(), allow_negative_numbers = true, help = simulation::processors_help())]
    pub processors: Option<usize>,
    /// Simulate the machine that this file says: one processor for each of its CPUs, as far apart as these; - for standard input [form: see `tidegate machine --help`]
    #[arg(long, value_name = "FILE", global = true)]
    pub topology: Option<PathBuf>,
}

const AFTER_SIM: &str = "\
JSON of a program: workload, parameters, processors, topology and costs (the files or null), cache_bytes (of a place), sim_seed, options (desire null: all processors; est_cycle, the time between two estimates of it; allot, which shares them out among jobs that desire; allotments, the given limits or null), in \
seconds of simulated time t1 (the work of all tasks), tinf (the longest chain of tasks that wait for each \
other), t (the run), all_procs_seconds (until every processor has had work; null if one never had), \
asleep_seconds (of all workers, for lack of work), held_up_seconds (by estimates of the desire); p_mean (processors allotted in the mean), p_trimmed (without the tinf of time with the most processors, as the bounds count them), tasks, attempts \
(to steal), steals, failed_lost_race, failed_empty, peak_bytes (declared at most), touched_bytes (by tasks that \
say so) and of these missed_bytes (not in their place's cache), sleeps and refusals (of requests for memory), \
bounds (by name the value, the limit, whether it holds, of what theory promises of this run, and in tells \
whether any run could break it), waste (seconds of searching, beside what a good scheduler may waste), events (moments that the \
simulator went through).

With --seeds a list runs with a row for each seed in place of sim_seed and the figures, without it and with several \
jobs a list jobs: sim_seed or job, program (of a job, beside --job, as on the command line), arrived (of a job), t (of a run from the first arrival to the last end), of a \
run mean_response and worst_response (of its jobs, seconds from arrival to end), and the figures above, of all jobs together; \
p_mean is the mean and peak_bytes the largest of the jobs, bounds_broken counts bounds that do not hold. Beside it \
instances, arrivals (null: all at once), t1 and tinf (of one job), and summary: by figure median, min and max of more than one row. \
With --job a list programs replaces workload, parameters, t1 and tinf: each program has these, and program. \
CSV, and the table of --wide, have the same rows, and those of the summary with its names in the first column; of a single \
run its row. Exit code 1: a bound is broken.

JSON of `sim jobs`: events, a list of event (as in the file) and allotments (processors by job, after it).

The costs of forks, steals and wake-ups are the rows of `tidegate tunables` that begin with sim., or what a program's --costs FILE says.

Exit codes: 0 done, 2 bad usage or value, 3 could not do what was asked.";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, CommandFactory};
    use tidegate_workloads::registry::ENTRIES;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    fn all_commands(command: &clap::Command) -> Vec<&clap::Command> {
        let below = command.get_subcommands().flat_map(all_commands);
        [command].into_iter().chain(below).collect()
    }

    /// The parser breaks lines where the terminal ends, so that any break before would make them ragged.
    #[test]
    fn no_paragraph_of_a_help_has_breaks_of_its_own_but_for_lists() {
        let cli = Cli::command();
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
    fn no_parameter_shares_a_name_with_an_option() {
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
