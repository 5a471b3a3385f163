//! The arguments of `reproduce` and of `report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use tidegate_command::arguments::TableFormat;

use super::{KeepFlags, Size};

pub const AFTER_REPRODUCE: &str = "\
JSON: experiment, title, source (the publication), expected (true if there is none and the figures are ours), \
made (a list of name and value: how the figures were made), findings (a list of id, what: the claim, source: \
section or figure, published, range: what agrees and what contradicts, ours: our figure with its interval of 95 % \
confidence, verdict, why), sections: a list of title, text, charts (title, x, y, labels of the places 0, 1, .. on \
the axis, log, lines: a list of name and points of x, y and low to high, the interval) and tables (title, columns, \
rows). With `all` it is a list of such pages.

Verdicts: agrees, stronger or weaker (the same direction, another order of size), undecided (the interval holds \
figures that contradict the claim and others), contradicts, too-small (programs), cannot-tell (on this machine), \
not-measured (left out by --only).

Each finished run is appended to a file in --dir at once. With --resume an interrupted command goes on from it; \
without, the file is moved to one that ends in .before.

`tidegate-lab report` makes a page of such files:
  tidegate-lab reproduce adaptive --json > adaptive.json
  tidegate-lab report adaptive.json --out report.html

Exit codes: 0 done, 1 wrong answer, 2 bad usage or value, 3 could not do what was asked.";

/// The arguments of `reproduce`.
#[derive(Args, Debug)]
pub struct ReproduceArguments {
    /// Whose experiment
    #[arg(value_enum)]
    pub experiment: Experiments,
    /// Only on simulated machines
    #[arg(long, conflicts_with = "real")]
    pub sim: bool,
    /// Only on this machine
    #[arg(long)]
    pub real: bool,
    /// Programs that end at once, small ones, or those of the source
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// At most so many runs of each program, each with another seed; the page says how many there were
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = tidegate_command::arguments::whole(1_u64, 10_000), allow_negative_numbers = true)]
    pub runs: u64,
    /// Only cells with this part in their name, such as a machine, a program, a rule or a load; any of several
    #[arg(long, value_name = "PART,..", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Where finished runs are kept.
    #[command(flatten)]
    pub keep: KeepFlags,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: TableFormat,
}

/// Published experiments, and one of ours.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiments {
    /// Each of the following
    All,
    /// How thieves rest: backoffs and quanta (Haselsteiner 2015)
    Adaptive,
    /// Jobs that share the processors: overhead and performance of Cilk-AP (Sen 2004)
    TwoLevel,
    /// How much a thief takes: one task, several or half (Adnan and Sato 2012)
    MultiSteal,
    /// How much memory tasks need at a time: work stealing, Narlikar's scheduler and the hybrid (slides)
    Memory,
    /// Where intervals run, and from which queues (Weibel 2010)
    Intervals,
    /// How far the defaults of the runtime scale, beside other rules; only simulated, up to 4,096 processors (ours)
    Scaling,
}

impl Experiments {
    /// Each of them.
    pub const EACH: [Self; 6] = [
        Self::Adaptive,
        Self::TwoLevel,
        Self::MultiSteal,
        Self::Memory,
        Self::Intervals,
        Self::Scaling,
    ];

    /// Its name on the command line.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

pub const AFTER_REPORT: &str = "\
Exit codes: 0 done, 2 bad usage, or a file is none that `reproduce --json` has written, 3 a file cannot be read or \
written.";

/// The arguments of `report`.
#[derive(Args, Debug)]
pub struct ReportArguments {
    /// What `reproduce --json` has written, in the order of the page; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Where to write the page, which needs no other file and no network; - for standard output
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,
}
