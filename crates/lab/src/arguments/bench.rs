//! The arguments of `bench`.

use clap::{Args, Subcommand, ValueEnum};
use tidegate_command::arguments::{Format, Size, TableFormat, repetitions};
use tidegate_command::options;

use super::KeepFlags;

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
    Memory(ProgramsArguments),
    /// Programs that use rayon, on its own runtime and on tidegate: results, time, memory
    #[command(after_help = AFTER_RAYON_PROGRAMS)]
    RayonPrograms(RayonProgramsArguments),
    /// What forks, steals, wake-ups and the like cost here, for the simulator
    #[command(after_help = AFTER_CALIBRATE)]
    Calibrate(CalibrateArguments),
    /// A job of another bench, which tells it by its standard input what to do
    #[command(hide = true)]
    Job,
    /// Runs the programs that standard input names, and prints what they used
    #[command(hide = true)]
    Measure,
}

/// The arguments of `bench two-level`.
#[derive(Args, Debug)]
pub struct TwoLevelArguments {
    /// Confine all jobs to so many of the processors that this process may use [default: all]
    #[arg(long, value_name = "N", value_parser = options::workers(), allow_negative_numbers = true)]
    pub processors: Option<usize>,
    /// Repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Only these experiments [default: all]
    #[arg(long, value_name = "EXPERIMENT,..", value_enum, value_delimiter = ',')]
    pub only: Vec<Experiment>,
    /// Milliseconds for tests, or seconds
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: TableFormat,
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
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Where finished runs are kept.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}

/// The arguments of `bench queues`.
#[derive(Args, Debug)]
pub struct QueuesArguments {
    /// Repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 11, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Where finished runs are kept.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: TableFormat,
}

/// The arguments of a bench that runs programs of a size.
#[derive(Args, Debug)]
pub struct ProgramsArguments {
    /// Repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 7, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Milliseconds for tests, seconds, or as in the programs' sources; also test, A, B
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// Where finished runs are kept.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: TableFormat,
}

const AFTER_PLACES: &str = "\
Localities: in best a task runs where those before it touched its data, in worst always elsewhere, in random \
anywhere; ignorant has no hints. Each worker is a place of its own, bound to a processor or not. Programs that \
know of no places are measured with one place of all workers and with such places.

JSON: a list of rows: program, locality (null for programs without), places, bound, workers, median_of \
(repetitions), seconds, ratio (of the seconds, to those of the same program without hints, or with one place), \
steals (of a run), cache_references and last_level_misses (of all threads in a run, as the kernel counts what it \
calls cache-references and cache-misses; null where it does not). Each figure is a median and has its 95 % interval \
as NAME_low and NAME_high.

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

/// The arguments of `bench rayon-programs`.
#[derive(Args, Debug)]
pub struct RayonProgramsArguments {
    /// Only these programs [default: all]
    #[arg(value_name = "PROGRAM")]
    pub programs: Vec<String>,
    /// Rounds, in each of which every runtime takes a sample; intervals need 6
    #[arg(long, value_name = "R", default_value_t = 7, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Where finished runs are kept.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: TableFormat,
}

const AFTER_RAYON_PROGRAMS: &str = "\
Each program is built twice from one source, with the published rayon-core and with this repository's, and with equal \
versions of all other packages. It runs on stock, on tidegate and on tidegate sharing the machine (share=auto), alone \
and as two copies at once. The first build takes half an hour and needs the registry.

Every program gets RAYON_NUM_THREADS threads, one for each CPU if that is not set. Variables of tidegate apply.

A ratio is stock's median divided by this runtime's: above 1 is faster than stock. Its 95 % interval comes from \
redrawn samples (bootstrap with a constant seed). A row is marked slow if the whole interval of the wall time or of the \
CPU time lies below 0.97; that is no failure.

JSON: a list of rows: program, package (with its version), copies, runtime, threads, median_of (samples), wall_seconds \
(until the last copy has ended), cpu_seconds (of all copies), peak_rss_bytes (the largest peak of a process), \
wall_ratio, wall_low, wall_high, cpu_ratio, cpu_low, cpu_high (null for stock; the ends of the intervals also for fewer \
than 6 samples), slower, equal (whether all copies printed what the first run on stock did). The file in --dir has \
every sample.

Exit codes: 0 done, 1 different results, 2 bad usage or value, 3 a program could not be fetched, built or run.";

/// The arguments of `bench calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArguments {
    /// Rounds; the costs are medians
    #[arg(long, value_name = "R", default_value_t = 15, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Hundredths of a second for tests, or tenths, in each round
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// Where finished runs are kept.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: TableFormat,
}

const AFTER_CALIBRATE: &str = "\
Threads are measured on the processors nearest to each other, and for what distance adds on two of those furthest \
apart. Measure on a quiet machine: what disturbs one thread lengthens every cost.

JSON: a list of rows, which `sim --costs FILE` reads: name (of the row of `tidegate tunables`), nanos (the median, a whole \
number; null where this machine cannot say), nanos_low, nanos_high, least_nanos, greatest_nanos, median_of (rounds), \
default_nanos, how. _low and _high are the 95 % interval of a figure.

Exit codes: 0 done, 2 bad usage or value, 3 could not do what was asked.";

const AFTER_SPACE: &str = "\
Each run is a process of its own: on rayon, which takes no notice of what is declared, and on Tidegate under each \
policy, with 1, 2, 4 and 8 workers. glibc's allocator is told to keep what is freed, for all threads. A policy's k is what the serial run \
declares at most (s1), the hybrid's alpha a 64th of that and beta a quarter of alpha, and a budget is 1.1 times s1. The span is measured in the order of the serial run, in seconds and in actions \
(forks, ends of joins and scopes, reservations, and one more for each k of a reservation).

JSON: a list of rows: program, policy (or rayon), workers, median_of (repetitions), peak_declared_bytes (the median, \
as are the other figures, each with its 95 % interval as NAME_low and NAME_high), largest_declared_bytes, peak_rss_bytes (of the process), undeclared_peak_bytes (allocated \
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
seconds, serial_seconds and ratio_to_serial (of a program). Each figure is a median and has its 95 % interval as \
NAME_low and NAME_high. What does not belong to a case is null.

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

const AFTER_QUEUES: &str = "\
JSON: an object of two lists of rows. Those of queues: queue, put_take_ns (an owner alone), steal_ns and \
steal_contended_ns (a thief's time for a task out of a full queue, alone and beside as many as there are processors; \
null if it gets none, as from a split deque where the system has no membarrier), take_attempts, take_failures, \
steal_attempts and steal_failures (while an owner unfolds trees and is robbed). Those of programs, of intervals on a \
pool with that queue: program, queue, workers, seconds, ratio_to_default (of the seconds, to those on the default \
queue). Each figure is a median and has its 95 % interval as NAME_low and NAME_high.

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
had work); each a median, with its 95 % interval as NAME_low and NAME_high, and NAME_p99.

Exit codes: 0 done, 2 bad usage or value, 3 could not do what was asked.";
