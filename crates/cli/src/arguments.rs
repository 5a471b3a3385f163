//! The command line: subcommands, options, and each program's parameters.
//!
//! Options are declared here; parameters come from the registry of programs, which also checks their
//! values. Every program is a subcommand of `run` and of `compare`, so its parameters, what they
//! allow and the fields of its result stand in its own `--help`. Positional parameters can be given
//! by name as well.
//!
//! Nothing is read twice: a value that the parser accepts is used as it stands.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod chosen;
mod replay;
mod reproduction;
mod simulation;
mod whole;

pub use chosen::{Case, Chosen, Contest};
use replay::AFTER_REPLAY;
pub use replay::{ReplayArguments, TraceArguments};
use reproduction::{AFTER_REPORT, AFTER_REPRODUCE};
pub use reproduction::{Experiments, ReportArguments, ReproduceArguments};
pub use simulation::{JobsArguments, Simulation, SimulationFlags};
pub use whole::whole;

use crate::options::{self, Flags, SharingFlags};
use crate::output;
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
    /// Run a program or a case on several runtimes in turns, and print a table
    #[command(
        subcommand_value_name = "WORKLOAD",
        subcommand_help_heading = "Workloads and cases",
        disable_help_subcommand = true
    )]
    Compare(CompareArguments),
    /// Measure how jobs divide this machine, and what queues, places, intervals and waiting for memory are worth
    #[command(disable_help_subcommand = true)]
    Bench(BenchArguments),
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
    /// Make published experiments again, on simulated machines and on this one
    #[command(after_help = AFTER_REPRODUCE)]
    Reproduce(ReproduceArguments),
    /// Make a page, to be read in a browser, of what `reproduce` has found
    #[command(after_help = AFTER_REPORT)]
    Report(ReportArguments),
    /// Tell cores, caches, affinity and quotas, and why so many workers
    #[command(after_help = AFTER_MACHINE)]
    Machine(MachineArguments),
    /// List everything that can be set, with unit, range, default and reason
    Tunables(Format),
    /// List the jobs that share this machine: what each could use, may use and uses
    #[command(after_help = AFTER_JOBS)]
    Jobs(Format),
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

This looks once. Whether a job cpu_slots still, because it was stopped, shows only to who keeps looking: see \
`tidegate top`.

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
    // No texts for help: with them it would take three times the lines. The other names are those of Java Grande's sizes.
    #[value(alias = "test")]
    Tiny,
    #[default]
    #[value(alias = "A")]
    Small,
    #[value(alias = "B")]
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
    #[arg(long, value_name = "R", default_value_t = 1, global = true, value_parser = whole::repetitions(), allow_negative_numbers = true)]
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
(by leases), and of the pool: memory_sleeps (for leases), \
allotment (how many workers other jobs left to it when the runs ended), and for all runs: counters, breakdown \
(seconds by activity, summed and per worker: threads of the pool, spare ones and guests), slotless (seconds without a slot by reason).

The run for --dot and --svg is checked like the others, and in no figure. Every interval is drawn: ask for few.

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

const AFTER_COMPARE: &str = "\
JSON: a list of rows: case, runtime, version, workers, median_ns, p99_ns, min_ns, max_ns (null where the \
runtime cannot do it), repetitions, over_serial_ns, ratio_to_serial and ratio_to_rayon (of the medians; \
rayon's with as many workers), cpu_seconds and wakeups (of the whole process during all repetitions).

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
    #[arg(long, value_name = "N,..", value_delimiter = ',', global = true, value_parser = options::workers(), allow_negative_numbers = true)]
    pub workers: Vec<usize>,
    /// Repetitions of each row [default: enough for a stable median, by case]
    #[arg(long, value_name = "R", global = true, value_parser = whole::repetitions(), allow_negative_numbers = true)]
    pub repeat: Option<u32>,
    /// For parameters that are left out: milliseconds, seconds, or as in the program's source; also test, A, B
    #[arg(long, value_enum, default_value_t, global = true)]
    pub size: Size,
    /// How Tidegate's pools share the machine.
    #[command(flatten)]
    pub sharing: SharingFlags,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

/// The arguments of `bench`.
#[derive(Args, Debug)]
pub struct BenchArguments {
    /// What is measured.
    #[command(subcommand)]
    pub bench: Bench,
}

/// What `bench` measures.
#[derive(Subcommand, Debug)]
pub enum Bench {
    /// Several jobs at once: with Tidegate sharing the machine and not, on a static split, on rayon and serially
    #[command(after_help = AFTER_TWO_LEVEL)]
    TwoLevel(TwoLevelArguments),
    /// How fast processors pass from one job to another
    #[command(after_help = AFTER_SHARE)]
    Share(ShareArguments),
    /// What each queue of tasks costs its owner and its thieves
    #[command(after_help = AFTER_QUEUES)]
    Queues(QueuesArguments),
    /// What hints of where tasks run are worth, and what places cost without them
    #[command(after_help = AFTER_PLACES)]
    Places(ProgramsArguments),
    /// What an interval and an edge cost, and what programs made of them take
    #[command(after_help = AFTER_INTERVALS)]
    Intervals(ProgramsArguments),
    /// How much memory programs need at a time, and how long they take, when their tasks wait for it
    #[command(after_help = AFTER_SPACE)]
    Space(ProgramsArguments),
    /// What forks, steals, wake-ups and the like cost here, for the simulator
    #[command(after_help = AFTER_CALIBRATE)]
    Calibrate(CalibrateArguments),
    /// A job of another bench, which tells it by its standard input what to do
    #[command(hide = true)]
    Job,
}

/// The arguments of `bench two-level`.
#[derive(Args, Debug)]
pub struct TwoLevelArguments {
    /// Confine all jobs to so many of the processors that this process may use [default: all]
    #[arg(long, value_name = "N", value_parser = options::workers(), allow_negative_numbers = true)]
    pub processors: Option<usize>,
    /// Repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = whole::repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Only these experiments [default: all]
    #[arg(long, value_name = "EXPERIMENT,..", value_enum, value_delimiter = ',')]
    pub only: Vec<Experiment>,
    /// Milliseconds for tests, or seconds
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

/// An experiment of `bench two-level`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// One job.
    Alone,
    /// Two to four equal jobs, started together.
    Equal,
    /// The same, the last one started half-way in.
    Late,
    /// Two jobs, one serial while the other is parallel.
    Complementary,
    /// A job of short serial and parallel phases beside one that is parallel throughout.
    Bursts,
    /// Four jobs of short serial and parallel phases.
    Bursts4,
    /// Four jobs that are parallel throughout.
    Parallel4,
    /// A job beside a busy process that takes no part.
    Neighbour,
}

/// The arguments of `bench share`.
#[derive(Args, Debug)]
pub struct ShareArguments {
    /// Repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = whole::repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

/// The arguments of `bench queues`.
#[derive(Args, Debug)]
pub struct QueuesArguments {
    /// Repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 11, value_parser = whole::repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

/// The arguments of a bench that runs programs of a size.
#[derive(Args, Debug)]
pub struct ProgramsArguments {
    /// Repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 7, value_parser = whole::repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Milliseconds for tests, seconds, or as in the programs' sources; also test, A, B
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

const AFTER_PLACES: &str = "\
Localities: in best a task runs where those before it touched its data, in worst always elsewhere, in random \
anywhere; ignorant has no hints. Each worker is a place of its own, bound to a processor or not. Programs that \
know of no places are measured with one place of all workers and with such places.

JSON: a list of rows: program, locality (null for programs without), places, bound, workers, median_of \
(repetitions), seconds, ratio (of the seconds, to those of the same program without hints, or with one place), \
steals (of a run), cache_references and last_level_misses (of all threads in a run, as the kernel counts what it \
calls cache-references and cache-misses; null where it does not).

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

/// The arguments of `bench calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArguments {
    /// Rounds; the costs are medians
    #[arg(long, value_name = "R", default_value_t = 15, value_parser = whole::repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Hundredths of a second for tests, or tenths, in each round
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

const AFTER_CALIBRATE: &str = "\
Threads that are measured cpu_slot on the processors nearest to each other, and for what distance adds on two of those \
furthest apart. Measure on a quiet machine: what disturbs one thread lengthens every cost.

JSON: a list of rows, which `sim --costs FILE` reads: name (of the row of `tidegate tunables`), nanos (the median, a whole \
number; null where this machine cannot say), least_nanos, greatest_nanos, median_of (rounds), default_nanos, how.

Exit codes: 0 done, 2 bad usage or value, 3 could not do what was asked.";

const AFTER_SPACE: &str = "\
Each run is a process of its own: on rayon, which takes no notice of what is declared, and on Tidegate under each \
policy, with 1, 2, 4 and 8 workers. glibc's allocator is told to keep what is freed, for all threads. A policy's k and \
alpha are what the serial run declares at most (s1), beta a quarter, and a budget is 1.1 times that. The span is measured in the order of the serial run, in seconds and in actions \
(forks, ends of joins and scopes, leases, and one more for each k of a lease).

JSON: a list of rows: program, policy (or rayon), workers, median_of (repetitions), peak_declared_bytes (the median, \
as are the other figures), largest_declared_bytes, peak_rss_bytes (of the process), undeclared_peak_bytes (allocated \
beyond what was declared; null on rayon), seconds, steals and sleeps (for memory; null on rayon), s1_bytes, \
bound_bytes (s1 times workers for work stealing, s1 and k times workers times actions for depth-first and dfdeques, \
the budget; null where none is known), budget_bytes, k_bytes, tinf_seconds, tinf_actions, peak_ratio and time_ratio \
(to work stealing, the policy none, at the same number of workers), verified (every answer is the serial one, and no \
run of a policy with a bound exceeded it).

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

const AFTER_INTERVALS: &str = "\
Empty tasks are created in batches of 100, each batch inside of an inline interval, in a scope, or as a graph of \
dagrs: without edges, each after the first few of its batch, or each after the one before. Programs run on one \
worker and on two; pieces of a program go another way through memory than the serial version does, so compare two \
workers with one, too.

JSON: a list of rows: case (a pattern of empty tasks, or a program), runtime, workers, edges (of an empty task, in \
the mean), ns_per_interval (of an empty task with its edges), ns_per_edge (by how much each edge makes it longer), \
seconds, serial_seconds and ratio_to_serial (of a program). What does not belong to a case is null.

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

const AFTER_QUEUES: &str = "\
JSON: a list of rows: queue, put_take_ns (an owner alone), steal_ns and steal_contended_ns (a thief's time for a task \
out of a full queue, alone and beside as many as there are processors; null if it gets none, as \
from a split deque where the system has no membarrier), take_attempts, take_failures, \
steal_attempts and steal_failures (while an owner unfolds trees and is robbed). Further rows are of a program of \
intervals on a pool with that queue: program, workers, seconds, ratio_to_default (of the seconds, to those on the \
default queue); what belongs to the other kind of row is null.

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

const AFTER_TWO_LEVEL: &str = "\
Schemes: tidegate (jobs share the machine), off (Tidegate with sharing off: oversubscription), static (off, \
with an equal part of the processors for each job), rayon, serial.

JSON: a list of rows: experiment, program, scheme, jobs, processors, median_of (repetitions), mean_response \
and worst_response (seconds from a job's start to its end), makespan (from the first start to the last end), \
ideal_makespan (the larger of all CPU time divided by the processors and the longest job alone), throughput \
(jobs per second of the makespan), power (throughput / mean_response), cpu_seconds, context_switches, \
slowdown_ratio (the largest over the smallest of the jobs' responses, each divided by its response alone).

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

const AFTER_SHARE: &str = "\
JSON: handover_us (from one job's last word to the first task on the processor it leaves), futex_us (a bare \
wake-up of a thread in another process, measured beside it), release_us (from another job's first word to the \
end of the last task on the processor that it is given, less one task), recover_ms (from kill -9 of a job to \
the first task on its processor), all_procs_ms (loopy with 64 subtasks: from its start until every worker has \
had work); each a median, with _p99 beside it.

Exit codes: 0 done, 2 bad usage or value, 3 could not do what was asked.";

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
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

const AFTER_SIM: &str = "\
JSON of a program: workload, parameters, processors, topology and costs (the files or null), cache_bytes (of a place), sim_seed, options (desire null: all processors; allot, which shares them out among jobs that desire), in \
seconds of simulated time t1 (the work of all tasks), tinf (the longest chain of tasks that wait for each \
other), t (the run), all_procs_seconds (until every processor has had work; null if one never had), \
asleep_seconds (of all workers, for lack of work); p_mean (processors allotted in the mean), tasks, attempts \
(to steal), steals, partly_failed, purely_failed, peak_bytes (declared at most), touched_bytes (by tasks that \
say so) and of these missed_bytes (not in their place's cache), sleeps and refusals (of requests for memory), \
bounds (by name the value, the limit, whether it holds, of what theory promises of this run, and in tells \
whether any run could break it), waste (seconds of searching, beside what a good scheduler may waste), events (moments that the \
simulator went through).

With --seeds a list runs with a row for each seed in place of sim_seed and the figures, without it and with several \
--instances a list jobs: sim_seed or job, arrived (of a job), t (of a run from the first arrival to the last end), of a \
run mean_response and worst_response (of its jobs, seconds from arrival to end), and the figures above, of all jobs together; \
p_mean is the mean and peak_bytes the largest of the jobs, bounds_broken counts bounds that do not hold. Beside it \
instances, arrivals (null: all at once), t1 and tinf (of one job), and summary: by figure median, min and max of more than one row. \
CSV: the same rows, and those of the summary with its names in the first column.

JSON of `sim jobs`: events, a list of event (as in the file) and allotments (processors by job, after it).

The costs of forks, steals and wake-ups are the rows of `tidegate tunables` that begin with sim., or what a program's --costs FILE says.

Exit codes: 0 done, 2 bad usage or value, 3 could not do what was asked.";

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
