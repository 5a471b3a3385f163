//! The experiment engine: runs cells repeatedly, keeps the runs on disk, summarizes them and judges
//! them.
//!
//! An experiment is a list of [`Cell`]s, each of which does one run from a seed. A [`Session`] does
//! simulated runs in parallel and interleaves real ones. It appends each run to a [store] as soon
//! as the run ends, so an interrupted session loses only the run in progress, and `--resume` does
//! only the missing runs. The runs of a cell form a [`Sample`]. An [`Interval`] is computed from
//! samples, and a [`Claim`] of the source judges it.

mod build;
mod claim;
pub mod ratios;
mod session;
pub mod sheet;
mod speedup;
mod store;

pub use claim::{Claim, Refuted, Verdict};
pub use session::{Cell, Plan, Session};
pub use speedup::{SLOWER, Speedup};
pub use tidegate_command::statistics::{Interval, Sample};
