//! The experiment engine: cells that are run again and again, kept on disk, summarized and judged.
//!
//! An experiment is a list of [`Cell`]s, each of which makes one run from a seed. A [`Session`]
//! makes the runs, simulated ones side by side and real ones in turns, and appends each finished
//! run to a [store] at once, so that an interrupted session loses one run and `--resume` makes
//! the missing ones only. The runs of a cell become a [`Sample`], samples become an [`Interval`],
//! and a [`Claim`] of the source judges the interval.

mod build;
mod busy;
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
