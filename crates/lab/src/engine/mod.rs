//! The experiment engine: runs cells repeatedly, stores the runs on disk, summarizes them, and
//! judges the source's claims.
//!
//! An experiment is a list of [`Cell`]s, each of which performs one run from a seed. A [`Session`]
//! performs simulated runs in parallel and interleaves real ones. It appends each run to a [store]
//! as soon as the run ends, so an interrupted session loses only the run in progress, and
//! `--resume` performs only the missing runs. Several processes can each make a [`Shard`] of the
//! runs. The runs of a cell form a [`Sample`]. A figure and its [`Interval`] are computed from
//! samples, and a [`Claim`] of the source judges them.

mod claim;
pub mod ratios;
mod session;
mod shard;
mod speedup;
mod store;

pub use claim::{Claim, Refuted, Verdict};
pub use session::{Cell, Plan, Session, Source};
pub use shard::{Key, Shard, Stretch, count, divide};
pub use speedup::{LEAST, SLOWER, is_slower, speedup};
pub use store::{KeepFlags, Run, Runs};
pub use tidegate_cli_support::output::sheet;
pub use tidegate_cli_support::statistics::{Interval, Sample};
