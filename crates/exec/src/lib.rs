//! Runs a program that does not use Tidegate as a job that shares the processors.
//!
//! docs/exec.md describes the protocol. The decisions are in [`tidegate_policy::outside`], the
//! table and the record of masks in [`tidegate_share`].

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod follow;
pub mod jobserver;
mod watcher;

pub use follow::{Following, Leaf, Means, Stop};
pub use watcher::{SUBCOMMAND, Watcher, watch};

use std::io::Write;

/// How to make the program follow its allotment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// By quota where a cgroup is delegated to this user, otherwise by affinity (the default).
    #[default]
    Auto,
    /// By the quota of a cgroup of its own.
    Quota,
    /// By the affinity of its threads.
    Affinity,
    /// Not at all: only the counts of threads are set, when the program starts.
    Count,
}

/// What to run, and its part of the machine.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program and its arguments; not empty.
    pub command: Vec<std::ffi::OsString>,
    /// The name in the table; by default the program's file name.
    pub name: Option<String>,
    /// The weight relative to other jobs: 1 to 10,000.
    pub weight: usize,
    /// The processors that the program gets even if its share is smaller.
    pub min: usize,
    /// The most processors that the program uses; by default all that it may run on.
    pub max: Option<usize>,
    /// How the program follows its allotment.
    pub how: How,
    /// The number of tokens of a jobserver for the program's children, if it gets one.
    pub jobserver: Option<usize>,
    /// Whether to print what was chosen, and why, before the program starts.
    pub explain: bool,
}

/// Prints a line to standard error. If that fails, the program runs all the same.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "tidegate exec: {text}");
}
