//! Every check that a change must pass: `cargo run -p xtask -- ci`.
//!
//! A check that cannot run on this machine says why and is counted as skipped, never as passed. One row alone runs by its
//! name.

mod cargo;
mod checked;

use crate::beside;
use crate::command::Cmd;
use crate::house;
use crate::loom::{self, GROUPS};
use crate::mutants;
use crate::nightly;
use crate::rayon;
use crate::step::{Outcome, Stop, Tally};
use crate::workspace::Workspace;

use checked::State;

/// Where it is recorded with which sources all checks have passed.
const FILE: &str = ".ci/checked";

#[derive(Clone, Copy, PartialEq)]
enum When {
    /// Always: it takes seconds once everything is built.
    Quick,
    /// Always, except with `--quick`.
    Always,
    /// If its sources have changed: it takes long and depends on nothing but `checked::SOURCES`.
    Changed,
}

enum Check {
    /// One cargo command.
    Cargo(&'static str),
    One(fn(&Workspace) -> Outcome),
    /// A table of checks, each with a line of its own.
    Table(fn(&Workspace, &mut Tally)),
}

use Check::{Cargo, One, Table};
use When::{Always, Changed, Quick};

pub struct Step(When, pub &'static str, Check);

/// Every row, in the order in which they run.
#[rustfmt::skip]
pub const STEPS: &[Step] = &[
    Step(Quick, "fmt", Cargo("fmt --all --check -- -l")),
    Step(Quick, "house", One(house::check)),
    Step(Quick, "patches", One(mutants::apply)),
    Step(Quick, "licences", One(cargo::licences)),
    Step(Quick, "clippy", Cargo("clippy --workspace --all-targets --all-features -- -D warnings")),
    Step(Quick, "rustdoc", One(cargo::rustdoc)),
    Step(Quick, "beside lints", Table(beside::lints)),
    Step(Always, "web links", One(house::web)),
    Step(Always, "advisories", One(cargo::advisories)),
    Step(Always, "doc tests", Cargo("test --workspace --doc --all-features")),
    // What the runtime tells the `tracing` crate, which the ordinary tests are built without.
    Step(Always, "events", Cargo("test -p tidegate --features tracing --test events")),
    Step(Always, "beside tests", Table(beside::tests)),
    Step(Always, "msrv", One(cargo::msrv)),
    Step(Always, "check other targets", Table(cargo::targets)),
    Step(Always, "package", One(cargo::package)),
    Step(Changed, "rayon", Table(rayon::run)),
    Step(Changed, "clippy loom", One(cargo::clippy_loom)),
    Step(Changed, "loom", Table(|w, t| loom::run(w, t, GROUPS, false))),
    Step(Changed, "mutants", Table(|w, t| mutants::run(w, t, None))),
    Step(Changed, "miri", Table(|w, t| nightly::miri(w, t, false))),
    Step(Changed, "tsan", Table(nightly::tsan)),
];

/// Runs the quick rows alone, or all with those whose sources have changed, or all to record that they have passed.
pub fn every(workspace: &Workspace, tally: &mut Tally, quick: bool, full: bool) {
    let recorded = workspace.read(FILE).ok();
    let state = match State::read(workspace) {
        Ok(state) => state,
        Err(trouble) => return tally.run(FILE, || Err(trouble.into())),
    };
    if let Some(why_not) = state.unrecordable().filter(|_| full) {
        return tally.run(FILE, || Err(why_not.into()));
    }
    let changed = state.reason(recorded.as_deref());
    if let Some(reason) = changed.as_ref().filter(|_| !full && !quick) {
        println!("the slow checks are needed: {reason}");
    }
    let mut unchecked = 0;
    for step in STEPS {
        let skip = match step.0 {
            Always | Changed if quick => Some("left out by --quick".to_string()),
            Changed if !full && changed.is_none() => Some(format!("unchanged, see {FILE}")),
            _ => None,
        };
        let skipped = tally.skipped;
        match skip {
            Some(why) => tally.run(step.1, || Err(Stop::Skipped(why))),
            None => run(workspace, tally, step),
        }
        if step.0 == Changed {
            unchecked += tally.skipped - skipped;
        }
    }
    let failed = tally.failed;
    let record = || match failed + unchecked {
        0 => state.record(workspace),
        _ => Err(format!("failed: {failed}, slow and skipped: {unchecked}").into()),
    };
    if full {
        tally.run(FILE, record);
    }
}

pub fn run(workspace: &Workspace, tally: &mut Tally, Step(_, name, check): &Step) {
    match check {
        Cargo(line) => tally.run(name, || Cmd::cargo(workspace, name, line).outcome("")),
        One(check) => tally.run(name, || check(workspace)),
        Table(run) => run(workspace, tally),
    }
}
