//! What cargo-deny says about the packages of others, as `deny.toml` asks: licences, bans and known vulnerabilities.

use std::iter;
use std::time::Duration;

use crate::beside::{self, Beside};
use crate::command::{Cmd, in_turn};
use crate::step::{Outcome, Stop};
use crate::workspace::Workspace;

/// How long fetching the database of advisories may take.
const LIMIT: Duration = Duration::from_secs(120);

const NOT_INSTALLED: &str = "cargo-deny is not installed";

/// Licences, and packages that are not wanted.
pub fn licences(workspace: &Workspace) -> Outcome {
    check(workspace, "bans licenses")
}

/// Known vulnerabilities, if the database can be fetched.
pub fn advisories(workspace: &Workspace) -> Outcome {
    need(workspace, "--version", NOT_INSTALLED)?;
    need(
        workspace,
        "fetch db",
        "the advisory database cannot be fetched",
    )?;
    check(workspace, "advisories")
}

/// Runs `cargo deny check` on the workspace and on each package beside it.
fn check(workspace: &Workspace, what: &str) -> Outcome {
    need(workspace, "--version", NOT_INSTALLED)?;
    let manifests = iter::once("Cargo.toml".to_string());
    let manifests = manifests.chain(beside::checked().map(Beside::manifest));
    let checks = manifests.map(|manifest| {
        let line = format!("--all-features --locked --manifest-path {manifest} check {what}");
        cargo_deny(workspace, &line)
    });
    in_turn(checks, "")
}

fn need(workspace: &Workspace, line: &str, otherwise: &str) -> Result<String, Stop> {
    let done = cargo_deny(workspace, line).succeed();
    done.map_err(|_| Stop::Skipped(otherwise.to_string()))
}

fn cargo_deny(workspace: &Workspace, line: &str) -> Cmd {
    Cmd::cargo(workspace, "deny", &format!("deny {line}")).limit(LIMIT)
}
