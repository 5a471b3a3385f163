//! The arguments of `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tidegate_cli_support::arguments::{Format, Size, TableFormat, repetitions};

use super::KeepFlags;

/// The arguments of `bench`.
#[derive(Args, Debug)]
pub struct BenchArguments {
    /// The bench.
    #[command(subcommand)]
    pub bench: Bench,
}

/// The benches.
#[derive(Subcommand, Debug)]
pub enum Bench {
    /// Measure how fast processors pass from one job to another
    #[command(after_help = AFTER_HANDOVER)]
    Handover(HandoverArguments),
    /// Measure what each task queue costs its owner and its thieves
    #[command(after_help = AFTER_QUEUES)]
    Queues(QueuesArguments),
    /// Measure what locality hints gain, and what places cost programs without hints
    #[command(after_help = AFTER_PLACES)]
    Places(ProgramsArguments),
    /// Measure the cost of an interval and of an edge, and the times of programs made of intervals
    #[command(after_help = AFTER_INTERVALS)]
    Intervals(ProgramsArguments),
    /// Measure the peak memory and the times of programs under each memory policy
    #[command(after_help = AFTER_SPACE)]
    Memory(ProgramsArguments),
    /// Compare the throughput of ordered streams with that of the crate pariter
    #[command(after_help = AFTER_STREAMS)]
    Streams(StreamsArguments),
    /// Compare the results, times and memory of rayon programs on rayon's own runtime and on
    /// Tidegate
    #[command(after_help = AFTER_RAYON_PROGRAMS)]
    RayonPrograms(RayonProgramsArguments),
    /// Measure what forks, steals, wake-ups and so on cost on this machine, for the simulator
    #[command(after_help = AFTER_CALIBRATE)]
    Calibrate(CalibrateArguments),
    /// Compare programs that do not use Tidegate with and without `tidegate exec`: alone, two at
    /// once, and beside a job of Tidegate
    #[command(after_help = AFTER_EXEC)]
    Exec(ExecArguments),
    /// Run a job of another bench, which controls it through standard input
    #[command(hide = true)]
    Job,
    /// Run the programs that standard input lists, and print what they used
    #[command(hide = true)]
    Measure,
    /// Run `uts` on rayon for `bench exec`
    #[command(hide = true)]
    RayonUts {
        #[arg(long, value_enum)]
        size: Size,
        #[arg(long, value_name = "N")]
        repeat: usize,
    },
}

/// The arguments of `bench handover`.
#[derive(Args, Debug)]
pub struct HandoverArguments {
    /// Number of repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Where finished runs are stored.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the results are printed.
    #[command(flatten)]
    pub format: Format,
}

/// The arguments of `bench queues`.
#[derive(Args, Debug)]
pub struct QueuesArguments {
    /// Number of repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 11, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Where finished runs are stored.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the results are printed.
    #[command(flatten)]
    pub format: TableFormat,
}

/// The arguments of a bench that runs programs at some size.
#[derive(Args, Debug)]
pub struct ProgramsArguments {
    /// Number of repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 7, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Problem size: runs of milliseconds (tiny, for tests), of seconds (small), or as published
    /// (paper); test, A and B are aliases of tiny, small and paper
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// Where finished runs are stored.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the results are printed.
    #[command(flatten)]
    pub format: TableFormat,
}

const AFTER_PLACES: &str = "\
Localities: with `best`, a task runs where its data was last touched; with `worst`, always elsewhere; with `random`, \
anywhere; `ignorant` gives no hints. Each worker is its own place, with or without being bound to a processor. Programs without \
hints are measured both with all workers in one place and with a place for each worker.

JSON: a list of rows: program, locality (null for programs without hints), places, bound, workers, median_of \
(repetitions), seconds, ratio (of the seconds to those of the same program without hints, or with one place), steals \
(per run), cache_references and last_level_misses (of all threads in a run, from the kernel's counters \
cache-references and cache-misses; null if it does not provide them). Each figure is a median, with its 95 % \
interval in NAME_low and NAME_high.

Exit codes: 0 success, 1 wrong answer, 2 invalid usage or value, 3 the request could not be carried out.";

/// The arguments of `bench streams`.
#[derive(Args, Debug)]
pub struct StreamsArguments {
    /// Number of repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 15, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Length of a run: a millisecond (tiny, for tests) or a tenth of a second
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// Where finished runs are stored.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the results are printed.
    #[command(flatten)]
    pub format: TableFormat,
}

const AFTER_STREAMS: &str = "\
An item takes 1 us or 1 ms. Both runtimes have the same number of workers and the same window: first pariter's default \
for that number of threads, then Tidegate's. The consumer is an additional thread outside the pool.

JSON: a list of rows: item_seconds, window (maximum number of items read and not yet returned), runtime (pariter, \
tidegate or serial), workers, seconds_per_item, throughput_ratio (of this runtime to pariter with the same item and \
window; above 1, this runtime is faster). Each figure is a median, with its 95 % interval in NAME_low and NAME_high.

Exit codes: 0 success, 1 results out of order, 2 invalid usage or value, 3 the request could not be carried out.";

/// The arguments of `bench rayon-programs`.
#[derive(Args, Debug)]
pub struct RayonProgramsArguments {
    /// Run only these programs [default: all]
    #[arg(value_name = "PROGRAM")]
    pub programs: Vec<String>,
    /// Number of rounds, each with a sample on every runtime; confidence intervals need 6
    #[arg(long, value_name = "R", default_value_t = 7, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Where finished runs are stored.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the results are printed.
    #[command(flatten)]
    pub format: TableFormat,
}

const AFTER_RAYON_PROGRAMS: &str = "\
Each program is built twice from the same source, with the published rayon-core and with this repository's, and with \
the same versions of all other packages. It runs on the published rayon-core (`stock`), on Tidegate, and on Tidegate sharing the machine \
(share=auto), both alone and as two copies at the same time. The first build takes half an hour and needs the \
registry.

Every program gets RAYON_NUM_THREADS threads, or one per CPU if that is not set. Tidegate's environment variables \
apply.

A ratio is the median of `stock` divided by this runtime's: above 1, this runtime is faster. Its 95 % interval is a \
bootstrap interval with a fixed seed. A row is marked `slow` if the whole interval of its wall time or CPU time lies \
below 0.97, but slow rows don't make the command fail.

JSON: a list of rows: program, package (with its version), copies, runtime, threads, median_of (samples), \
wall_seconds (until the last copy has ended), cpu_seconds (of all copies), peak_rss_bytes (the largest peak of a \
single process), wall_ratio, wall_low, wall_high, cpu_ratio, cpu_low, cpu_high (null for `stock`; the interval ends \
are also null for fewer than 6 samples), slower, equal (whether all copies printed the same as the first run on \
`stock`). The file in --dir contains every sample.

Exit codes: 0 success, 1 different results, 2 invalid usage or value, 3 a program could not be fetched, built or run.";

/// The arguments of `bench exec`.
#[derive(Args, Debug)]
pub struct ExecArguments {
    /// Number of rounds; the figures are medians, and confidence intervals need 6
    #[arg(long, value_name = "R", default_value_t = 15, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Problem size: runs of milliseconds (tiny, for tests), of a second (small), or of several
    /// seconds (paper)
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// The `tidegate` command to measure [default: `tidegate` in the folder of this command]
    #[arg(long, value_name = "PATH")]
    pub tidegate: Option<PathBuf>,
    /// Where finished runs are stored.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the results are printed.
    #[command(flatten)]
    pub format: TableFormat,
}

const AFTER_EXEC: &str = "\
Programs: uts on the published rayon, an OpenMP program with many short parallel regions, `make -j` on a small C \
program, `xz`, and a pool of Python processes. A program whose tools are missing is skipped. Each gets up to as many \
threads as there are processors, and its answer is checked. The programs run with PATH, HOME and TMPDIR as their \
only variables.

Cases:
  alone       one copy under exec; base: one copy without
  two         until both of two copies under exec have ended; base: two copies
              without
  beside uts  `tidegate run uts` while the program runs under exec; base: uts
              alone on half of the processors
  narrowed    like `two` (OpenMP only); base: two copies that wait by spinning,
              each of which is restricted to one processor after 0.3 s
  idle        the greatest desire of `exec -- sleep` after 0.3 s

JSON: a list of rows: program, case, seconds, base_seconds, ratio (of the two), limit (on the ratio, or on the desire), \
mark, desire (null except for `idle`), processors, median_of (rounds), skipped (why the program was skipped, else \
null). The figures are medians, each with its 95 % interval in NAME_low and NAME_high.

Marks: `kept`, `broken` (the whole interval is above the limit), `unclear` (only the median is, or there are fewer \
than 6 rounds), `skipped`. Broken limits don't make the command fail.

Exit codes: 0 success, 1 wrong answer, 2 invalid usage or value, 3 the request could not be carried out.";

/// The arguments of `bench calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArguments {
    /// Number of rounds; the costs are medians
    #[arg(long, value_name = "R", default_value_t = 15, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Length of a round: hundredths of a second (tiny, for tests) or tenths (others)
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// Where finished runs are stored.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the results are printed.
    #[command(flatten)]
    pub format: TableFormat,
}

const AFTER_CALIBRATE: &str = "\
Thread costs are measured on the two processors nearest to each other; the added cost of distance, on the two \
furthest apart. Measure on a quiet machine: whatever disturbs a thread increases every cost.

JSON: a list of rows, which `sim --costs FILE` reads: name (of the row of `tidegate tunables`), nanos (the median as \
an integer; null if this machine cannot measure it), nanos_low, nanos_high, least_nanos, greatest_nanos, median_of \
(rounds), default_nanos, how. NAME_low and NAME_high are the 95 % interval of a figure.

Exit codes: 0 success, 2 invalid usage or value, 3 the request could not be carried out.";

const AFTER_SPACE: &str = "\
Each run is a separate process: on rayon, which ignores reservations, and on Tidegate under each policy, with 1, 2, \
4 and 8 workers. glibc's allocator is set to keep freed memory and to share it among all threads. `s1` is the peak \
that the serial run declares. A policy's `k` is `s1`, the hybrid's `alpha` is `s1`/64 and its `beta` a quarter of \
`alpha`, and the budget is 1.1 times `s1`. The span is measured in the order of the serial run, in seconds and in actions (forks, \
ends of joins and scopes, reservations, and one more for each `k` bytes of a reservation).

JSON: a list of rows: program, policy (or rayon), workers, median_of (repetitions), peak_declared_bytes (the median, \
like the other figures, each with its 95 % interval in NAME_low and NAME_high), largest_declared_bytes, \
peak_rss_bytes (of the process), undeclared_peak_bytes (allocated beyond what was declared; null on rayon), seconds, \
steals and sleeps (for memory; null on rayon), s1_bytes, bound_bytes (s1 times workers for work stealing; s1 plus k \
times workers times actions for `depth-first` and `dfdeques`; the budget; null if no bound is known), budget_bytes, \
k_bytes, tinf_seconds, tinf_actions, peak_ratio and time_ratio (to work stealing, the policy `none`, with the same \
number of workers), verified (every answer equals the serial one, and no run of a policy with a bound exceeded it).

Exit codes: 0 success, 1 wrong answer, 2 invalid usage or value, 3 the request could not be carried out.";

const AFTER_INTERVALS: &str = "\
Only a build with the feature `dagrs` has this bench. Empty tasks are created in batches of 100, each batch in an inline interval, in a scope, or as a graph of dagrs. \
Tasks have no edges, or wait for the first few tasks of their batch, or wait for the previous task. Programs run on \
one worker and on two. The parallel versions access memory in a different order than the serial version, so compare \
two workers with one worker as well.

JSON: a list of rows: case (a pattern of empty tasks, or a program), runtime, workers, edges (mean number per empty \
task), ns_per_interval (for an empty task with its edges), ns_per_edge (the added time for each edge), seconds, \
serial_seconds and ratio_to_serial (for a program). Each figure is a median, with its 95 % interval in NAME_low and \
NAME_high. Fields that do not apply to a case are null.

Exit codes: 0 success, 1 wrong answer, 2 invalid usage or value, 3 the request could not be carried out.";

const AFTER_QUEUES: &str = "\
JSON: an object with two lists of rows, `queues` and `programs`. Rows of `queues`: queue, put_take_ns (an owner alone), \
steal_ns and steal_contended_ns (a thief's time for a task from a full queue, alone and with one thief per \
processor; null if it gets none, as from a split deque on systems without membarrier), take_attempts, take_failures, \
steal_attempts and steal_failures (while an owner unfolds trees and thieves steal from it). Rows of `programs`, which \
are made of intervals and run on a pool with that queue: program, queue, workers, seconds, ratio_to_default (of the \
seconds to those with the default queue). Each figure is a median, with its 95 % interval in NAME_low and NAME_high.

Exit codes: 0 success, 1 wrong answer, 2 invalid usage or value, 3 the request could not be carried out.";

const AFTER_HANDOVER: &str = "\
JSON: medians, each with its 95 % interval in NAME_low and NAME_high, and its 99th percentile in NAME_p99:
  handover_us: from a leaving job's last publication until the first task runs
    on the processor that the job gives up
  futex_us: a bare wake-up of a thread through a futex that processes share,
    for comparison
  release_us: from the newcomer's first request until the old job's last task on
    the handed-over processor ends, minus the length of one task
  recover_ms: from kill -9 of a job until the first task runs on its processor
  all_procs_ms: loopy with 64 subtasks, from its start until every worker has
    had work

Exit codes: 0 success, 2 invalid usage or value, 3 the request could not be carried out.";
