//! The arguments of `compare`.

use super::iter::Cell;
use crate::engine::KeepFlags;
use clap::{Args, Subcommand};
use tidegate_cli_support::compare::{ComparisonFlags, after_compare};
use tidegate_cli_support::output::describe;

#[derive(Args, Debug)]
#[command(after_help = after_compare())]
pub struct CompareArguments {
    #[command(subcommand)]
    pub mechanism: Mechanism,
    #[command(flatten)]
    pub flags: ComparisonFlags,
    #[command(flatten)]
    pub keep: KeepFlags,
}

#[derive(Subcommand, Clone, Debug)]
pub enum Mechanism {
    /// Time from a fork to its start on a parked worker, compared with a bare futex
    Wake,
    /// CPU time of an idle pool, and of serial phases between parallel bursts
    Idle,
    /// How much the two arms of a join overlap if neither forks
    JoinArms,
    /// How long work waits behind an owner that does not poll
    Hidden,
    /// Time of a short parallel loop, run many times inside and outside the pool
    Loop,
    /// Time of a detached task, spawned inside or outside the pool, and of a task that is joined
    Spawn,
    /// Chains of rayon iterators, on rayon's own runtime and on Tidegate
    #[command(after_help = after_iter())]
    Iter {
        /// Run only these chains [default: all]
        #[arg(long = "chain", value_name = "CHAIN,..", value_delimiter = ',')]
        chains: Vec<String>,
    },
    /// Tidegate's own loops, and the same work with rayon's iterators on rayon's own runtime
    #[command(after_help = after_iter())]
    Native {
        /// Run only these loops [default: all]
        #[arg(long = "loop", value_name = "LOOP,..", value_delimiter = ',')]
        loops: Vec<String>,
    },
}

impl Mechanism {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Wake => "wake",
            Self::Idle => "idle",
            Self::JoinArms => "join-arms",
            Self::Hidden => "hidden",
            Self::Loop => "loop",
            Self::Spawn => "spawn",
            Self::Iter { .. } => "iter",
            Self::Native { .. } => "native",
        }
    }
}

/// Returns the part of the help text that explains the output of `compare iter` and `native`.
fn after_iter() -> String {
    format!("{ABOUT_ITER}{}", describe(Cell::FIELDS))
}

const ABOUT_ITER: &str = "\
Builds two programs, one on the published rayon-core and one on this repository's, and samples them alternately, with \
two workers unless --workers is given. Chains run on 10^3 to 10^6 items; with --size paper, all but `sort_strings` also \
run on 10^7 items. A chain orx_NAME does the work of rayon's chain NAME with the iterators of orx-parallel: in the \
first program on orx-parallel's own pool, in the second on Tidegate through tidegate-orx.

A ratio is the median of the library's own runtime (`stock`) divided by Tidegate's: above 1, Tidegate is faster. Its 95 % interval is a bootstrap \
interval with a fixed seed. A row is marked `slow` if its whole interval lies below 0.97, but slow rows don't make the \
command fail.

JSON: an object with `rows` (of all samples, as in the other comparisons: `compare --help`), `facts` (what, value), \
and `cells`:
";
