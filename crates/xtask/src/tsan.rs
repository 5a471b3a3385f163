//! ThreadSanitizer over the runtime crates' tests: `cargo run -p xtask -- tsan`.
//!
//! The standard library is built anew with the sanitizer, so that its own synchronisation is seen. Fences are not: the
//! configuration `tidegate_tsan` makes `sync` spell them as read-modify-writes. Needs a nightly toolchain with the
//! component `rust-src` on Linux; without it this check is skipped.

use crate::command::Cmd;
use crate::libtest;
use crate::rustup;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

/// A package whose threads are watched.
pub struct Package {
    name: &'static str,
    /// Tests that it cannot run, by their names or a part of them.
    left_out: &'static [&'static str],
    /// Why not.
    why: &'static str,
}

/// Every package. Tests that fork or limit the address space leave themselves out, by `cfg(tidegate_tsan)`.
pub const PACKAGES: &[Package] = &[
    Package {
        name: "tidegate-sync",
        left_out: &[],
        why: "",
    },
    Package {
        name: "tidegate-deque",
        left_out: &[],
        why: "",
    },
    Package {
        name: "tidegate",
        left_out: &[
            "a_chain_of_joins_may_be_deeper_than_the_ring",
            "thieves_take_from_a_chain_deeper_than_the_ring",
            "a_chain_of_second_halves_may_be_as_deep_as_the_stack_allows",
            "endless_spawning_from_one_loop_needs_bounded_memory",
        ],
        why: "deeper than the sanitizer's own stack of calls, or too long",
    },
];

/// Runs the tests of every package.
pub fn run(workspace: &Workspace, tally: &mut Tally) {
    let ready = target().and_then(|target| {
        rustup::nightly(workspace, &["rust-src"])?;
        Ok(target)
    });
    for package in PACKAGES {
        tally.run(&format!("tsan {}", package.name), || match &ready {
            Err(why) => Outcome::Skipped(why.clone()),
            Ok(target) => check(workspace, package, target),
        });
    }
}

/// The target of this machine, if the sanitizer knows it.
fn target() -> Result<String, String> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", arch @ ("x86_64" | "aarch64")) => Ok(format!("{arch}-unknown-linux-gnu")),
        (os, arch) => Err(format!("not set up for {os} on {arch}")),
    }
}

fn check(workspace: &Workspace, package: &Package, target: &str) -> Outcome {
    let command = Cmd::cargo(
        workspace,
        &format!("tsan {}", package.name),
        "+nightly test -Zbuild-std --tests --target",
    )
    .args([target, "-p", package.name, "--"])
    .args(package.left_out.iter().flat_map(|test| ["--skip", test]))
    .env("CARGO_TARGET_DIR", workspace.scratch("tsan"))
    .env("RUSTFLAGS", "-Zsanitizer=thread --cfg tidegate_tsan")
    .env("TSAN_OPTIONS", "halt_on_error=1");
    match (libtest::pass(command), package.left_out.len()) {
        (Outcome::Passed(count), many @ 1..) => {
            Outcome::Passed(format!("{count}; {many} left out: {}", package.why))
        }
        (outcome, _) => outcome,
    }
}
