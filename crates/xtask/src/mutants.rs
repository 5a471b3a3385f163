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

use std::collections::HashMap;
use std::fs;

use anyhow::{Context, Result, ensure};

use crate::beside::files;
use crate::command::{Cmd, apply_patch, in_turn};
use crate::libtest;
use crate::step::{Outcome, Tally};
use crate::suites::Kind;
use crate::workspace::scratch;

const FOLDER: &str = "crates/xtask/mutants/";

/// The copy of the workspace to which one mutant at a time is applied.
const TREE: &str = "mutants/tree";

/// Makes a thread run until it waits or ends, in four schedules: one alone may start the threads in
/// an order that hides the mistake.
const NEVER_PREEMPT: &str = "-Zmiri-preemption-rate=0 -Zmiri-many-seeds=0..4";

/// A mistake in the code, and the test that must catch it.
struct Mutant {
    name: String,
    title: String,
    kind: Kind,
    /// The tool, the package, the tool's argument, and the test with its modules.
    fails: [String; 4],
}

impl Mutant {
    fn parse(name: &str, patch: &str) -> Option<Mutant> {
        let (head, _) = patch.split_once("\ndiff --git ")?;
        let (title, _) = head.split_once("\n\n")?;
        let fails = head.lines().find_map(|line| line.strip_prefix("Fails: "))?;
        let fails: Vec<String> = fails.split(' ').map(str::to_string).collect();
        Some(Mutant {
            kind: match fails[0].as_str() {
                "loom" => Kind::Loom,
                "miri" => Kind::Miri,
                _ => return None,
            },
            name: name.to_string(),
            title: title.replace('\n', " "),
            fails: fails.try_into().ok()?,
        })
    }

    fn patch(&self, option: &str) -> Cmd {
        apply_patch(option, &format!("{FOLDER}{}.patch", self.name))
    }

    /// Returns the command `cargo test` for the test in the copy, with `args` and the arguments of
    /// the test program.
    fn cargo_test(&self, args: &[&str]) -> Cmd {
        let [tool, package, argument, test] = self.fails.each_ref().map(String::as_str);
        let (programs, value) = match self.kind {
            Kind::Miri => (format!("-p {package} --test {argument}"), NEVER_PREEMPT),
            _ => (format!("-p {package}"), argument),
        };
        let command = self.kind.cargo(&programs, value);
        (command.within(scratch(TREE)).args(args))
            .args(["--", "--nocapture", "--exact", test])
            // Two builds differ only in a few lines.
            .env("CARGO_INCREMENTAL", "1")
            .env("CARGO_TARGET_DIR", scratch("mutants").join(tool))
            .env("RUST_BACKTRACE", "0")
    }
}

/// Reads all patches, or only the one called `only`.
fn mutants(only: Option<&str>) -> Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for file in files()? {
        let name = file.strip_prefix(FOLDER).unwrap_or_default();
        let name = name.trim_end_matches(".patch");
        if !name.is_empty() && only.is_none_or(|only| only == name) {
            let mutant = Mutant::parse(name, &fs::read_to_string(&file)?);
            let advice = || format!("{file}: no title or no line `Fails: ..`");
            mutants.push(mutant.with_context(advice)?);
        }
    }
    ensure!(!mutants.is_empty(), "no patch in {FOLDER} has this name");
    Ok(mutants)
}

/// Checks that every patch applies and begins with a title and a test.
pub fn apply() -> Outcome {
    let mutants = mutants(None)?;
    let checks = mutants.iter().map(|mutant| mutant.patch("--check"));
    in_turn(checks, &format!("{} patches", mutants.len()))
}

/// Checks all mutants, or only the mutant called `only`.
pub fn run(tally: &mut Tally, only: Option<&str>) {
    let mut mutants = Vec::new();
    tally.run("copy for mutants", || {
        mutants = self::mutants(only)?;
        copy()
    });
    // All tests run without a mutant before the first mutant is applied, because each mutant causes
    // a rebuild.
    let mut passes = HashMap::new();
    for mutant in &mutants {
        passes.entry(&mutant.fails).or_insert_with(|| {
            tally.run(&mutant.fails[3], || {
                mutant.kind.ready()?;
                libtest::judge(mutant.cargo_test(&[]).run()?, 1.., 0)
            })
        });
    }
    for mutant in &mutants {
        tally.run(&format!("mutant {}", mutant.name), || {
            mutant.kind.ready()?;
            let passes = passes[&mutant.fails];
            ensure!(passes, "the test does not pass without the mutant");
            mutant.patch("--verbose").within(scratch(TREE)).succeed()?;
            let outcome = check(mutant);
            mutant.patch("--reverse").within(scratch(TREE)).succeed()?;
            outcome
        });
    }
}

/// Copies the files that git tracks or would add.
fn copy() -> Outcome {
    // An interrupted run leaves a mutant.
    let _ = fs::remove_dir_all(scratch(TREE));
    for file in files()? {
        let copy = scratch(TREE).join(&file);
        fs::create_dir_all(copy.with_file_name(""))?;
        fs::copy(file, copy)?;
    }
    Ok(String::new())
}

/// The mutant must compile, and its test must begin and then fail or crash. Returns the title and
/// the first error message.
fn check(mutant: &Mutant) -> Outcome {
    let built = mutant.cargo_test(&["--no-run"]).succeed();
    built.context("the mutant does not compile")?;
    let (success, text) = mutant.cargo_test(&[]).run()?;
    let title = &mutant.title;
    ensure!(!success, "{text}\nUNCAUGHT, the test passes: {title}");
    let started = text.contains("running 1 test");
    ensure!(started, "{text}\nno test was started: {title}");
    let messages = ["panicked at", "Undefined Behavior"];
    let is_message = |line: &&str| messages.iter().any(|message| line.contains(message));
    let lines = text.lines().skip_while(|line| !is_message(line)).take(2);
    Ok(format!("{title} {}", Vec::from_iter(lines).join(" ")))
}
