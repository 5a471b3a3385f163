//! Every check that a change must pass: `cargo run -p xtask -- ci`.
//!
//! A check that cannot run on this machine prints why and counts as skipped, never as passed.
//! Passing the name of a row runs only that row.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, bail};

use crate::command::{Cmd, NIGHT, has_toolchain, in_turn, rustup};
use crate::step::{Outcome, Skipped, Tally};
use crate::suites::{self, Kind};
use crate::workspace::{WORKSPACE, folder, is_published, scratch};
use crate::{beside, build_time, costs, house, mutants, rayon, targets};

/// How long a check takes once everything is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    Seconds,
    Minutes,
    /// Up to hours: the checks of concurrent code.
    Hours,
}

enum Check {
    /// Commands of cargo, see [`Cmd::cargo`].
    Cargo(&'static [&'static str]),
    One(fn() -> Outcome),
    /// A table of checks, each of which prints its own line.
    Table(fn(&mut Tally)),
}

use Check::{Cargo, One, Table};
use Cost::{Hours, Minutes, Seconds};

pub struct Step(Cost, pub &'static str, Check);

/// All checks, in the order in which they run. With `--cfg loom`, the types in `sync` are loom's, so
/// clippy can find uses of the standard library's types, which `clippy.toml` lists, in the packages
/// that may use atomics, locks, threads and the clock only through `sync`.
#[rustfmt::skip]
pub const STEPS: &[Step] = &[
    Step(Seconds, "fmt", Cargo(&["fmt --all --check -- -l"])),
    Step(Seconds, "house", One(house::check)),
    Step(Seconds, "patches", One(mutants::apply)),
    Step(Seconds, "licences", One(|| beside::deny("bans licenses"))),
    Step(Seconds, "unused dependencies", One(beside::unused)),
    Step(Seconds, "clippy", Cargo(&["clippy --workspace --all-targets --all-features -- -D warnings"])),
    Step(Seconds, "rustdoc", Cargo(&[
        "RUSTDOCFLAGS=-Dwarnings doc --no-deps --lib --workspace --all-features --document-private-items",
        // As users document it who enable no feature.
        "RUSTDOCFLAGS=-Dwarnings doc --no-deps --lib -p tidegate -p tidegate-core -p tidegate-policy -p tidegate-sync",
    ])),
    Step(Seconds, "beside lints", One(beside::lints)),
    Step(Minutes, "web links", One(house::web)),
    Step(Minutes, "advisories", One(|| beside::deny("advisories"))),
    Step(Minutes, "doc tests", Cargo(&["test --workspace --doc --all-features"])),
    Step(Minutes, "features", One(features)),
    Step(Minutes, "dagrs", Cargo(&["test -p tidegate-lab --features dagrs --test all interval_bench"])),
    Step(Minutes, "beside tests", One(beside::tests)),
    Step(Minutes, "held lock", One(beside::held_lock)),
    Step(Minutes, "hash folder", Cargo(&["run -p hash-folder -- docs"])),
    Step(Minutes, "rayon app", Cargo(&["run --locked --target-dir={target}/xtask/beside --manifest-path examples/rayon-app/Cargo.toml -- docs"])),
    Step(Minutes, "service", Cargo(&["run --locked --target-dir={target}/xtask/beside --manifest-path examples/service/tidegate/Cargo.toml -- \
        --cpus 1 --load 50 --seconds 0.3 --repeats 1"])),
    Step(Minutes, "msrv", One(msrv)),
    Step(Minutes, "check other targets", Table(|tally| targets::run(tally, "check"))),
    Step(Minutes, "build time", Table(build_time::run)),
    Step(Minutes, "costs", Table(costs::run)),
    Step(Minutes, "package", One(package)),
    Step(Minutes, "semver", One(semver)),
    Step(Hours, "run other targets", Table(|tally| targets::run(tally, "on"))),
    Step(Hours, "fan on slurm", Table(|tally| suites::run(tally, Kind::Soak, Some("fan-slurm"), false, None))),
    Step(Hours, "rayon", Table(rayon::run)),
    Step(Hours, "clippy loom", Cargo(&["RUSTFLAGS=--cfg=loom clippy --target-dir={target}/xtask/loom --features tidegate-sync/loom --lib --tests \
        -p tidegate-sync -p tidegate-deque -p tidegate-core -p tidegate -- -D warnings"])),
    Step(Hours, "clippy behind sync", Cargo(&["RUSTFLAGS=--cfg=loom clippy --target-dir={target}/xtask/loom --features tidegate-sync/loom --lib \
        -p tidegate-policy -p tidegate-deque -p tidegate-share -p tidegate-machine -p tidegate-core -p tidegate -- \
        --no-deps -D warnings -D clippy::disallowed_types -D clippy::disallowed_methods"])),
    Step(Hours, "loom", Table(|tally| suites::run(tally, Kind::Loom, None, false, None))),
    Step(Hours, "mutants", Table(|tally| mutants::run(tally, None))),
    Step(Hours, "miri", Table(|tally| suites::run(tally, Kind::Miri, None, false, None))),
    Step(Hours, "tsan", Table(|tally| suites::run(tally, Kind::Tsan, None, false, None))),
];

/// Runs all checks that take at most as long as wanted, or only one.
pub fn run(tally: &mut Tally, only: Option<&str>, quick: bool, full: bool) {
    let most = match (quick, full) {
        (true, _) => Seconds,
        (false, false) => Minutes,
        (false, true) => Hours,
    };
    for Step(cost, name, check) in STEPS {
        match check {
            _ if only.map_or(*cost > most, |only| only != *name) => {}
            Cargo(lines) => {
                _ = tally.run(name, || in_turn(lines.iter().map(|it| Cmd::cargo(it)), ""))
            }
            One(check) => _ = tally.run(name, check),
            Table(run) => run(tally),
        }
    }
}

/// Tests what needs a feature that the ordinary tests are built without: the libraries that have
/// features, and the test programs that require some.
fn features() -> Outcome {
    let mut line = "test --all-features --lib".to_string();
    let packages = WORKSPACE.packages.iter();
    for package in packages.filter(|it| !it.features.is_empty()) {
        line += &format!(" -p {}", package.name);
        let targets = package.targets.iter();
        let tests = targets.filter(|it| it.is_test() && !it.required_features.is_empty());
        tests.for_each(|test| line += &format!(" --test {}", test.name));
    }
    in_turn([Cmd::cargo(&line)], "")
}

/// Type-checks each package that users build, with the oldest Rust that its manifest promises.
fn msrv() -> Outcome {
    let mut versions = BTreeSet::new();
    let mut packages = beside::packages()?;
    packages.retain(|package| folder(package).starts_with("crates/"));
    let members = WORKSPACE.packages.iter();
    for package in members.filter(|it| is_published(it)).chain(&packages) {
        let version = package.rust_version.as_ref();
        let version = version.with_context(|| format!("{} has no rust-version", package.name))?;
        let version = version.to_string();
        if !has_toolchain(&version) {
            rustup(&format!(
                "toolchain install {version} --profile minimal --no-self-update"
            ))?;
        }
        let target = "CARGO_TARGET_DIR={target}/xtask/msrv";
        beside::locked(
            &format!("{target} +{version} check --all-features"),
            package,
        )
        .succeed()?;
        versions.insert(version);
    }
    Ok(format!("Rust {}", Vec::from_iter(versions).join(" and ")))
}

/// Does everything that publishing the crates does, except the upload: builds each crate from the
/// packages of the other crates. Cargo never unpacks a version twice, so what earlier runs have
/// unpacked is removed: it is in a registry without a host.
fn package() -> Outcome {
    let _ = fs::remove_dir_all(scratch("package"));
    let unpacked = "rm -rf \"${CARGO_HOME:-$HOME/.cargo}\"/registry/src/-*";
    let remove = Cmd::new("sh").args(["-c", unpacked]);
    let line = "publish --workspace --dry-run --allow-dirty --target-dir={target}/xtask/package";
    in_turn([remove, Cmd::cargo(line)], "packed and built, not uploaded")
}

/// Compares the public items of the libraries with those of the last release.
fn semver() -> Outcome {
    let tag = Cmd::new("git").args(["describe", "--tags", "--abbrev=0", "--match=v*"]);
    let Ok(printed) = tag.succeed() else {
        bail!(Skipped("no release has a tag yet".to_string()));
    };
    let tag = printed.lines().last().unwrap_or_default();
    let version = Cmd::cargo("semver-checks --version");
    beside::need(version, "cargo-semver-checks is not installed")?;
    let line = format!("semver-checks --workspace --all-features --baseline-rev {tag}");
    in_turn([Cmd::cargo(&line).limit(NIGHT)], tag)
}
