//! The workspace and the libraries beside it type-check for the other systems that it means to support.
//!
//! Nothing is linked or run: that takes such a machine.

use std::iter;

use crate::beside;
use crate::command::{Cmd, in_turn};
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
    let members = Cmd::cargo(workspace, &format!("check {target}"), line)
        .args([target])
        .env("CARGO_TARGET_DIR", workspace.scratch("cross"));
    let libraries = beside::libraries().map(|library| {
        let check = library.cargo(workspace, "check");
        check.args(["--all-features", "--target", target])
    });
    in_turn(iter::once(members).chain(libraries), "type-checked only")
}
