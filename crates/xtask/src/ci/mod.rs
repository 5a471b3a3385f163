//! Every check that a change must pass: `cargo run -p xtask -- ci`.
//!
//! The table is the order in which they run, the quick ones first. A check that cannot run on this machine says why
//! and is counted as skipped, never as passed. One row alone runs by its name.

mod advisories;
mod beside;
mod cargo;
mod cross;
mod licences;
mod msrv;
mod package;

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

/// The checks that take seconds once everything is built, in the order in which they run.
const QUICK: &[Step] = &[
    Step("fmt", One(cargo::fmt)),
    Step("house", One(house::step)),
    Step("licences", One(licences::check)),
    Step("clippy", One(cargo::clippy)),
    Step("rustdoc", One(cargo::rustdoc)),
    Step("beside lints", Table(beside::lints)),
];

/// The others, which run after them.
const SLOW: &[Step] = &[
    Step("advisories", One(advisories::check)),
    Step("doc tests", One(cargo::doc_tests)),
    Step("events", One(cargo::events)),
    Step("beside tests", Table(beside::tests)),
    Step("msrv", Table(msrv::run)),
    Step("check other targets", Table(cross::run)),
    Step("package", One(package::check)),
    Step("rayon", Table(rayon::run)),
    Step("clippy loom", One(cargo::clippy_loom)),
    Step(
        "loom",
        Table(|workspace, tally| loom::every(workspace, tally, Budget::Smoke)),
    ),
    Step("mutants", Table(mutants::every)),
    Step(
        "miri",
        Table(|workspace, tally| miri::run(workspace, tally, Budget::Smoke)),
    ),
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
