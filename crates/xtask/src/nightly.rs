//! Runs the tests of the runtime crates under Miri (`cargo run -p xtask -- miri [--full]`) and
//! ThreadSanitizer (`cargo run -p xtask -- tsan`).
//!
//! The tests do less work under `cfg(miri)`. For a change, each test runs with one schedule; for a
//! nightly run, with one schedule for each of many seeds.
//!
//! For ThreadSanitizer, the standard library is rebuilt, so that the sanitizer sees its
//! synchronisation. The sanitizer does not see fences, so under the configuration `tidegate_tsan`,
//! `sync` replaces them by read-modify-writes. The same configuration leaves out tests that fork or
//! limit the address space.
//!
//! Both tools need a nightly toolchain with some components, and are skipped without it.

use std::env::consts::{ARCH, OS};

use crate::command::{Cmd, NIGHT};
use crate::libtest;
use crate::rustup;
use crate::step::{Stop, Tally};
use crate::workspace::Workspace;

/// The packages, each with the test programs that run under Miri. Some are left out: programs that
/// are too large for Miri or that start processes, and packages that only do arithmetic without
/// `unsafe`.
const SUITES: [(&str, &str); 4] = [
    ("tidegate-sync", "--tests --features simulation"),
    ("tidegate-deque", "--tests"),
    ("tidegate-core", "--lib"),
    ("tidegate", "--lib --test small"),
];

/// The schedules of a nightly run under Miri.
const SEEDS: &str = "-Zmiri-many-seeds=0..32";

/// Tests that need a deeper call stack than the sanitizer supports, or that take too long under the
/// sanitizer.
const LEFT_OUT: [&str; 4] = [
    "join_chain_may_exceed_the_ring",
    "thieves_steal_from_deep_chains",
    "second_halves_nest_to_stack_limit",
    "endless_spawn_loop_needs_bounded_memory",
];

/// Runs every suite under Miri, with the nightly schedules if `full`.
pub fn miri(workspace: &Workspace, tally: &mut Tally, full: bool) {
    let flags = if full { SEEDS } else { "" };
    let ready = miri_ready(workspace);
    suites(tally, "miri", &ready, |log, package, programs| {
        let tests = miri_test(workspace, log, package, flags);
        let tests = tests.args(programs.split_whitespace());
        if full { tests.limit(NIGHT) } else { tests }
    });
}

pub fn miri_ready(workspace: &Workspace) -> Result<(), Stop> {
    rustup::nightly(workspace, "miri rust-src")
}

/// Returns the command `cargo miri test` for the package, without the choice of its test programs.
pub fn miri_test(workspace: &Workspace, log: &str, package: &str, flags: &str) -> Cmd {
    Cmd::cargo(workspace, log, &format!("+nightly miri test -p {package}"))
        .env("CARGO_TARGET_DIR", workspace.scratch("miri"))
        .env("MIRIFLAGS", flags)
}

pub fn tsan(workspace: &Workspace, tally: &mut Tally) {
    let ready = match OS {
        "linux" => rustup::nightly(workspace, "rust-src"),
        _ => Err(Stop::Skipped(format!("not set up for {OS}"))),
    };
    let target = format!("{ARCH}-unknown-linux-gnu");
    suites(tally, "tsan", &ready, |log, package, _| {
        let line = format!("+nightly test -Zbuild-std --tests --target {target} -p {package} --");
        Cmd::cargo(workspace, log, &line)
            .args(LEFT_OUT.iter().flat_map(|test| ["--skip", test]))
            .env("CARGO_TARGET_DIR", workspace.scratch("tsan"))
            .env("RUSTFLAGS", "-Zsanitizer=thread --cfg tidegate_tsan")
            .env("TSAN_OPTIONS", "halt_on_error=1")
    });
}

fn suites(
    tally: &mut Tally,
    tool: &str,
    ready: &Result<(), Stop>,
    tests: impl Fn(&str, &str, &str) -> Cmd,
) {
    for (package, programs) in SUITES {
        let name = format!("{tool} {package}");
        tally.run(&name, || {
            ready.clone()?;
            libtest::pass(tests(&name, package, programs))
        });
    }
}
