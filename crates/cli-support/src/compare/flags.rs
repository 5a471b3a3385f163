//! The options of all comparisons.

use clap::{Args, ValueEnum};

use super::row::Row;
use crate::arguments::{Size, TableFormat, repetitions};
use crate::failure::EXIT_CODES;
use crate::options::{self, SharingFlags};
use crate::output::describe;

/// A runtime to compare Tidegate with.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// The program's serial version.
    Serial,
    /// Two independent copies of the serial version at the same time: an upper bound for two
    /// workers.
    #[value(name = "2xserial")]
    TwiceSerial,
    /// rayon.
    Rayon,
    /// chili.
    Chili,
    /// One scoped thread per worker, with a static split of the first forks.
    Std,
}

/// The options of a comparison.
#[derive(Args, Debug)]
pub struct ComparisonFlags {
    /// Runtimes to compare with [default: all that support the program]
    #[arg(
        long,
        value_name = "RIVAL,..",
        value_enum,
        value_delimiter = ',',
        global = true
    )]
    pub with: Vec<Rival>,
    /// Numbers of workers [default: 1 and as many as a pool gets; 2 for cases that need two]
    #[arg(long, value_name = "N,..", value_delimiter = ',', global = true, value_parser = options::workers(), allow_negative_numbers = true)]
    pub workers: Vec<usize>,
    /// Repetitions of each row [default: enough for a stable median, depending on the case]
    #[arg(long, value_name = "R", global = true, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: Option<u32>,
    /// Problem size, which sets the parameters' defaults: runs of milliseconds (tiny), of seconds
    /// (small), or as published (paper); test, A and B are aliases of tiny, small and paper
    #[arg(long, value_enum, default_value_t, global = true)]
    pub size: Size,
    /// Sharing options of Tidegate's pools.
    #[command(flatten)]
    pub sharing: SharingFlags,
    /// The output format.
    #[command(flatten)]
    pub format: TableFormat,
}

/// Returns the help text on a comparison's JSON and exit codes.
pub fn after_compare() -> String {
    format!("{ABOUT}{}\n{EXIT_CODES}", describe(Row::FIELDS))
}

const ABOUT: &str = "\
Times are per run, from interleaved repetitions. The columns `x serial` and `x rayon` are ratios of medians: 2.00x \
means twice as long. `vs serial` is the difference from the serial version. `low` and `high` are the 95 % confidence \
interval of the median.

JSON: a list of rows:
";
