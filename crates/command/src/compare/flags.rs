//! The options that every comparison takes.

use clap::{Args, ValueEnum};

use crate::arguments::{Size, TableFormat, repetitions};
use crate::options::{self, SharingFlags};

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

/// The options of a comparison.
#[derive(Args, Debug)]
pub struct ComparisonFlags {
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
    #[arg(long, value_name = "R", global = true, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: Option<u32>,
    /// For parameters that are left out: milliseconds, seconds, or as in the program's source; also test, A, B
    #[arg(long, value_enum, default_value_t, global = true)]
    pub size: Size,
    /// How Tidegate's pools share the machine.
    #[command(flatten)]
    pub sharing: SharingFlags,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: TableFormat,
}

/// What `--help` says of a comparison's JSON and exit codes.
pub const AFTER_COMPARE: &str = "\
JSON: a list of rows: case, runtime, version, workers, median_ns, median_low_ns and median_high_ns (its 95 % interval), p99_ns, min_ns, max_ns (null where the \
runtime cannot do it), repetitions, over_serial_ns, ratio_to_serial and ratio_to_rayon (of the medians; \
rayon's with as many workers), cpu_seconds and wakeups (of the whole process during all repetitions).

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";
