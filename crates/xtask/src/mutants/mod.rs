//! Mutants, one after another: `cargo run -p xtask -- mutants [NAME]`.
//!
//! A test that passes proves little until it has been seen to fail. Each file `crates/xtask/mutants/NAME.patch` is a
//! known or plausible mistake, and its head names the test that must fail with it. `git apply` applies it to a copy of the
//! workspace below the target folder, never to the workspace itself.
//!
//! The test must pass without the mutant, and the mutant must compile. A test that does not exist or that hangs has
//! caught nothing. If the tool that runs the test is missing, the mutant is skipped.

mod patch;
mod tree;

use std::collections::HashMap;

use crate::command::{Done, End};
use crate::libtest::{self, Tests};
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

use patch::{Mutant, Target};
use tree::Tree;

/// Why each test does not pass without a mutant, if so.
type Baseline = HashMap<Target, Option<String>>;

/// Checks that every patch applies and has a head.
pub fn apply(workspace: &Workspace) -> Outcome {
    let applied = patch::all(workspace).and_then(|mutants| {
        let tree = Tree::mirror(workspace)?;
        for mutant in &mutants {
            tree.patched(&mutant.file, || Ok(()))?;
        }
        Ok(Outcome::Passed(format!("{} patches", mutants.len())))
    });
    applied.into()
}

/// Checks every mutant, or the one called `only`.
pub fn run(workspace: &Workspace, tally: &mut Tally, only: Option<&str>) {
    let named = |mutant: &Mutant| only.is_none_or(|name| mutant.name == name);
    let prepared = patch::all(workspace).and_then(|mutants| {
        let mutants: Vec<Mutant> = mutants.into_iter().filter(named).collect();
        match mutants.is_empty() {
            true => Err(format!("no patch in {} has this name", patch::FOLDER)),
            false => Ok((mutants, Tree::mirror(workspace)?)),
        }
    });
    let (mutants, tree) = match prepared {
        Ok(prepared) => prepared,
        Err(trouble) => return tally.run("mutants", || Outcome::Failed(trouble)),
    };
    // Before the first mutant: each one causes a rebuild.
    let mut baseline = Baseline::new();
    tally.run("tests without a mutant", || {
        baseline = without(&tree.workspace, &mutants);
        let failed: Vec<&str> = baseline.values().flatten().map(String::as_str).collect();
        match failed.is_empty() {
            true => Outcome::Passed(format!("{} tests", baseline.len())),
            false => Outcome::Failed(failed.join("\n")),
        }
    });
    for mutant in &mutants {
        tally.run(&format!("mutant {}", mutant.name), || {
            check(&tree, mutant, &baseline).into()
        });
    }
}

/// Runs the mutants' tests without a mutant, if their tools are there.
fn without(workspace: &Workspace, mutants: &[Mutant]) -> Baseline {
    let mut baseline = Baseline::new();
    for target in mutants.iter().map(|mutant| &mutant.target) {
        if target.tool.ready(workspace).is_err() || baseline.contains_key(target) {
            continue;
        }
        let test = target.cargo_test(workspace, "tests without a mutant");
        let failed = match libtest::pass(test.args(["--", "--exact", &target.test])) {
            Outcome::Failed(output) => Some(output),
            Outcome::Passed(_) | Outcome::Skipped(_) => None,
        };
        baseline.insert(target.clone(), failed);
    }
    baseline
}

/// Whether the mutant's test passes without it and fails with it.
fn check(tree: &Tree, mutant: &Mutant, baseline: &Baseline) -> Result<Outcome, String> {
    let (workspace, target) = (&tree.workspace, &mutant.target);
    if let Err(why) = target.tool.ready(workspace) {
        return Ok(Outcome::Skipped(why));
    }
    if baseline.get(target).is_none_or(Option::is_some) {
        return Err("the test does not pass without the mutant".to_string());
    }
    tree.patched(&mutant.file, || {
        let command = || target.cargo_test(workspace, &format!("mutant {}", mutant.name));
        let built = command().args(["--no-run"]).run()?;
        if !built.success() {
            return Err(format!("{}\nthe mutant does not compile", built.text));
        }
        // Uncaptured, so that the message of a test that aborts is not lost.
        let test = ["--", "--nocapture", "--exact", &target.test];
        Ok(judge(&mutant.title, &command().args(test).run()?))
    })
}

/// What the run of the test with the mutant means.
fn judge(title: &str, done: &Done) -> Outcome {
    let uncaught = match done.end {
        End::TimeOut => "the test hung, which does not count as failing",
        End::Success => "UNCAUGHT: the test passes with the mutant",
        End::Failure if Tests::read(&done.text).started == 0 => "no test was started",
        End::Failure => return Outcome::Passed(format!("{title} {}", message(&done.text))),
    };
    Outcome::Failed(format!("{}\n{uncaught}: {title}", done.text))
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

    fn caught(end: End, text: &str) -> bool {
        let text = text.to_string();
        matches!(
            judge("it is wrong", &Done { end, text }),
            Outcome::Passed(_)
        )
    }

    #[test]
    fn a_failed_test_or_a_crash_catches_the_mutant() {
        let failed = "running 1 test\nthread 't' panicked at a.rs:1:1:\ntaken twice\n";
        assert!(caught(End::Failure, failed));
        assert_eq!(message(failed), "taken twice");
        let undefined = "running 1 test\ntest t ... error: Undefined Behavior: dangling\n --> a.rs";
        assert!(caught(End::Failure, undefined));
        assert_eq!(message(undefined), "dangling");
        assert!(caught(End::Failure, "running 1 test\n(signal: 6, SIGABRT)"));
    }

    #[test]
    fn a_test_that_passes_hangs_or_is_missing_does_not() {
        assert!(!caught(End::Success, "running 1 test\ntest a ... ok"));
        assert!(!caught(End::TimeOut, "running 1 test"));
        assert!(!caught(End::Failure, "error: could not compile"));
    }
}
