//! Checks the mutants, one after another: `cargo run -p xtask -- mutants [NAME]`.
//!
//! A passing test proves little until it has been seen to fail. Each file
//! `crates/xtask/mutants/NAME.patch` is a known or plausible mistake. Above its diff are a title
//! and the test that must fail:
//!
//! ```text
//! The owner publishes tasks without Release.
//!
//! Fails: loom PACKAGE PREEMPTIONS TEST
//! ```
//!
//! With `miri` instead of `loom`, the name of an integration test takes the place of the bound on
//! preemptions.
//!
//! `git apply` applies the patch to a copy of the workspace. The test must pass without the mutant,
//! and the mutant must compile. A test that does not exist or that hangs does not count as catching
//! the mutant. If Miri is not available, the mutants that need it are skipped.

mod tree;

use std::collections::HashMap;

use crate::command::{Cmd, Done, End};
use crate::libtest::{self, Tests};
use crate::loom;
use crate::nightly;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

use tree::Tree;

const FOLDER: &str = "crates/xtask/mutants/";

/// Makes Miri run a single schedule, in which a thread runs until it waits or ends, so that the
/// result does not depend on luck.
const NEVER_PREEMPT: &str = "-Zmiri-preemption-rate=0";

/// A mistake in the code, and the test that must catch it.
#[derive(Clone, Debug, PartialEq)]
struct Mutant {
    /// The path of the mutant's patch, relative to the workspace's root.
    file: String,
    title: String,
    /// The tool, the package, the tool's argument, and the test with its modules.
    fails: [String; 4],
}

impl Mutant {
    fn parse(file: &str, patch: &str) -> Option<Mutant> {
        let (head, _) = patch.split_once("\ndiff --git ")?;
        let (title, _) = head.split_once("\n\n")?;
        let fails = head.lines().find_map(|line| line.strip_prefix("Fails: "))?;
        let fails: Vec<String> = fails.split(' ').map(str::to_string).collect();
        let is_known = ["loom", "miri"].contains(&fails[0].as_str());
        Some(Mutant {
            file: file.to_string(),
            title: title.replace('\n', " "),
            fails: fails.try_into().ok().filter(|_| is_known)?,
        })
    }

    fn name(&self) -> &str {
        self.file[FOLDER.len()..].trim_end_matches(".patch")
    }

    /// Returns the command `cargo test` for the test's package, with `args` and the arguments of
    /// the test program.
    fn cargo_test(&self, workspace: &Workspace, args: &[&str]) -> Cmd {
        let [tool, package, argument, test] = self.fails.each_ref().map(String::as_str);
        let log = format!("mutant {}", self.name());
        let miri = || nightly::miri_test(workspace, &log, package, NEVER_PREEMPT);
        let command = match tool {
            "loom" => loom::command(workspace, &log, package, argument),
            _ => miri().args(["--test", argument]),
        };
        // The build is incremental, because two builds differ only in a few lines.
        let command = command
            .env("CARGO_INCREMENTAL", "1")
            .env("RUST_BACKTRACE", "0");
        command
            .args(args)
            .args(["--", "--nocapture", "--exact", test])
    }
}

fn mutants(workspace: &Workspace, only: Option<&str>) -> Result<Vec<Mutant>, String> {
    let files = workspace.files()?.into_iter();
    let patches = files.filter(|file| file.starts_with(FOLDER));
    let mut mutants = Vec::new();
    for file in patches {
        let mutant = Mutant::parse(&file, &workspace.read(&file)?);
        mutants.push(mutant.ok_or(format!("{file}: no title or no line `Fails: ..`"))?);
    }
    mutants.retain(|mutant| only.is_none_or(|name| mutant.name() == name));
    let none = format!("no patch in {FOLDER} has this name");
    if mutants.is_empty() {
        Err(none)
    } else {
        Ok(mutants)
    }
}

/// Checks that every patch applies and begins with a title and a test.
pub fn apply(workspace: &Workspace) -> Outcome {
    let mutants = mutants(workspace, None)?;
    let tree = Tree::mirror(workspace)?;
    for mutant in &mutants {
        tree.patched(&mutant.file, || Ok(String::new()))?;
    }
    Ok(format!("{} patches", mutants.len()))
}

/// Checks all mutants, or only the mutant called `only`.
pub fn run(workspace: &Workspace, tally: &mut Tally, only: Option<&str>) {
    let tree = Tree::mirror(workspace);
    let prepared = tree.and_then(|tree| Ok((mutants(workspace, only)?, tree)));
    let (mutants, tree) = match prepared {
        Ok(prepared) => prepared,
        Err(trouble) => return tally.run("mutants", || Err(trouble.into())),
    };
    let miri = nightly::miri_ready(workspace);
    let ready = |mutant: &Mutant| match mutant.fails[0].as_str() {
        "miri" => miri.clone(),
        _ => Ok(()),
    };
    // All tests run without a mutant before the first mutant is applied, because each mutant causes
    // a rebuild.
    let mut without: HashMap<&[String; 4], bool> = HashMap::new();
    for mutant in mutants.iter().filter(|mutant| ready(mutant).is_ok()) {
        without.entry(&mutant.fails).or_insert_with(|| {
            let failed = tally.failed;
            let test = mutant.cargo_test(&tree.workspace, &[]);
            tally.run(&mutant.fails[3], || libtest::pass(test));
            tally.failed == failed
        });
    }
    for mutant in &mutants {
        tally.run(&format!("mutant {}", mutant.name()), || {
            ready(mutant)?;
            if !without[&mutant.fails] {
                return Err("the test does not pass without the mutant".into());
            }
            tree.patched(&mutant.file, || check(&tree.workspace, mutant))
        });
    }
}

fn check(tree: &Workspace, mutant: &Mutant) -> Outcome {
    let built = mutant.cargo_test(tree, &["--no-run"]).succeed();
    built.map_err(|output| format!("{output}\nthe mutant does not compile"))?;
    judge(&mutant.title, &mutant.cargo_test(tree, &[]).run()?)
}

fn judge(title: &str, done: &Done) -> Outcome {
    let uncaught = match done.end {
        End::TimeOut => "the test hung, which does not count as failing",
        End::Success => "UNCAUGHT: the test passes with the mutant",
        End::Failure if Tests::read(&done.text).started == 0 => "no test was started",
        End::Failure => return Ok(format!("{title} {}", message(&done.text))),
    };
    Err(format!("{}\n{uncaught}: {title}", done.text).into())
}

const UNDEFINED: &str = "Undefined Behavior: ";

/// Returns the first error message of the failing test, or of Miri.
fn message(output: &str) -> &str {
    let mut lines = output.lines();
    let found = lines.find(|line| line.contains(" panicked at ") || line.contains(UNDEFINED));
    let found = found.and_then(|line| match line.split_once(UNDEFINED) {
        Some((_, what)) => Some(what),
        None => lines.next(),
    });
    found.unwrap_or("the test program was ended by a signal")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caught(end: End, text: &str) -> bool {
        let text = text.to_string();
        judge("it is wrong", &Done { end, text }).is_ok()
    }

    #[test]
    fn failure_or_crash_catches_the_mutant() {
        let failed = "running 1 test\nthread 't' panicked at a.rs:1:1:\ntaken twice\n";
        assert!(caught(End::Failure, failed));
        assert_eq!(message(failed), "taken twice");
        let undefined = "running 1 test\ntest t ... error: Undefined Behavior: dangling\n --> a.rs";
        assert!(caught(End::Failure, undefined));
        assert_eq!(message(undefined), "dangling");
        assert!(caught(End::Failure, "running 1 test\n(signal: 6, SIGABRT)"));
    }

    /// A test that does not exist catches nothing, either.
    #[test]
    fn pass_or_hang_catches_nothing() {
        assert!(!caught(End::Success, "running 1 test\ntest a ... ok"));
        assert!(!caught(End::TimeOut, "running 1 test"));
        assert!(!caught(End::Failure, "error: could not compile"));
    }

    #[test]
    fn patch_header_names_the_test() {
        let text = "Two lines\nof title.\n\nMore.\nFails: loom p 2 m::t\n\ndiff --git a/a b/a\n";
        let file = format!("{FOLDER}late.patch");
        let found = Mutant::parse(&file, text).unwrap();
        assert_eq!(found.name(), "late");
        assert_eq!(found.title, "Two lines of title.");
        assert_eq!(found.fails, ["loom", "p", "2", "m::t"]);
        for part in ["loom", " m::t", "Two lines\nof title.\n\n", "Fails: "] {
            let without = text.replace(part, "");
            assert_eq!(Mutant::parse(&file, &without), None, "{part}");
        }
    }
}
