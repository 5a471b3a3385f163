//! Miri over the runtime crates' tests: `cargo run -p xtask -- miri [--full]`.
//!
//! The tests shrink themselves under `cfg(miri)`. A change runs one schedule, a night one for each of many seeds. Miri
//! needs a nightly toolchain with the components `miri` and `rust-src`; without them this check is skipped.

use crate::budget::Budget;
use crate::command::Cmd;
use crate::libtest;
use crate::rustup;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

/// The packages, each with its test programs for Miri; the others are too large for it or start processes. Arithmetic
/// without `unsafe` has nothing for it.
pub const SUITES: &[(&str, &[&str])] = &[
    ("tidegate-sync", &["--tests"]),
    ("tidegate-deque", &["--tests"]),
    (
        "tidegate",
        &[
            "--lib",
            "--test",
            "small",
            "--test",
            "workers",
            "--test",
            "closed",
            "--test",
            "priorities",
            "--test",
            "interval_misuse",
            "--test",
            "interval_failures",
        ],
    ),
];

/// The schedules that a night tries.
const SEEDS: &str = "-Zmiri-many-seeds=0..32";

/// Runs every suite.
pub fn run(workspace: &Workspace, tally: &mut Tally, budget: Budget) {
    let ready = ready(workspace);
    for (package, programs) in SUITES {
        tally.run(&format!("miri {package}"), || match &ready {
            Err(why) => Outcome::Skipped(why.clone()),
            Ok(()) => check(workspace, package, programs, budget),
        });
    }
}

/// Makes sure that Miri is there.
pub fn ready(workspace: &Workspace) -> Result<(), String> {
    rustup::nightly(workspace, &["miri", "rust-src"])
}

fn check(workspace: &Workspace, package: &str, programs: &[&str], budget: Budget) -> Outcome {
    let flags = match budget {
        Budget::Smoke => "",
        Budget::Full => SEEDS,
    };
    let command = command(workspace, &format!("miri {package}"), package, flags);
    libtest::pass(command.args(programs).limit(budget.limit()))
}

/// `cargo miri test` of the package, up to the choice of its test programs.
pub fn command(workspace: &Workspace, log: &str, package: &str, flags: &str) -> Cmd {
    Cmd::cargo(workspace, log, "+nightly miri test -p")
        .args([package])
        .env("CARGO_TARGET_DIR", workspace.scratch("miri"))
        .env("MIRIFLAGS", flags)
}
