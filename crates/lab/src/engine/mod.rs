//! The experiment engine: runs cells repeatedly, stores the runs on disk, summarizes them, and
//! judges the source's claims.
//!
//! An experiment is a list of [`Cell`]s, each of which performs one run from a seed. A [`Session`]
//! performs simulated runs in parallel and interleaves real ones. It appends each run to a [store]
//! as soon as the run ends, so an interrupted session loses only the run in progress, and
//! `--resume` performs only the missing runs. The runs of a cell form a [`Sample`]. A figure and
//! its [`Interval`] are computed from samples, and a [`Claim`] of the source judges them.

mod build;
mod claim;
pub mod ratios;
mod session;
pub mod sheet;
mod speedup;
mod store;

pub use claim::{Claim, Refuted, Verdict};
pub use session::{Cell, Plan, Session};
pub use speedup::{LEAST, SLOWER, Speedup};
pub use tidegate_command::statistics::{Interval, Sample};
