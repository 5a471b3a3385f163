//! Every check that a change must pass: `cargo run -p xtask -- ci`.
//!
//! A check that cannot run on this machine prints why and counts as skipped, never as passed.
//! Passing the name of a row runs only that row.

mod cargo;

use crate::beside;
use crate::build_time;
use crate::command::Cmd;
use crate::house;
use crate::loom;
use crate::mutants;
use crate::nightly;
use crate::rayon;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

/// How long a check takes once everything is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    Seconds,
    Minutes,
    /// Up to hours: the checks of concurrent code.
    Hours,
}

enum Check {
    /// A command of cargo, see [`Cmd::cargo`].
    Cargo(&'static str),
    One(fn(&Workspace) -> Outcome),
    /// A table of checks, each of which prints its own line.
    Table(fn(&Workspace, &mut Tally)),
}

use Check::{Cargo, One, Table};
use Cost::{Hours, Minutes, Seconds};

pub struct Step(Cost, pub &'static str, Check);

/// All checks, in the order in which they run. With `--cfg loom`, the types in `sync` are loom's, so
/// clippy can find uses of the standard library's types, which `clippy.toml` lists, in the packages
/// that may use atomics, locks, threads and the clock only through `sync`.
#[rustfmt::skip]
pub const STEPS: &[Step] = &[
    Step(Seconds, "fmt", Cargo("fmt --all --check -- -l")),
    Step(Seconds, "house", One(house::check)),
    Step(Seconds, "patches", One(mutants::apply)),
    Step(Seconds, "licences", One(cargo::licences)),
    Step(Seconds, "clippy", Cargo("clippy --workspace --all-targets --all-features -- -D warnings")),
    Step(Seconds, "rustdoc", Cargo("RUSTDOCFLAGS=-Dwarnings doc --workspace --all-features --no-deps --document-private-items --lib")),
    Step(Seconds, "beside lints", Table(beside::lints)),
    Step(Minutes, "web links", One(house::web)),
    Step(Minutes, "advisories", One(cargo::advisories)),
    Step(Minutes, "doc tests", Cargo("test --workspace --doc --all-features")),
    Step(Minutes, "features", One(cargo::features)),
    Step(Minutes, "dagrs", Cargo("test -p tidegate-lab --features dagrs --test all interval_bench")),
    Step(Minutes, "beside tests", Table(beside::tests)),
    Step(Minutes, "msrv", One(cargo::msrv)),
    Step(Minutes, "check other targets", Table(cargo::targets)),
    Step(Minutes, "build time", Table(build_time::run)),
    Step(Minutes, "package", One(cargo::package)),
    Step(Hours, "rayon", Table(rayon::run)),
    Step(Hours, "clippy loom", Cargo("RUSTFLAGS=--cfg=loom clippy --target-dir={target}/xtask/loom --features tidegate-sync/loom --lib --tests \
        -p tidegate-sync -p tidegate-deque -p tidegate-core -p tidegate -- -D warnings")),
    Step(Hours, "clippy behind sync", Cargo("RUSTFLAGS=--cfg=loom clippy --target-dir={target}/xtask/loom --features tidegate-sync/loom --lib \
        -p tidegate-policy -p tidegate-deque -p tidegate-share -p tidegate-machine -p tidegate-core -p tidegate -- \
        --no-deps -D warnings -D clippy::disallowed_types -D clippy::disallowed_methods")),
    Step(Hours, "loom", Table(|w, t| loom::run(w, t, None, false))),
    Step(Hours, "mutants", Table(|w, t| mutants::run(w, t, None))),
    Step(Hours, "miri", Table(|w, t| nightly::miri(w, t, false))),
    Step(Hours, "tsan", Table(nightly::tsan)),
];

/// Runs all checks that take at most this long.
pub fn every(workspace: &Workspace, tally: &mut Tally, quick: bool, full: bool) {
    let most = match (quick, full) {
        (true, _) => Seconds,
        (false, false) => Minutes,
        (false, true) => Hours,
    };
    let steps = STEPS.iter().filter(|step| step.0 <= most);
    steps.for_each(|step| run(workspace, tally, step));
}

pub fn run(workspace: &Workspace, tally: &mut Tally, Step(_, name, check): &Step) {
    match check {
        Cargo(line) => tally.run(name, || Cmd::cargo(workspace, name, line).outcome("")),
        One(check) => tally.run(name, || check(workspace)),
        Table(run) => run(workspace, tally),
    }
}
