//! The arguments of `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tidegate_cli_support::arguments::{Format, Size, TableFormat, repetitions};
use tidegate_cli_support::failure::EXIT_CODES;
use tidegate_cli_support::output::sheet::{Column, describe_columns};
use tidegate_cli_support::output::{describe, describe_all};

use crate::bench;
use crate::engine::KeepFlags;

#[derive(Args, Debug)]
pub struct BenchArguments {
    #[command(subcommand)]
    pub bench: Bench,
}

#[derive(Subcommand, Debug)]
pub enum Bench {
    /// Measure how fast processors pass from one job to another
    #[command(after_help = after_handover())]
    Handover(HandoverArguments),
    /// Measure what each task queue costs its owner and its thieves
    #[command(after_help = after_queues())]
    Queues(QueuesArguments),
    /// Measure what locality hints gain, and what places cost programs without hints
    #[command(after_help = rows(ABOUT_PLACES, bench::places::COLUMNS, EXIT_CODES))]
    Places(ProgramsArguments),
    /// Measure the cost of an interval and of an edge, and the times of programs made of intervals
    #[command(after_help = rows(ABOUT_INTERVALS, bench::intervals::COLUMNS, EXIT_CODES))]
    Intervals(ProgramsArguments),
    /// Measure the peak memory and the times of programs under each memory policy
    #[command(after_help = rows(ABOUT_MEMORY, bench::memory::rows::COLUMNS, EXIT_CODES))]
    Memory(ProgramsArguments),
    /// Compare the throughput of ordered streams with that of the crate pariter
    #[command(
        after_help = rows(ABOUT_STREAMS, bench::streams::COLUMNS, CODES_STREAMS),
        mut_arg("repeat", |arg| arg.default_value("15")),
        mut_arg("size", |arg| {
            arg.help("Length of a run: a millisecond (tiny, for tests) or a tenth of a second")
        })
    )]
    Streams(ProgramsArguments),
    /// Compare the results, times and memory of rayon programs on rayon's own runtime and on
    /// Tidegate
    #[command(after_help = after_rayon_programs())]
    RayonPrograms(RayonProgramsArguments),
    /// Measure what forks, steals, wake-ups and so on cost on this machine, for the simulator
    #[command(
        after_help = after_calibrate(),
        mut_arg("repeat", |arg| {
            arg.help("Number of rounds; the costs are medians").default_value("15")
        }),
        mut_arg("size", |arg| {
            arg.help("Length of a round: hundredths of a second (tiny, for tests) or tenths (others)")
        })
    )]
    Calibrate(ProgramsArguments),
    /// Compare programs that do not use Tidegate with and without `tidegate exec`: alone, two at
    /// once, and beside a job of Tidegate
    #[cfg_attr(
        target_os = "linux",
        command(after_help = rows(ABOUT_EXEC, bench::exec::COLUMNS, EXIT_CODES))
    )]
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

#[derive(Args, Debug)]
pub struct HandoverArguments {
    /// Number of repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    #[command(flatten)]
    pub keep: KeepFlags,
    #[command(flatten)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct QueuesArguments {
    /// Number of repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 11, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    #[command(flatten)]
    pub keep: KeepFlags,
    #[command(flatten)]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct ProgramsArguments {
    /// Number of repetitions; the figures are medians
    #[arg(long, value_name = "R", default_value_t = 7, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    /// Problem size: runs of milliseconds (tiny, for tests), of seconds (small), or as published
    /// (paper); test, A and B are aliases of tiny, small and paper
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    #[command(flatten)]
    pub keep: KeepFlags,
    #[command(flatten)]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct RayonProgramsArguments {
    /// Run only these programs [default: all]
    #[arg(value_name = "PROGRAM")]
    pub programs: Vec<String>,
    /// Number of rounds, each with a sample on every runtime; confidence intervals need 6
    #[arg(long, value_name = "R", default_value_t = 7, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: u32,
    #[command(flatten)]
    pub keep: KeepFlags,
    #[command(flatten)]
    pub format: TableFormat,
}

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
    #[command(flatten)]
    pub keep: KeepFlags,
    #[command(flatten)]
    pub format: TableFormat,
}

/// Returns the help on a bench that prints rows with these columns.
fn rows(about: &str, columns: &[Column], codes: &str) -> String {
    let columns = describe_columns(columns);
    format!("{about}\n\nJSON: a list of rows. {MEASURED}:\n{columns}\n{codes}")
}

fn after_queues() -> String {
    let [queues, programs] = [bench::queues::BARE, bench::queues::IN_POOLS].map(describe_columns);
    format!(
        "JSON: an object with two lists of rows, `queues` and `programs`. {MEASURED}. Rows of \
         `queues`:\n{queues}\nRows of `programs`:\n{programs}\n{EXIT_CODES}"
    )
}

fn after_handover() -> String {
    let figures = bench::handover::FIGURES;
    let figures = describe_all(figures.iter().map(|(name, _, meaning)| (*name, *meaning)));
    format!(
        "JSON: medians, each with its 95 % interval in NAME_low and NAME_high, and its 99th \
         percentile in NAME_p99:\n{figures}\n{CODES_ALWAYS_RIGHT}"
    )
}

fn after_calibrate() -> String {
    let fields = describe(bench::calibrate::Cost::FIELDS);
    format!("{ABOUT_CALIBRATE}\n{fields}\n{CODES_ALWAYS_RIGHT}")
}

fn after_rayon_programs() -> String {
    let fields = describe(bench::rayon_programs::Row::FIELDS);
    format!("{ABOUT_RAYON_PROGRAMS}\n{fields}\n{CODES_RAYON_PROGRAMS}")
}

const MEASURED: &str =
    "A measured figure is a median, with its 95 % interval in NAME_low and NAME_high";

const CODES_ALWAYS_RIGHT: &str =
    "Exit codes: 0 success, 2 invalid usage or value, 3 the request could not be carried out.";

const CODES_STREAMS: &str = "\
Exit codes: 0 success, 1 results out of order, 2 invalid usage or value, 3 the request could not be carried out.";

const CODES_RAYON_PROGRAMS: &str = "\
Exit codes: 0 success, 1 different results, 2 invalid usage or value, 3 a program could not be fetched, built or run.";

const ABOUT_PLACES: &str = "\
Localities: with `best`, a task runs where its data was last touched; with `worst`, always elsewhere; with `random`, \
anywhere; `ignorant` gives no hints. Each worker is its own place, with or without being bound to a processor. Programs without \
hints are measured both with all workers in one place and with a place for each worker.";

const ABOUT_STREAMS: &str = "\
An item takes 1 us or 1 ms. Both runtimes have the same number of workers and the same window: first pariter's default \
for that number of threads, then Tidegate's. The consumer is an additional thread outside the pool.";

const ABOUT_RAYON_PROGRAMS: &str = "\
Each program is built twice from the same source, with the published rayon-core and with this repository's, and with \
the same versions of all other packages. It runs on the published rayon-core (`stock`), on Tidegate, and on Tidegate sharing the machine \
(share=auto), both alone and as two copies at the same time. The first build takes half an hour and needs the \
registry.

Every program gets RAYON_NUM_THREADS threads, or one per CPU if that is not set. Tidegate's environment variables \
apply.

A ratio is the median of `stock` divided by this runtime's: above 1, this runtime is faster. Its 95 % interval is a \
bootstrap interval with a fixed seed. A row is marked `slow` if the whole interval of its wall time or CPU time lies \
below 0.97, but slow rows don't make the command fail.

The file in --dir contains every sample.

JSON: a list of rows:";

#[cfg(target_os = "linux")]
const ABOUT_EXEC: &str = "\
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

Marks: `kept`, `broken` (the whole interval is above the limit), `unclear` (only the median is, or there are fewer \
than 6 rounds), `skipped`. Broken limits don't make the command fail.";

const ABOUT_CALIBRATE: &str = "\
Thread costs are measured on the two processors nearest to each other; the added cost of distance, on the two \
furthest apart. Measure on a quiet machine: whatever disturbs a thread increases every cost.

JSON: a list of rows, which `sim --costs FILE` reads:";

const ABOUT_MEMORY: &str = "\
Each run is a separate process: on rayon, which ignores reservations, and on Tidegate under each policy, with 1, 2, \
4 and 8 workers. glibc's allocator is set to keep freed memory and to share it among all threads. `s1` is the peak \
that the serial run declares. A policy's `k` is `s1`, the hybrid's `alpha` is `s1`/64 and its `beta` a quarter of \
`alpha`, and the budget is 1.1 times `s1`. The span is measured in the order of the serial run, in seconds and in actions (forks, \
ends of joins and scopes, reservations, and one more for each `k` bytes of a reservation).";

const ABOUT_INTERVALS: &str = "\
Only a build with the feature `dagrs` has this bench. Empty tasks are created in batches of 100, each batch in an inline interval, in a scope, or as a graph of dagrs. \
Tasks have no edges, or wait for the first few tasks of their batch, or wait for the previous task. Programs run on \
one worker and on two. The parallel versions access memory in a different order than the serial version, so compare \
two workers with one worker as well.";
