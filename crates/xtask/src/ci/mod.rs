//! Every check that a change must pass: `cargo run -p xtask -- ci`.
//!
//! The tables are in the order in which their rows run, the quick ones first. A check that cannot run on this machine says
//! why and is counted as skipped, never as passed. One row alone runs by its name.

mod beside;
mod cargo;
mod checked;
mod deny;

use crate::house;
use crate::loom::{self, GROUPS};
use crate::miri;
use crate::mutants;
use crate::rayon;
use crate::step::{Outcome, Tally};
use crate::tsan;
use crate::workspace::Workspace;

use checked::State;

/// Where it is recorded with which sources all checks have passed.
const FILE: &str = ".ci/checked";

/// One row: its name and what it does.
pub struct Step(pub &'static str, Check);

/// What a row does.
enum Check {
    /// One check.
    One(fn(&Workspace) -> Outcome),
    /// A table of checks, each with a line of its own.
    Table(fn(&Workspace, &mut Tally)),
}

use Check::{One, Table};

/// The checks that take seconds once everything is built.
const QUICK: &[Step] = &[
    Step("fmt", One(cargo::fmt)),
    Step("house", One(house::check)),
    Step("patches", One(mutants::apply)),
    Step("licences", One(deny::licences)),
    Step("clippy", One(cargo::clippy)),
    Step("rustdoc", One(cargo::rustdoc)),
    Step("beside lints", Table(beside::lints)),
];

/// The checks that take minutes, for every change.
const OTHERS: &[Step] = &[
    Step("web links", One(house::web)),
    Step("advisories", One(deny::advisories)),
    Step("doc tests", One(cargo::doc_tests)),
    Step("events", One(cargo::events)),
    Step("beside tests", Table(beside::tests)),
    Step("msrv", One(cargo::msrv)),
    Step("check other targets", Table(cargo::targets)),
    Step("package", One(cargo::package)),
];

/// The checks of concurrent code, which take hours and depend on nothing but `checked::SOURCES`.
const SLOW: &[Step] = &[
    Step("rayon", Table(rayon::run)),
    Step("clippy loom", One(cargo::clippy_loom)),
    Step("loom", Table(|w, t| loom::run(w, t, GROUPS, false))),
    Step("mutants", Table(|w, t| mutants::run(w, t, None))),
    Step("miri", Table(|w, t| miri::run(w, t, false))),
    Step("tsan", Table(tsan::run)),
];

/// How much of it runs.
#[derive(Clone, Copy, PartialEq)]
pub enum Extent {
    /// The quick checks.
    Quick,
    /// All, but the slow ones only if they are needed.
    Needed,
    /// All, to be recorded in `.ci/checked`.
    Full,
}

impl Extent {
    /// What the options ask for.
    pub fn of(quick: bool, full: bool) -> Extent {
        match (quick, full) {
            (true, _) => Extent::Quick,
            (_, true) => Extent::Full,
            _ => Extent::Needed,
        }
    }
}

/// Every row.
pub fn steps() -> impl Iterator<Item = &'static Step> + Clone {
    QUICK.iter().chain(OTHERS).chain(SLOW)
}

/// Runs the checks of that extent; the others are skipped.
pub fn every(workspace: &Workspace, tally: &mut Tally, extent: Extent) {
    let state = match State::read(workspace) {
        Ok(state) => state,
        Err(trouble) => return tally.run(FILE, || Outcome::Failed(trouble)),
    };
    let why_not = state.unrecordable().filter(|_| extent == Extent::Full);
    if let Some(why_not) = why_not {
        return tally.run(FILE, || Outcome::Failed(why_not));
    }
    group(workspace, tally, QUICK, None);
    let left_out = "left out by --quick";
    let quick = (extent == Extent::Quick).then_some(left_out);
    group(workspace, tally, OTHERS, quick);
    let before = *tally;
    let recorded = workspace.read(FILE).ok();
    match (extent, state.reason(recorded.as_deref())) {
        (Extent::Needed, None) => {
            let why = format!("passed with these sources, see {FILE}");
            group(workspace, tally, SLOW, Some(&why));
        }
        (Extent::Needed, Some(reason)) => {
            println!("the slow checks are needed: {reason}");
            group(workspace, tally, SLOW, None);
        }
        _ => group(workspace, tally, SLOW, quick),
    }
    if extent == Extent::Full {
        let skipped = tally.skipped - before.skipped;
        let failed = tally.failed;
        tally.run(FILE, || match (failed, skipped) {
            (0, 0) => state.record(workspace).into(),
            (0, _) => Outcome::Failed(format!("{skipped} slow checks were skipped")),
            _ => Outcome::Skipped("a check has failed".to_string()),
        });
    }
}

/// Runs these rows, unless there is a reason to skip them.
fn group(workspace: &Workspace, tally: &mut Tally, steps: &[Step], skip: Option<&str>) {
    for step in steps {
        match skip {
            Some(why) => tally.run(step.0, || Outcome::Skipped(why.to_string())),
            None => run(workspace, tally, step),
        }
    }
}

/// Runs one row.
pub fn run(workspace: &Workspace, tally: &mut Tally, Step(name, check): &Step) {
    match check {
        One(check) => tally.run(name, || check(workspace)),
        Table(run) => run(workspace, tally),
    }
}
