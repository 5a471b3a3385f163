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

use anyhow::{Result, ensure};

use crate::command::{Cmd, LIMIT, NIGHT, has_toolchain, rustup};
use crate::libtest;
use crate::step::{Skipped, Tally};

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

/// Skips tests that need a deeper call stack than the sanitizer supports, or that take too long
/// under the sanitizer.
const LEFT_OUT: &str = "--skip join_chain_may_exceed_the_ring --skip thieves_steal_from_deep_chains \
    --skip second_halves_nest_to_stack_limit --skip endless_spawn_loop_needs_bounded_memory";

/// Makes sure that the nightly toolchain has `components`. Does not install the toolchain itself.
pub fn ready(components: &str) -> Result<()> {
    let why = "toolchain nightly is not installed";
    ensure!(has_toolchain("nightly"), Skipped(why.to_string()));
    rustup(&format!("component add --toolchain nightly {components}"))
}

/// Runs every suite under Miri, with the nightly schedules if `full`.
pub fn miri(tally: &mut Tally, full: bool) {
    let (flags, limit) = if full { (SEEDS, NIGHT) } else { ("", LIMIT) };
    for (package, programs) in SUITES {
        tally.run(&format!("miri {package}"), || {
            ready("miri rust-src")?;
            let tests = miri_test(package, flags).args(programs.split(' '));
            libtest::pass(tests.limit(limit))
        });
    }
}

/// Returns the command `cargo miri test` for the package, without the choice of its test programs.
pub fn miri_test(package: &str, flags: &str) -> Cmd {
    let line = format!("CARGO_TARGET_DIR={{target}}/xtask/miri +nightly miri test -p {package}");
    Cmd::cargo(&line).env("MIRIFLAGS", flags)
}

pub fn tsan(tally: &mut Tally) {
    for (package, _) in SUITES {
        tally.run(&format!("tsan {package}"), || {
            ensure!(OS == "linux", Skipped(format!("not set up for {OS}")));
            ready("rust-src")?;
            let line = format!(
                "TSAN_OPTIONS=halt_on_error=1 CARGO_TARGET_DIR={{target}}/xtask/tsan +nightly test \
                 -Zbuild-std --tests --target {ARCH}-unknown-linux-gnu -p {package} -- {LEFT_OUT}"
            );
            let flags = "-Zsanitizer=thread --cfg tidegate_tsan";
            libtest::pass(Cmd::cargo(&line).env("RUSTFLAGS", flags))
        });
    }
}
