//! Runs jobs in other processes, with a private table.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
pub use tidegate_testkit::PATIENCE;

use super::{json, tidegate};

/// The folder of a private table.
pub struct Home(TempDir);

/// A running program. Dropping this kills it.
pub struct Running(pub Child);

impl Home {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub fn table(&self) -> PathBuf {
        self.0.path().join("table")
    }

    /// Returns the command with these arguments, which uses the private table.
    pub fn tidegate(&self, arguments: &str) -> assert_cmd::Command {
        let mut command = tidegate(arguments);
        command.env("TIDEGATE_TABLE", self.table());
        command
    }

    /// Like `tidegate`, but returns a command that can run in the background.
    pub fn program(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        command.args(arguments.split_whitespace());
        command.env("TIDEGATE_TABLE", self.table());
        command
    }

    /// Starts a job that runs longer than any test, and waits until the table shows its desire.
    pub fn job(&self, arguments: &str) -> Running {
        let mut command = self.program(&format!("run fib 90 --repeat 1 --workers 1 {arguments}"));
        let child = command.stdout(Stdio::null()).spawn().expect("it starts");
        let running = Running(child);
        let pid = running.0.id();
        eventually(|| {
            let found = json(&mut self.tidegate("jobs --json"));
            let rows = found["jobs"].as_array().unwrap();
            rows.iter()
                .any(|row| row["pid"] == pid && row["desire"] != 0)
        });
        running
    }

    pub fn jobs(&self) -> Vec<Value> {
        let found = json(&mut self.tidegate("jobs --json"));
        found["jobs"].as_array().unwrap().clone()
    }
}

impl Running {
    /// Kills the job so that it cannot clean up.
    pub fn kill(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it has ended");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until `holds` returns true. Panics after [`PATIENCE`].
#[track_caller]
pub fn eventually(holds: impl FnMut() -> bool) {
    tidegate_testkit::eventually("it holds", holds);
}
