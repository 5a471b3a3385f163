//! Runs the command under test, isolated from the environment.

use assert_cmd::Command;

mod checks;
#[cfg(target_os = "linux")]
pub mod jobs;
#[cfg(target_os = "linux")]
pub mod terminal;
#[cfg(target_os = "linux")]
pub mod users;

pub use checks::*;

/// Returns the command with these arguments, which are separated by spaces.
pub fn tidegate(arguments: &str) -> Command {
    let command = assert_cmd::cargo::cargo_bin_cmd!("tidegate");
    checks::alone(
        command,
        concat!(env!("CARGO_TARGET_TMPDIR"), "/table"),
        arguments,
    )
}

/// Runs the command, which must succeed and print nothing to standard error, and returns its output.
pub fn text(command: &mut Command) -> String {
    let output = command.assert().success().stderr("").get_output().clone();
    String::from_utf8(output.stdout).expect("standard output is text")
}

/// Runs the command, which must succeed, and returns its messages.
pub fn messages(command: &mut Command) -> String {
    let output = command.assert().success().get_output().clone();
    String::from_utf8(output.stderr).expect("messages are text")
}

/// Like `tidegate`, but with a topology file from `tests/topologies`.
pub fn with_topology(arguments: &str, name: &str) -> Command {
    let mut command = tidegate(arguments);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/topologies");
    command
        .arg("--topology")
        .arg(folder.join(name).with_extension("txt"));
    command
}
