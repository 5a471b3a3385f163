//! What runs the test of a mutant.

use super::Mutant;
use crate::command::Cmd;
use crate::loom;
use crate::miri;
use crate::workspace::Workspace;

/// What runs the test of a mutant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Loom, with this bound on preemptions.
    Loom(usize),
    /// Miri, on the integration test of this name, with one schedule: a thread runs until it waits or ends.
    Miri(&'static str),
}

/// Takes luck out of Miri's schedule.
const NEVER_PREEMPT: &str = "-Zmiri-preemption-rate=0";

impl Tool {
    /// Makes sure that the tool is there; the error says why it is not.
    pub fn ready(self, workspace: &Workspace) -> Result<(), String> {
        match self {
            Tool::Loom(_) => Ok(()),
            Tool::Miri(_) => miri::ready(workspace),
        }
    }

    /// `cargo test` of the test's package, up to the arguments for the test program.
    pub fn command(self, workspace: &Workspace, mutant: &Mutant) -> Cmd {
        let log = format!("mutant {}", mutant.name);
        let command = match self {
            Tool::Loom(preemptions) => loom::command(workspace, &log, mutant.package, preemptions),
            Tool::Miri(program) => miri::command(workspace, &log, mutant.package, NEVER_PREEMPT)
                .args(["--test", program]),
        };
        // Incremental, because one build differs from the next in a few lines.
        command
            .env("CARGO_INCREMENTAL", "1")
            .env("RUST_BACKTRACE", "0")
    }
}
