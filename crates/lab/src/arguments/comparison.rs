//! The arguments of `compare`.

use super::KeepFlags;
use clap::{Args, Subcommand};
use tidegate_command::compare::{AFTER_COMPARE, ComparisonFlags};

/// The arguments of `compare`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_COMPARE)]
pub struct CompareArguments {
    /// What is compared.
    #[command(subcommand)]
    pub case: Case,
    /// How it is compared.
    #[command(flatten)]
    pub flags: ComparisonFlags,
    /// Where finished runs are kept.
    #[command(flatten)]
    pub keep: KeepFlags,
}

/// What `compare` measures.
#[derive(Subcommand, Clone, Debug)]
pub enum Case {
    /// Time from a fork to its start on a parked worker, beside a bare futex
    Wake,
    /// CPU time of an idle pool, and of serial phases between parallel bursts
    Idle,
    /// By how much two arms of a join overlap that never fork
    JoinArms,
    /// How long work waits behind an owner that polls nothing
    Hidden,
    /// A short loop, many times, inside and outside the pool
    Loop,
    /// Chains of rayon's iterators on its own runtime and on tidegate
    #[command(after_help = AFTER_ITER)]
    Iter {
        /// Only these chains [default: all]
        #[arg(long = "chain", value_name = "CHAIN,..", value_delimiter = ',')]
        chains: Vec<String>,
    },
}

impl Case {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Wake => "wake",
            Self::Idle => "idle",
            Self::JoinArms => "join-arms",
            Self::Hidden => "hidden",
            Self::Loop => "loop",
            Self::Iter { .. } => "iter",
        }
    }
}

/// What the help of `compare iter` says of its output.
const AFTER_ITER: &str = "\
Two programs are built, one on the published rayon-core and one on this repository's, and sampled in turns with two \
workers unless --workers is given. Chains run on 10^3 to 10^6 items, with --size paper on 10^7 too (all but \
sort_strings).

A ratio is stock's median by tidegate's: above 1 tidegate is faster. Its 95 % interval comes from redrawn samples \
(bootstrap with a constant seed). A row is marked slow if the whole interval lies below 0.97; that is no failure.

JSON: an object of rows (of all samples, as in the other comparisons: `compare --help`), cells (chain, items, \
place: inside, outside or install, workers, stock_ns, tidegate_ns, ratio, ratio_low, ratio_high (null for fewer \
than 6 samples), slower) and facts (what, value).
";
