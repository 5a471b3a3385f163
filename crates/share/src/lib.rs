//! A table of jobs through which unrelated programs divide a machine's processors.
//!
//! A *job* takes a [`Seat`] in a file that all jobs of its user share. It publishes how many
//! processors it could use, and computes from the table how many it is entitled to
//! ([`Seat::shares`]). There is no daemon, and there is nothing to configure or clean up.
//! docs/table.md describes the protocol and why it survives the death of any job at any
//! instruction. The algorithm that divides the processors is in [`tidegate_policy::allot`].
//!
//! This crate does not depend on the Tidegate runtime, so other runtimes can use it as well:
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
//!     seat.wait_change(Duration::from_millis(5))?; // or less, if another job changes
//! }
//! # #[allow(unreachable_code)]
//! # Ok::<(), tidegate_share::Refusal>(())
//! ```
//!
//! Every error is a [`Refusal`], a line that explains why this job does not share the machine. This
//! crate never ends the process, never waits for another process, and never touches a file of
//! another user.
//!
//! [`Observer`] reads the table without taking a seat, and never creates the table.
//!
//! [`confinement`] keeps a record of what a command takes from the threads of other programs, so
//! that they get it back if the command dies.
//!
//! This crate does **not** move workers or start threads. It measures no load except that of
//! programs outside the table ([`Neighbours`]). It supports only Linux.

#![deny(missing_docs)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "without a file nothing is laid out in it")
)]

#[cfg(target_os = "linux")]
pub mod confinement;
#[cfg(not(target_os = "linux"))]
#[path = "no_confinement.rs"]
pub mod confinement;
#[cfg(target_os = "linux")]
mod file;
#[cfg(not(target_os = "linux"))]
#[path = "no_file.rs"]
mod file;
mod identity;
mod layout;
mod location;
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "maps a file and calls the kernel")]
mod mapping;
mod mask;
mod neighbours;
mod observer;
mod reader;
mod records;
mod refusal;
mod report;
mod seat;
mod shares;
#[cfg(target_os = "linux")]
mod trusted;

pub use layout::{Name, ROWS};
pub use location::{Location, VARIABLE};
pub use mask::CpuMask;
pub use neighbours::Neighbours;
pub use observer::{Job, Observer, Soundness};
pub use refusal::{Kind, Refusal};
pub use report::Report;
pub use seat::{Seat, Waker};
pub use shares::{Portion, Shares};
