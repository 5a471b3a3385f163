//! The program under test, away from the environment of its caller.

#![allow(dead_code, reason = "each test file uses its part")]

use assert_cmd::Command;

#[path = "../../../cli/tests/support/checks.rs"]
mod checks;

pub use checks::*;

/// The program with these arguments, separated by spaces.
pub fn lab(arguments: &str) -> Command {
    let command = assert_cmd::cargo::cargo_bin_cmd!("tidegate-lab");
    checks::alone(
        command,
        concat!(env!("CARGO_TARGET_TMPDIR"), "/table"),
        arguments,
    )
}
