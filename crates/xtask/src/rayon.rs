//! Runs every test of the published rayon on this repository's `rayon-core`: `cargo run -p xtask --
//! ci rayon`.
//!
//! Cargo fetches rayon and rayon-core. xtask copies them below the target folder, as a workspace
//! that is patched to use our `rayon-core`: rayon as published, and rayon-core under another name,
//! so that its tests use ours. The tests in `crates/xtask/rayon/left-out.patch` are not compiled.

use std::fs;
use std::time::Duration;

use anyhow::{Context, ensure};
use cargo_metadata::MetadataCommand;

use crate::command::{Cmd, apply_patch};
use crate::libtest;
use crate::step::{Outcome, Tally};
use crate::workspace::{WORKSPACE, scratch};

/// The folder of this check's own files.
const FILES: &str = "crates/xtask/rayon";

/// These files, and where they go in the workspace.
const LAID: [(&str, &str); 3] = [
    ("workspace.toml", "Cargo.toml"),
    ("core.toml", "core/Cargo.toml"),
    ("around.rs", "core/src/around.rs"),
];

const OURS: &str = "crates/rayon-core";

/// A package that depends on the published rayon and rayon-core. Its lock file fixes their versions.
const DEPENDENT: &str = "benches/iter/stock";

/// A row's name, the arguments of cargo, and how many tests pass and fail. Rayon itself ignores three
/// more: two that `stack_overflow_crash` starts, and one that counts to the largest number, one by
/// one.
struct Suite(&'static str, &'static str, [usize; 2]);

/// Waiting threads of our rayon-core run only tasks that they are waiting for. Four tests, which are
/// called `mixed`, expect the end of an inner scope to run a task of the outer one. They fail unless
/// waiting threads may help any.
#[rustfmt::skip]
const SUITES: &[Suite] = &[
    Suite("rayon-core tests", "-p rayon-core-tests --tests -- --skip scope::test::mixed_lifo --skip scope::test::mixed_fifo", [103, 0]),
    Suite("rayon-core tests that differ", "-p rayon-core-tests --test units -- scope::test::mixed_lifo scope::test::mixed_fifo", [0, 4]),
    Suite("with waits that help anybody", "TIDEGATE_WAIT=help-any -p rayon-core-tests --test units", [98, 0]),
    Suite("rayon-core doc tests", "-p rayon-core-tests --doc", [27, 0]),
    Suite("rayon tests", "-p rayon --tests", [332, 0]),
    Suite("rayon doc tests", "-p rayon --doc", [246, 0]),
];

/// The time limit for all tests of one suite; they need only a fraction of it.
const LIMIT: Duration = Duration::from_secs(10 * 60);

pub fn run(tally: &mut Tally) {
    if tally.run("rayon build", build) {
        for Suite(name, line, expected) in SUITES {
            let line = format!("test --no-fail-fast {line}");
            let [passed, failed] = *expected;
            let judge = |result| libtest::judge(result, passed..=passed, failed);
            tally.run(name, || judge(cargo(&line).run()?));
        }
    }
}

/// Lays out the workspace, and builds its tests.
fn build() -> Outcome {
    let mut metadata = MetadataCommand::new();
    metadata.current_dir(DEPENDENT);
    metadata.other_options(["--locked".to_string()]);
    let packages = metadata.exec()?.packages;
    let mut versions = Vec::new();
    for (name, copy) in [("rayon", "rayon"), ("rayon-core", "core")] {
        let package = packages.iter().find(|package| package.name == name);
        let package = package.with_context(|| format!("{DEPENDENT} does not depend on {name}"))?;
        versions.push(package.version.to_string());
        let copy = scratch("rayon").join(copy);
        let _ = fs::remove_dir_all(&copy);
        fs::create_dir_all(&copy)?;
        // The copies keep the files' times, so that cargo rebuilds little.
        let files = [package.manifest_path.with_file_name(".").into(), copy];
        Cmd::new("cp").args(["-Rp"]).args(files).succeed()?;
    }
    let ours = WORKSPACE.workspace_root.join(OURS);
    for (file, to) in LAID {
        let text = fs::read_to_string(format!("{FILES}/{file}"))?;
        let text = text.replace("{ours}", ours.as_str());
        fs::write(scratch("rayon").join(to), text)?;
    }
    let patch = apply_patch("--verbose", &format!("{FILES}/left-out.patch"));
    patch.within(scratch("rayon")).succeed()?;
    // This lock file fixes the versions with which rayon was published. It is copied only once,
    // because cargo then adds the packages that it lacks, and later runs must use the same versions
    // of those packages.
    let lock = scratch("rayon/Cargo.lock");
    if !lock.exists() {
        fs::copy(scratch("rayon/rayon/Cargo.lock"), &lock)?;
    }
    cargo("test --no-run --workspace").succeed()?;
    let used = cargo("pkgid rayon-core").succeed()?;
    let advice = "ours must have the version of the published one; if it has, remove the lock file";
    let ours = format!("{OURS}#{}", versions[1]);
    ensure!(used.contains(&ours), "{used}{}: {advice}", lock.display());
    let grep = Cmd::new("grep").args(["-rhx", "#.test.", "src"]);
    let tests = grep.within(scratch("rayon/core")).succeed()?;
    let number = format!("\n{} tests, ", tests.lines().count() - 1);
    let declared = cargo("test -p rayon-core-tests --test units -- --list").succeed()?;
    let advice = "declare the modules of all unit tests in around.rs";
    ensure!(declared.contains(&number), "{declared}{tests}{advice}");
    Ok(format!("{} with {OURS}", versions.join(" and ")))
}

/// Returns a command of cargo in the workspace.
fn cargo(line: &str) -> Cmd {
    let target = "CARGO_TARGET_DIR={target}/xtask/rayon/target";
    let cargo = Cmd::cargo(&format!("{target} {line}"));
    cargo.within(scratch("rayon")).limit(LIMIT)
}
