//! ThreadSanitizer over the runtime crates' tests: `cargo run -p xtask -- tsan`.
//!
//! The standard library is built anew with the sanitizer, so that its own synchronisation is seen. Fences are not: the
//! configuration `tidegate_tsan` makes `sync` spell them as read-modify-writes. Needs a nightly toolchain with the
//! component `rust-src` on Linux; without it this check is skipped.

use crate::command::Cmd;
use crate::rustup;
use crate::step::{Outcome, Tally};
use crate::verdict;
use crate::workspace::Workspace;

/// The packages whose threads are watched.
pub const PACKAGES: &[(&str, &[&str])] = &[
    ("tidegate-sync", &["--tests"]),
    ("tidegate-deque", &["--tests"]),
    (
        "tidegate",
        &["--lib", "--test", "workers", "--test", "variables"],
    ),
];

/// Runs the tests of every package.
pub fn run(workspace: &Workspace, tally: &mut Tally) {
    let ready = target().and_then(|target| {
        rustup::nightly(workspace, &["rust-src"])?;
        Ok(target)
    });
    for (package, tests) in PACKAGES {
        tally.run(&format!("tsan {package}"), || match &ready {
            Err(why) => Outcome::Skipped(why.clone()),
            Ok(target) => check(workspace, package, tests, target),
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

fn check(workspace: &Workspace, package: &str, tests: &[&str], target: &str) -> Outcome {
    let command = Cmd::cargo(
        workspace,
        &format!("tsan {package}"),
        "+nightly test -Zbuild-std --target",
    )
    .args([target, "-p", package])
    .args(tests.iter().copied())
    .env("CARGO_TARGET_DIR", workspace.scratch("tsan"))
    .env("RUSTFLAGS", "-Zsanitizer=thread --cfg tidegate_tsan")
    .env("TSAN_OPTIONS", "halt_on_error=1");
    verdict::pass(command)
}
