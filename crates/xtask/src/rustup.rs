//! Adds the toolchains, components and targets that a check needs in addition to the default.
//!
//! rustup installs only what is missing. Without rustup, the check is skipped.

use std::time::Duration;

use crate::command::Cmd;
use crate::step::Stop;
use crate::workspace::Workspace;

/// The time limit for adding one toolchain, component or target.
const LIMIT: Duration = Duration::from_secs(120);

pub fn toolchain(workspace: &Workspace, name: &str) -> Result<(), Stop> {
    if has_toolchain(workspace, name) {
        return Ok(());
    }
    let line = format!("toolchain install {name} --profile minimal --no-self-update");
    add(workspace, &line)
}

/// Makes sure that the nightly toolchain has `components`. Does not install the toolchain itself.
pub fn nightly(workspace: &Workspace, components: &str) -> Result<(), Stop> {
    if !has_toolchain(workspace, "nightly") {
        let why = "toolchain nightly is not installed";
        return Err(Stop::Skipped(why.to_string()));
    }
    add(
        workspace,
        &format!("component add --toolchain nightly {components}"),
    )
}

fn has_toolchain(workspace: &Workspace, name: &str) -> bool {
    let version = Cmd::cargo(workspace, "rustup", &format!("+{name} --version"));
    version.succeed().is_ok()
}

/// Runs rustup. If it fails, the check is skipped.
pub fn add(workspace: &Workspace, line: &str) -> Result<(), Stop> {
    let rustup = Cmd::new(workspace, "rustup", "rustup").args(line.split(' '));
    rustup.limit(LIMIT).succeed().map(drop).map_err(|text| {
        let reason = text.trim_end().lines().last().unwrap_or_default();
        Stop::Skipped(format!("rustup {line}: {reason}"))
    })
}
