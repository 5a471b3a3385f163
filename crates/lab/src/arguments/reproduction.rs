//! The arguments of `reproduce` and of `report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use tidegate_cli_support::arguments::TableFormat;

use super::Size;
use crate::engine::KeepFlags;

pub const AFTER_REPRODUCE: &str = "\
JSON, a page; with `all`, a list of pages:
  experiment, title
  source: the publication
  expected: true if nothing was published, so that our figures are compared
    with our expectations
  made: a list of name and value that describes the setup
  findings: a list of
    id
    what: the claim
    source: section or figure
    published: the published or expected figure
    range: which figures count as agreeing or contradicting
    ours: our figure with its 95 % confidence interval
    verdict, why
  sections: a list of
    title, text
    charts: a list of title, x, y, labels (of the positions 0, 1, .. on the x
      axis), log (whether the y axis is logarithmic), and lines: a list of name
      and points, with x, y and the confidence interval from low to high
    tables: a list of title, columns, rows

Verdicts:
  agrees, contradicts
  stronger, weaker: same direction, larger or smaller effect
  undecided: the interval contains both figures that contradict the claim and
    figures that do not
  too-small: the programs are too small for a verdict
  cannot-tell: this machine cannot show the effect
  not-measured: left out by --only

Each finished run is appended immediately to a file in --dir. With --resume, an interrupted command continues from \
that file; without it, the file is renamed to end in .before.

`tidegate-lab report` renders such output as a page:
  tidegate-lab reproduce adaptive --json > adaptive.json
  tidegate-lab report adaptive.json --out report.html

Exit codes: 0 success, 1 wrong answer, 2 invalid usage or value, 3 the request could not be carried out.";

#[derive(Args, Debug)]
pub struct ReproduceArguments {
    #[command(flatten)]
    pub selection: Selection,
    /// Run only on simulated machines
    #[arg(long, conflicts_with = "real")]
    pub sim: bool,
    /// Run only on this machine
    #[arg(long)]
    pub real: bool,
    #[command(flatten)]
    pub keep: KeepFlags,
    #[command(flatten)]
    pub format: TableFormat,
}

/// What is reproduced: an experiment, or a part of it.
#[derive(Args, Serialize, Deserialize, Debug)]
pub struct Selection {
    /// The experiment to reproduce
    #[arg(value_enum)]
    pub experiment: Experiments,
    /// Problem size: very short runs for tests (tiny), short runs (small), or as published (paper)
    #[arg(long, value_enum, default_value_t)]
    pub size: Size,
    /// Maximum number of runs of each program, each with a different seed; the page shows the
    /// actual number
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = tidegate_cli_support::arguments::whole(1_u64, 10_000), allow_negative_numbers = true)]
    pub runs: u64,
    /// Run only measurements whose name has one of these parts, such as a machine, a program, a
    /// rule or a load
    #[arg(long, value_name = "PART,..", value_delimiter = ',')]
    pub only: Vec<String>,
}

#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Experiments {
    /// All of the experiments below
    All,
    /// What idle thieves do: backoffs and quanta (Haselsteiner 2015)
    Adaptive,
    /// Jobs that share the processors: overhead and performance of Cilk-AP (Sen 2004)
    TwoLevel,
    /// How many tasks a thief takes: one, several or half (Adnan and Sato 2012)
    MultiSteal,
    /// Peak memory of tasks: work stealing, Narlikar's scheduler and the hybrid (slides)
    Memory,
    /// Where intervals run, and from which queues (Weibel 2010)
    Intervals,
    /// How far the runtime's defaults scale, compared with the alternatives; simulation only, up to
    /// 4,096 processors (ours)
    Scaling,
}

impl Experiments {
    /// Returns the experiment, or each of them.
    pub fn each(self) -> Vec<Self> {
        match self {
            Self::All => Self::value_variants()[1..].into(),
            one => vec![one],
        }
    }

    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

pub const AFTER_REPORT: &str = "\
Exit codes: 0 success, 2 invalid usage or a file that is not output of `reproduce --json`, 3 a file cannot be read or written.";

#[derive(Args, Debug)]
pub struct ReportArguments {
    /// Output files of `reproduce --json`, in the order in which the page shows them; - for
    /// standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Where to write the page, which is self-contained; - for standard output
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,
    /// Write only the chart with this title, as an SVG picture
    #[arg(long, value_name = "TITLE")]
    pub chart: Option<String>,
}
