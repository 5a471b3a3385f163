//! The workspace type-checks for the other systems that it means to support.
//!
//! Nothing is linked or run: that takes such a machine.

use crate::command::Cmd;
use crate::rustup;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

const TARGETS: [&str; 3] = [
    "aarch64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// Type-checks for each target whose standard library is there or can be had.
pub fn run(workspace: &Workspace, tally: &mut Tally) {
    for target in TARGETS {
        tally.run(&format!("check {target}"), || check(workspace, target));
    }
}

fn check(workspace: &Workspace, target: &str) -> Outcome {
    if let Err(why) = rustup::target(workspace, target) {
        return Outcome::Skipped(why);
    }
    let line = "check --workspace --all-features --target";
    Cmd::cargo(workspace, &format!("check {target}"), line)
        .args([target])
        .env("CARGO_TARGET_DIR", workspace.scratch("cross"))
        .outcome("type-checked only")
}
