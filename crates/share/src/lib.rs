//! The table of jobs through which programs that know nothing of each other divide a machine's processors.
//!
//! A *job* takes a [`Seat`] in a file that all jobs of its user share, publishes how many processors it could use, and reads back how
//! many are its own ([`Seat::shares`]). There is no daemon, nothing to configure and nothing to clean up: the protocol, with the argument why it
//! survives the death of any job at any instruction, is docs/table.md. The division itself is
//! [`tidegate_policy::allot`].
//!
//! Nothing here knows the Tidegate runtime, so that other runtimes may join:
//!
//! ```no_run
//! use std::time::Duration;
//! use tidegate_share::{CpuMask, Location, Name, Report, Seat};
//!
//! let mut seat = Seat::take(&Location::find()?, &Name::new("my runtime"))?;
//! let mut report = Report::new(CpuMask::from_cpus([0, 1, 2, 3]));
//! loop {
//!     report.desire = 3; // measured, every 5 ms or so; 0 while there is nothing to do
//!     report.usage = 2;
//!     seat.publish(&report)?;
//!     let shares = seat.shares()?;
//!     println!("{} of {} processors", shares.allotment, shares.processors);
//!     seat.wait_change(Duration::from_millis(5))?; // sooner if somebody else has changed his mind
//! }
//! # #[allow(unreachable_code)]
//! # Ok::<(), tidegate_share::Refusal>(())
//! ```
//!
//! Every error is a [`Refusal`]: one line that says why this job runs alone. Nothing here ever ends the process, waits for another
//! one, or touches a file that is not this user's.
//!
//! [`Observer`] reads the table without taking part, and never creates it.
//!
//! What this crate does **not** do: it measures nothing, moves no worker and starts no thread. On systems other than Linux there is no
//! table.

#![deny(missing_docs)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "without a file nothing is laid out in it")
)]

#[cfg(target_os = "linux")]
mod file;
#[cfg(not(target_os = "linux"))]
#[path = "no_file.rs"]
mod file;
mod identity;
mod layout;
mod location;
#[cfg(target_os = "linux")]
mod mapping;
mod mask;
mod neighbours;
mod observer;
mod reader;
mod refusal;
mod report;
mod seat;
mod shares;

pub use layout::{Name, ROWS};
pub use location::{Location, VARIABLE};
pub use mask::CpuMask;
pub use neighbours::Neighbours;
pub use observer::{Job, Observer, Soundness};
pub use refusal::{Kind, Refusal};
pub use report::Report;
pub use seat::{Seat, Waker};
pub use shares::Shares;
