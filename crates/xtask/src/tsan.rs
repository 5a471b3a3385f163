//! ThreadSanitizer over the runtime crates' tests: `cargo run -p xtask -- tsan`.
//!
//! The standard library is built anew with the sanitizer, so that its own synchronisation is seen. Fences are not: the
//! configuration `tidegate_tsan` makes `sync` spell them as read-modify-writes. Tests that fork or limit the address space
//! leave themselves out by the same configuration. Needs a nightly toolchain with `rust-src` on Linux.

use std::env::consts::{ARCH, OS};

use crate::command::Cmd;
use crate::libtest;
use crate::rustup;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

const PACKAGES: [&str; 3] = ["tidegate-sync", "tidegate-deque", "tidegate"];

/// Tests deeper than the sanitizer's own stack of calls, or too long for it.
const LEFT_OUT: [&str; 4] = [
    "a_chain_of_joins_may_be_deeper_than_the_ring",
    "thieves_take_from_a_chain_deeper_than_the_ring",
    "a_chain_of_second_halves_may_be_as_deep_as_the_stack_allows",
    "endless_spawning_from_one_loop_needs_bounded_memory",
];

/// Runs the tests of every package.
pub fn run(workspace: &Workspace, tally: &mut Tally) {
    let ready = match OS {
        "linux" => rustup::nightly(workspace, &["rust-src"]),
        _ => Err(format!("not set up for {OS}")),
    };
    for package in PACKAGES {
        let name = format!("tsan {package}");
        tally.run(&name, || match &ready {
            Err(why) => Outcome::Skipped(why.clone()),
            Ok(()) => libtest::pass(tests(workspace, &name, package)),
        });
    }
}

fn tests(workspace: &Workspace, log: &str, package: &str) -> Cmd {
    let line = "+nightly test -Zbuild-std --tests --target";
    Cmd::cargo(workspace, log, line)
        .args([&format!("{ARCH}-unknown-linux-gnu"), "-p", package, "--"])
        .args(LEFT_OUT.iter().flat_map(|test| ["--skip", test]))
        .env("CARGO_TARGET_DIR", workspace.scratch("tsan"))
        .env("RUSTFLAGS", "-Zsanitizer=thread --cfg tidegate_tsan")
        .env("TSAN_OPTIONS", "halt_on_error=1")
}
