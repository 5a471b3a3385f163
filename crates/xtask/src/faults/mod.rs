//! Faults that history knows, switched on one after another: `cargo run -p xtask -- faults [NAME]`.
//!
//! A test that passes proves little until it has been seen to fail. Each row of the table names a fault, how the code
//! is compiled with it (`--cfg tidegate_fault="name"`), and the test that must then fail. The same test must pass
//! without the fault, the fault must compile, and a test that does not exist or does not end has caught nothing. Where
//! the tool is missing that runs the test, the row is skipped.
//!
//! For loom the configuration is passed by a compiler wrapper for the workspace's own crates, one file per fault:
//! dependencies are built once for all faults, and cargo keeps the builds apart.

mod table;
mod tool;

use std::collections::HashSet;

use crate::command::{Done, End};
use crate::step::{Outcome, Tally};
use crate::verdict::{self, Counts};
use crate::workspace::Workspace;

pub use table::FAULTS;
use tool::Tool;

/// A way in which the code could be wrong.
pub struct Fault {
    /// What `cfg(tidegate_fault)` is set to.
    pub name: &'static str,
    /// What is then wrong.
    pub what: &'static str,
    /// The package of the test.
    pub package: &'static str,
    /// The test that must fail, with its modules.
    pub test: &'static str,
    /// What runs the test.
    tool: Tool,
}

/// Tests that were seen to pass without a fault: package, test, tool.
type Sound = HashSet<(&'static str, &'static str, Tool)>;

/// Switches on every fault.
pub fn every(workspace: &Workspace, tally: &mut Tally) {
    run(workspace, tally, FAULTS);
}

/// Switches on these faults.
pub fn run(workspace: &Workspace, tally: &mut Tally, faults: &'static [Fault]) {
    let mut sound = Sound::new();
    for fault in faults {
        tally.run(&format!("fault {}", fault.name), || {
            check(workspace, fault, &mut sound).into()
        });
    }
}

/// Whether the fault's test passes without it and fails with it.
fn check(
    workspace: &Workspace,
    fault: &'static Fault,
    sound: &mut Sound,
) -> Result<Outcome, String> {
    let tool = fault.tool;
    if let Err(why) = tool.ready(workspace) {
        return Ok(Outcome::Skipped(format!("not tried: {why}")));
    }
    let test = ["--", "--exact", fault.test];
    let key = (fault.package, fault.test, tool);
    if !sound.contains(&key) {
        if let Outcome::Failed(output) = verdict::pass(tool.command(workspace, fault).args(test)) {
            let why = "the test does not pass without the fault";
            return Ok(Outcome::Failed(format!("{output}\n{why}")));
        }
        sound.insert(key);
    }
    let built = tool.faulty(workspace, fault)?.args(["--no-run"]).run()?;
    if !built.success() {
        return Ok(Outcome::Failed(format!(
            "{}\nthe fault does not compile",
            built.text
        )));
    }
    let done = tool.faulty(workspace, fault)?.args(test).run()?;
    Ok(verdict(fault, done))
}

/// What the run of the test with the fault means.
fn verdict(fault: &Fault, done: Done) -> Outcome {
    let counts = Counts::read(&done.text);
    let uncaught = match done.end {
        End::TimeOut => "the test did not end, which is not the same as failing",
        End::Success => "UNCAUGHT: the test passes with the fault",
        End::Failure if counts.started == 0 => "no test was started",
        End::Failure => {
            let complaint = complaint(&done.text);
            return Outcome::Passed(format!(
                "{}; caught by {}: {complaint}",
                fault.what, fault.test
            ));
        }
    };
    Outcome::Failed(format!("{}\n{uncaught}: {}", done.text, fault.what))
}

/// The first thing that the failing test, or Miri, said.
fn complaint(output: &str) -> &str {
    let mut lines = output.lines();
    let mut said = None;
    while let (None, Some(line)) = (said, lines.next()) {
        said = match line.contains(" panicked at ") {
            true => lines.next(),
            false => line
                .split_once("Undefined Behavior: ")
                .map(|(_, what)| what),
        };
    }
    said.unwrap_or("the test program was ended by a signal")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAULT: Fault = Fault {
        name: "f",
        what: "it is wrong",
        package: "p",
        test: "m::t",
        tool: Tool::Loom(0),
    };

    fn caught(end: End, text: &str) -> bool {
        matches!(
            verdict(
                &FAULT,
                Done {
                    end,
                    text: text.to_string()
                }
            ),
            Outcome::Passed(_)
        )
    }

    #[test]
    fn a_failing_test_or_one_that_ends_its_program_has_caught_the_fault() {
        let failed = "running 1 test\nthread 't' panicked at a.rs:1:1:\ntaken twice\ntest result: FAILED. 0 passed; 1 failed;";
        assert!(caught(End::Failure, failed));
        assert_eq!(complaint(failed), "taken twice");
        let undefined = "running 1 test\ntest t ... error: Undefined Behavior: dangling\n --> a.rs";
        assert!(caught(End::Failure, undefined));
        assert_eq!(complaint(undefined), "dangling");
        assert!(caught(
            End::Failure,
            "running 1 test\nprocess didn't exit successfully (signal: 6, SIGABRT)"
        ));
    }

    #[test]
    fn a_test_that_passes_hangs_or_does_not_exist_has_caught_nothing() {
        assert!(!caught(
            End::Success,
            "running 1 test\ntest result: ok. 1 passed; 0 failed;"
        ));
        assert!(!caught(
            End::Success,
            "running 0 tests\ntest result: ok. 0 passed; 0 failed;"
        ));
        assert!(!caught(End::TimeOut, "running 1 test"));
        assert!(!caught(End::Failure, "error: could not compile"));
    }

    #[test]
    fn every_fault_has_its_own_name() {
        let names: HashSet<&str> = FAULTS.iter().map(|fault| fault.name).collect();
        assert_eq!(names.len(), FAULTS.len());
    }
}
