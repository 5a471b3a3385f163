//! Mutants, one after another: `cargo run -p xtask -- mutants [NAME]`.
//!
//! A test that passes proves little until it has been seen to fail. Each row of the table names a mutant: a known or
//! plausible mistake in shipped code, as the patch `crates/xtask/mutants/NAME.patch`, and the test that must fail with
//! it. The patch is applied to a copy of the workspace below the target folder, never to the workspace itself.
//!
//! The test must pass without the mutant, and the mutant must compile. A test that does not exist or that hangs has
//! caught nothing. If the tool that runs the test is missing, the mutant is skipped.
//!
//! To add a mutant, break the code, save `git diff -U1` as the patch, restore the code and add a row. `house` checks
//! that each patch still fits the code.

pub mod patch;
mod table;
mod tool;
mod tree;

use std::collections::HashMap;
use std::fs;

use crate::command::{Done, End};
use crate::step::{Outcome, Tally};
use crate::verdict::{self, Counts};
use crate::workspace::Workspace;

pub use table::MUTANTS;
use tool::Tool;
use tree::Tree;

/// The folder of the patches, from the root.
pub const PATCHES: &str = "crates/xtask/mutants";

/// A mistake in the code, and the test that must catch it.
pub struct Mutant {
    /// The patch's name, without `.patch`.
    pub name: &'static str,
    /// What the patch breaks.
    pub what: &'static str,
    /// The package of the test.
    pub package: &'static str,
    /// The test that must fail, with its modules.
    pub test: &'static str,
    /// What runs the test.
    tool: Tool,
}

impl Mutant {
    /// The path of the patch, from the root.
    pub fn patch(&self) -> String {
        format!("{PATCHES}/{}.patch", self.name)
    }
}

/// How each test of the mutants ended without a mutant: an error says why it did not pass.
type Baseline = HashMap<(&'static str, &'static str, Tool), Result<(), String>>;

/// Checks every mutant.
pub fn every(workspace: &Workspace, tally: &mut Tally) {
    run(workspace, tally, MUTANTS);
}

/// Checks these mutants.
pub fn run(workspace: &Workspace, tally: &mut Tally, mutants: &'static [Mutant]) {
    let tree = match Tree::mirror(workspace) {
        Ok(tree) => tree,
        Err(trouble) => return tally.run("mutants", || Outcome::Failed(trouble)),
    };
    // Before the first mutant: each one causes a rebuild.
    let mut baseline = Baseline::new();
    tally.run("tests without a mutant", || {
        baseline = passing(&tree.workspace, mutants);
        let failed = baseline.values().filter_map(|result| result.as_ref().err());
        match failed.cloned().collect::<Vec<_>>().join("\n") {
            none if none.is_empty() => Outcome::Passed(format!("{} tests", baseline.len())),
            failed => Outcome::Failed(failed),
        }
    });
    for mutant in mutants {
        tally.run(&format!("mutant {}", mutant.name), || {
            check(&tree, mutant, &baseline).into()
        });
    }
}

/// Runs the mutants' tests without a mutant, if their tools are there.
fn passing(workspace: &Workspace, mutants: &'static [Mutant]) -> Baseline {
    let mut baseline = Baseline::new();
    for mutant in mutants.iter().filter(|m| m.tool.ready(workspace).is_ok()) {
        let key = (mutant.package, mutant.test, mutant.tool);
        baseline.entry(key).or_insert_with(|| {
            let test = mutant.tool.command(workspace, mutant);
            match verdict::pass(test.args(["--", "--exact", mutant.test])) {
                Outcome::Failed(output) => Err(output),
                Outcome::Passed(_) | Outcome::Skipped(_) => Ok(()),
            }
        });
    }
    baseline
}

/// Whether the mutant's test passes without it and fails with it.
fn check(tree: &Tree, mutant: &'static Mutant, baseline: &Baseline) -> Result<Outcome, String> {
    let (workspace, tool) = (&tree.workspace, mutant.tool);
    if let Err(why) = tool.ready(workspace) {
        return Ok(Outcome::Skipped(why));
    }
    let key = (mutant.package, mutant.test, tool);
    if baseline.get(&key).is_none_or(Result::is_err) {
        return Err("the test does not pass without the mutant".to_string());
    }
    let file = workspace.root.join(mutant.patch());
    let patch = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    tree.patched(&patch, || {
        let command = || tool.command(workspace, mutant);
        let built = command().args(["--no-run"]).run()?;
        if !built.success() {
            let output = built.text;
            return Err(format!("{output}\nthe mutant does not compile"));
        }
        // Uncaptured, so that the message of a test that aborts is not lost.
        let test = ["--", "--nocapture", "--exact", mutant.test];
        let done = command().args(test).run()?;
        Ok(verdict(mutant, done))
    })
}

/// What the run of the test with the mutant means.
fn verdict(mutant: &Mutant, done: Done) -> Outcome {
    let counts = Counts::read(&done.text);
    let uncaught = match done.end {
        End::TimeOut => "the test hung, which does not count as failing",
        End::Success => "UNCAUGHT: the test passes with the mutant",
        End::Failure if counts.started == 0 => "no test was started",
        End::Failure => {
            let message = message(&done.text);
            return Outcome::Passed(format!(
                "{}; caught by {}: {message}",
                mutant.what, mutant.test
            ));
        }
    };
    Outcome::Failed(format!("{}\n{uncaught}: {}", done.text, mutant.what))
}

/// The first message of the failing test, or of Miri.
fn message(output: &str) -> &str {
    let mut lines = output.lines();
    let mut found = None;
    while let (None, Some(line)) = (found, lines.next()) {
        found = match line.contains(" panicked at ") {
            true => lines.next(),
            false => line
                .split_once("Undefined Behavior: ")
                .map(|(_, what)| what),
        };
    }
    found.unwrap_or("the test program was ended by a signal")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const MUTANT: Mutant = Mutant {
        name: "m",
        what: "it is wrong",
        package: "p",
        test: "m::t",
        tool: Tool::Loom(0),
    };

    fn caught(end: End, text: &str) -> bool {
        let text = text.to_string();
        matches!(verdict(&MUTANT, Done { end, text }), Outcome::Passed(_))
    }

    #[test]
    fn a_failed_test_or_a_crash_catches_the_mutant() {
        let failed = "running 1 test\nthread 't' panicked at a.rs:1:1:\ntaken twice\ntest result: FAILED. 0 passed; 1 failed;";
        assert!(caught(End::Failure, failed));
        assert_eq!(message(failed), "taken twice");
        let undefined = "running 1 test\ntest t ... error: Undefined Behavior: dangling\n --> a.rs";
        assert!(caught(End::Failure, undefined));
        assert_eq!(message(undefined), "dangling");
        assert!(caught(
            End::Failure,
            "running 1 test\nprocess didn't exit successfully (signal: 6, SIGABRT)"
        ));
    }

    #[test]
    fn a_test_that_passes_hangs_or_is_missing_does_not() {
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
    fn names_are_unique() {
        let names: HashSet<&str> = MUTANTS.iter().map(|mutant| mutant.name).collect();
        assert_eq!(names.len(), MUTANTS.len());
    }
}
