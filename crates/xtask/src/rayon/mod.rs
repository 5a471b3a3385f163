//! Runs every test of the published rayon on this repository's `rayon-core`: `cargo run -p xtask --
//! rayon`.
//!
//! Cargo fetches rayon and rayon-core. xtask lays them out below the target folder, as a workspace
//! that is patched to use our `rayon-core`: rayon as published, and rayon-core's tests in a package
//! without the code that they test. A test that does not pass has a row in `table` with the reason.
//! If a test with a row passes, the check fails.

mod core;
mod files;
mod layout;
mod published;
mod report;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use crate::command::{Cmd, in_turn};
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

use layout::OURS;
use published::{RAYON, RAYON_CORE};
use table::{SUITES, Suite};

/// The time limit for all tests of one suite; they need only a fraction of it.
const LIMIT: Duration = Duration::from_secs(10 * 60);

pub fn run(workspace: &Workspace, tally: &mut Tally) {
    let failed = tally.failed;
    tally.run("rayon build", || build(workspace));
    if tally.failed > failed {
        return;
    }
    for suite in SUITES {
        tally.run(suite.name, || check(workspace, suite));
    }
}

/// Lays the packages out, verifies that they use our `rayon-core`, and builds them.
fn build(workspace: &Workspace) -> Outcome {
    let folder = folder(workspace);
    let published = published::fetch(&folder.join("fetch"))?;
    layout::write(workspace, &folder, &published)?;
    layout::verify(workspace, &folder)?;
    let builds = ["rayon", core::NAME].map(|package| {
        let name = format!("rayon build {package}");
        cargo(workspace, &name, &format!("test --no-run -p {package}"))
    });
    in_turn(builds, &format!("with {OURS}"))
}

fn check(workspace: &Workspace, suite: &Suite) -> Outcome {
    let line = format!("test --no-fail-fast {}", suite.programs);
    let mut command = cargo(workspace, suite.name, &line).limit(LIMIT);
    if suite.help_any {
        command = command.env("TIDEGATE_WAIT", "help-any");
    }
    report::judge(suite, &command.run()?)
}

fn cargo(workspace: &Workspace, name: &str, line: &str) -> Cmd {
    let manifest = folder(workspace).join("Cargo.toml");
    let target = workspace.scratch("rayon").join("target");
    Cmd::cargo(workspace, name, line)
        .args(["--manifest-path".as_ref(), manifest.as_os_str()])
        .env("CARGO_TARGET_DIR", target)
}

/// Returns the folder of the packages. Each combination of rayon and rayon-core versions has a
/// separate folder, so that no file of an older version remains.
fn folder(workspace: &Workspace) -> PathBuf {
    let versions = format!("{RAYON}-{RAYON_CORE}");
    workspace.scratch("rayon").join(versions)
}
