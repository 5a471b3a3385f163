//! What cargo-deny says about the packages of others, as `deny.toml` asks: licences, bans and known vulnerabilities.

use std::iter;
use std::time::Duration;

use crate::beside::{self, Beside};
use crate::command::{Cmd, in_turn};
use crate::step::Outcome;
use crate::workspace::Workspace;

/// How long fetching the database of advisories may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Licences, and packages that are not wanted.
pub fn licences(workspace: &Workspace) -> Outcome {
    check(workspace, "bans licenses")
}

/// Known vulnerabilities, if the database can be fetched.
pub fn advisories(workspace: &Workspace) -> Outcome {
    if is_installed(workspace) && !succeeds(workspace, "deny fetch db") {
        return Outcome::Skipped("the advisory database cannot be fetched".to_string());
    }
    check(workspace, "advisories")
}

/// Runs `cargo deny check` on the workspace and on each package beside it.
fn check(workspace: &Workspace, what: &str) -> Outcome {
    if !is_installed(workspace) {
        return Outcome::Skipped("cargo-deny is not installed".to_string());
    }
    let manifests = iter::once("Cargo.toml".to_string());
    let manifests: Vec<String> = manifests
        .chain(beside::checked().map(Beside::manifest))
        .collect();
    let checks = manifests.iter().map(|manifest| {
        let line = format!("deny --all-features --locked --manifest-path {manifest} check");
        Cmd::cargo(workspace, &format!("deny {manifest}"), &line).args(what.split(' '))
    });
    in_turn(checks, &format!("{} lock files", manifests.len()))
}

fn is_installed(workspace: &Workspace) -> bool {
    succeeds(workspace, "deny --version")
}

fn succeeds(workspace: &Workspace, line: &str) -> bool {
    let done = Cmd::cargo(workspace, line, line).limit(LIMIT).run();
    done.is_ok_and(|done| done.success())
}
