//! Runs every test of the published rayon on this repository's `rayon-core`: `cargo run -p xtask --
//! rayon`.
//!
//! Cargo fetches rayon and rayon-core. xtask lays them out below the target folder, as a workspace
//! that is patched to use our `rayon-core`: rayon as published, and rayon-core's tests in a package
//! without the code that they test. A test that does not pass has a row in `table` with the reason.
//! If a test with a row passes, the check fails.

mod core;
mod layout;
mod report;
mod table;

use std::path::Path;
use std::time::Duration;

use crate::command::{Cmd, in_turn};
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

use layout::OURS;
use table::{SUITES, Suite};

/// The time limit for all tests of one suite; they need only a fraction of it.
const LIMIT: Duration = Duration::from_secs(10 * 60);

pub fn run(workspace: &Workspace, tally: &mut Tally) {
    let mut folder = None;
    tally.run("rayon build", || {
        let published = layout::published(workspace)?;
        let versions = published
            .each_ref()
            .map(|package| package.version.to_string());
        // Each combination of versions has a separate folder, so that no file of an older version
        // remains.
        let laid = workspace.scratch("rayon").join(versions.join("-"));
        layout::write(workspace, &laid, &published)?;
        layout::verify(workspace, &laid)?;
        let builds = ["rayon", core::NAME].map(|package| {
            let name = format!("rayon build {package}");
            cargo(
                workspace,
                &laid,
                &name,
                &format!("test --no-run -p {package}"),
            )
        });
        in_turn(builds, "")?;
        folder = Some(laid);
        Ok(format!("{} with {OURS}", versions.join(" and ")))
    });
    let Some(folder) = folder else { return };
    for suite in SUITES {
        tally.run(suite.name, || check(workspace, &folder, suite));
    }
}

fn check(workspace: &Workspace, folder: &Path, suite: &Suite) -> Outcome {
    let line = format!("test --no-fail-fast {}", suite.programs);
    let mut command = cargo(workspace, folder, suite.name, &line).limit(LIMIT);
    if suite.help_any {
        command = command.env("TIDEGATE_WAIT", "help-any");
    }
    report::judge(suite, &command.run()?)
}

fn cargo(workspace: &Workspace, folder: &Path, name: &str, line: &str) -> Cmd {
    let manifest = folder.join("Cargo.toml");
    Cmd::cargo(workspace, name, line)
        .args(["--manifest-path".as_ref(), manifest.as_os_str()])
        .args([
            "--target-dir".as_ref(),
            workspace.scratch("rayon/target").as_os_str(),
        ])
}
