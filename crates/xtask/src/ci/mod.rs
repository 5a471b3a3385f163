//! Every check that a change must pass: `cargo run -p xtask -- ci`.
//!
//! A check that cannot run on this machine prints why and counts as skipped, never as passed.
//! Passing the name of a row runs only that row.

mod cargo;
mod checked;

use crate::beside;
use crate::build_time;
use crate::command::Cmd;
use crate::house;
use crate::loom::{self, GROUPS};
use crate::mutants;
use crate::nightly;
use crate::rayon;
use crate::step::{Outcome, Stop, Tally};
use crate::workspace::Workspace;

use checked::State;

/// The file that records the sources for which all checks have passed.
const FILE: &str = ".ci/checked";

#[derive(Clone, Copy, PartialEq)]
enum Cost {
    /// The check takes seconds once everything is built.
    Quick,
    /// `--quick` skips the check.
    Slow,
}

/// The files on which a check depends.
#[derive(Clone, Copy, PartialEq)]
enum Sources {
    /// All files, or something outside the repository. The check always runs.
    Any,
    /// Everything that is built.
    Code,
    /// The crates with concurrent code.
    Concurrent,
}

enum Check {
    Cargo(&'static str),
    One(fn(&Workspace) -> Outcome),
    /// A table of checks, each of which prints its own line.
    Table(fn(&Workspace, &mut Tally)),
}

use Check::{Cargo, One, Table};
use Cost::{Quick, Slow};
use Sources::{Any, Code, Concurrent};

pub struct Step(Cost, Sources, pub &'static str, Check);

/// All checks, in the order in which they run.
#[rustfmt::skip]
pub const STEPS: &[Step] = &[
    Step(Quick, Any, "fmt", Cargo("fmt --all --check -- -l")),
    Step(Quick, Any, "house", One(house::check)),
    Step(Quick, Any, "patches", One(mutants::apply)),
    Step(Quick, Any, "licences", One(cargo::licences)),
    Step(Quick, Code, "clippy", Cargo("clippy --workspace --all-targets --all-features -- -D warnings")),
    // This check always runs, because it covers the README, which is not a source of the code.
    Step(Quick, Any, "rustdoc", One(cargo::rustdoc)),
    Step(Quick, Code, "beside lints", Table(beside::lints)),
    Step(Slow, Any, "web links", One(house::web)),
    Step(Slow, Any, "advisories", One(cargo::advisories)),
    Step(Slow, Any, "doc tests", Cargo("test --workspace --doc --all-features")),
    Step(Slow, Code, "features", One(cargo::features)),
    Step(Slow, Code, "beside tests", Table(beside::tests)),
    Step(Slow, Code, "msrv", One(cargo::msrv)),
    Step(Slow, Code, "check other targets", Table(cargo::targets)),
    Step(Slow, Code, "build time", Table(build_time::run)),
    Step(Slow, Code, "package", One(cargo::package)),
    Step(Slow, Concurrent, "rayon", Table(rayon::run)),
    Step(Slow, Concurrent, "clippy loom", One(cargo::clippy_loom)),
    Step(Slow, Concurrent, "loom", Table(|w, t| loom::run(w, t, GROUPS, false))),
    Step(Slow, Concurrent, "mutants", Table(|w, t| mutants::run(w, t, None))),
    Step(Slow, Concurrent, "miri", Table(|w, t| nightly::miri(w, t, false))),
    Step(Slow, Concurrent, "tsan", Table(nightly::tsan)),
];

impl Step {
    /// Returns why the check is skipped, or `None` if it must run. `code` and `concurrent` are true
    /// if the checks of these [`Sources`] are needed.
    fn left_out(&self, quick: bool, [code, concurrent]: [bool; 2]) -> Option<String> {
        match self.1 {
            _ if quick && self.0 == Slow => Some("left out by --quick".to_string()),
            Code if !code => Some(format!("no code has changed since {FILE}")),
            Concurrent if !concurrent => Some(format!("unchanged, see {FILE}")),
            _ => None,
        }
    }
}

/// Runs the checks whose sources have changed, without the slow checks if `quick`. If `full`, runs
/// all checks, and records that they have passed.
pub fn every(workspace: &Workspace, tally: &mut Tally, quick: bool, full: bool) {
    let states = match State::read(workspace) {
        Ok(states) => states,
        Err(trouble) => return tally.run(FILE, || Err(trouble.into())),
    };
    let change = states.iter().find_map(|state| state.uncommitted.as_ref());
    if let Some(change) = change.filter(|_| full) {
        let advice = format!("commit this, or run ci without --full: {change}");
        return tally.run(FILE, || Err(advice.into()));
    }
    let recorded = workspace.read(FILE).ok();
    let reasons = [0, 1].map(|of| states[of].reason(recorded.as_deref()));
    for (what, reason) in ["all", "concurrent"].iter().zip(&reasons) {
        if let Some(reason) = reason.as_ref().filter(|_| !full && !quick) {
            println!("the checks of {what} code are needed: {reason}");
        }
    }
    let needed = reasons.map(|reason| full || reason.is_some());
    let mut unchecked = 0;
    for step in STEPS {
        let skipped = tally.skipped;
        match step.left_out(quick, needed) {
            Some(why) => tally.run(step.2, || Err(Stop::Skipped(why))),
            None => run(workspace, tally, step),
        }
        if step.1 != Any {
            unchecked += tally.skipped - skipped;
        }
    }
    let failed = tally.failed;
    let record = || match failed + unchecked {
        0 => checked::record(workspace, &states),
        _ => Err(format!("failed: {failed}, skipped: {unchecked}").into()),
    };
    if full {
        tally.run(FILE, record);
    }
}

pub fn run(workspace: &Workspace, tally: &mut Tally, Step(_, _, name, check): &Step) {
    match check {
        Cargo(line) => tally.run(name, || Cmd::cargo(workspace, name, line).outcome("")),
        One(check) => tally.run(name, || check(workspace)),
        Table(run) => run(workspace, tally),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(quick: bool, needed: [bool; 2]) -> Vec<&'static str> {
        let runs = |step: &&Step| step.left_out(quick, needed).is_none();
        STEPS.iter().filter(runs).map(|step| step.2).collect()
    }

    #[test]
    fn text_change_runs_text_steps() {
        let expected = "fmt house patches licences rustdoc web links advisories doc tests";
        assert_eq!(names(false, [false, false]).join(" "), expected);
    }

    #[test]
    fn code_change_runs_build_steps() {
        let found = names(false, [true, false]);
        assert!(found.contains(&"check other targets") && !found.contains(&"loom"));
        assert_eq!(names(false, [true, true]).len(), STEPS.len());
    }

    #[test]
    fn quick_leaves_slow_rows_out() {
        let found = names(true, [true, true]);
        assert!(found.contains(&"clippy") && !found.contains(&"msrv"));
    }
}
