//! Every check that a change must pass: `cargo run -p xtask -- ci`.
//!
//! The table is the order in which they run, the quick ones first. A check that cannot run on this machine says why
//! and is counted as skipped, never as passed. One row alone runs by its name.

mod beside;
mod cargo;
mod deny;

use crate::budget::Budget;
use crate::house;
use crate::loom;
use crate::miri;
use crate::mutants;
use crate::rayon;
use crate::step::{Outcome, Tally};
use crate::tsan;
use crate::workspace::Workspace;

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

/// The others, which run after them.
const SLOW: &[Step] = &[
    Step("web links", One(house::web)),
    Step("advisories", One(deny::advisories)),
    Step("doc tests", One(cargo::doc_tests)),
    Step("events", One(cargo::events)),
    Step("beside tests", Table(beside::tests)),
    Step("msrv", One(cargo::msrv)),
    Step("check other targets", Table(cargo::targets)),
    Step("package", One(cargo::package)),
    Step("rayon", Table(rayon::run)),
    Step("clippy loom", One(cargo::clippy_loom)),
    Step("loom", Table(|w, t| loom::every(w, t, Budget::Smoke))),
    Step("mutants", Table(|w, t| mutants::run(w, t, None))),
    Step("miri", Table(|w, t| miri::run(w, t, Budget::Smoke))),
    Step("tsan", Table(tsan::run)),
];

/// Every row.
pub fn steps() -> impl Iterator<Item = &'static Step> + Clone {
    QUICK.iter().chain(SLOW)
}

/// Runs the quick checks, and the slow ones unless they are to be left out.
pub fn every(workspace: &Workspace, tally: &mut Tally, quick: bool) {
    for step in QUICK {
        run(workspace, tally, step);
    }
    for step in SLOW {
        match quick {
            true => tally.run(step.0, || {
                Outcome::Skipped("left out by --quick".to_string())
            }),
            false => run(workspace, tally, step),
        }
    }
}

/// Runs one check.
pub fn run(workspace: &Workspace, tally: &mut Tally, Step(name, check): &Step) {
    match check {
        One(check) => tally.run(name, || check(workspace)),
        Table(run) => run(workspace, tally),
    }
}
