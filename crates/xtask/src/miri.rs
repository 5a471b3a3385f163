//! Miri over the runtime crates' tests: `cargo run -p xtask -- miri [--full]`.
//!
//! The tests shrink themselves under `cfg(miri)`. A change runs one schedule, a night one for each of many seeds. Miri
//! needs a nightly toolchain with the components `miri` and `rust-src`; without them this check is skipped.

use crate::budget::Budget;
use crate::command::Cmd;
use crate::rustup;
use crate::step::{Outcome, Tally};
use crate::verdict;
use crate::workspace::Workspace;

/// The packages, each with what the names of its tests for Miri contain. Arithmetic without `unsafe` has nothing for it.
pub const SUITES: &[(&str, &str)] = &[("tidegate-sync", ""), ("tidegate-deque", "")];

/// The schedules that a night tries.
const SEEDS: &str = "-Zmiri-many-seeds=0..32";

/// Runs every suite.
pub fn run(workspace: &Workspace, tally: &mut Tally, budget: Budget) {
    let ready = rustup::nightly(workspace, &["miri", "rust-src"]);
    for (package, filter) in SUITES {
        tally.run(&format!("miri {package}"), || match &ready {
            Err(why) => Outcome::Skipped(why.clone()),
            Ok(()) => check(workspace, package, filter, budget),
        });
    }
}

fn check(workspace: &Workspace, package: &str, filter: &str, budget: Budget) -> Outcome {
    let flags = match budget {
        Budget::Smoke => "",
        Budget::Full => SEEDS,
    };
    let command = Cmd::cargo(
        workspace,
        &format!("miri {package}"),
        "+nightly miri test --tests -p",
    )
    .args([package, "--", filter])
    .env("CARGO_TARGET_DIR", workspace.scratch("miri"))
    .env("MIRIFLAGS", flags)
    .limit(budget.limit());
    verdict::pass(command)
}
