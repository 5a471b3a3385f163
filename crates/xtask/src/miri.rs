//! Miri over the runtime crates' tests: `cargo run -p xtask -- miri [--full]`.
//!
//! The tests shrink themselves under `cfg(miri)`. A change runs one schedule, a night one for each of many seeds. Miri
//! needs a nightly toolchain with the components `miri` and `rust-src`; without them this check is skipped.

use crate::command::{Cmd, NIGHT};
use crate::libtest;
use crate::rustup;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

/// The packages, each with its test programs for Miri; the others are too large for it or start processes. Arithmetic
/// without `unsafe` has nothing for it.
const SUITES: [(&str, &str); 3] = [
    ("tidegate-sync", "--tests"),
    ("tidegate-deque", "--tests"),
    (
        "tidegate",
        "--lib --test small --test workers --test closed --test priorities \
         --test interval_misuse --test interval_failures",
    ),
];

/// The schedules that a night tries.
const SEEDS: &str = "-Zmiri-many-seeds=0..32";

/// Runs every suite, with the schedules of a night if `full`.
pub fn run(workspace: &Workspace, tally: &mut Tally, full: bool) {
    let ready = ready(workspace);
    for (package, programs) in SUITES {
        let name = format!("miri {package}");
        tally.run(&name, || {
            if let Err(why) = &ready {
                return Outcome::Skipped(why.clone());
            }
            let flags = if full { SEEDS } else { "" };
            let tests = command(workspace, &name, package, flags).args(programs.split_whitespace());
            libtest::pass(if full { tests.limit(NIGHT) } else { tests })
        });
    }
}

/// Makes sure that Miri is there.
pub fn ready(workspace: &Workspace) -> Result<(), String> {
    rustup::nightly(workspace, &["miri", "rust-src"])
}

/// `cargo miri test` of the package, up to the choice of its test programs.
pub fn command(workspace: &Workspace, log: &str, package: &str, flags: &str) -> Cmd {
    Cmd::cargo(workspace, log, "+nightly miri test -p")
        .args([package])
        .env("CARGO_TARGET_DIR", workspace.scratch("miri"))
        .env("MIRIFLAGS", flags)
}
