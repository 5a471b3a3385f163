//! No dependency has a known vulnerability, according to cargo-deny and its database.

use std::iter;
use std::time::Duration;

use crate::beside::{self, Beside};
use crate::command::{Cmd, in_turn};
use crate::step::Outcome;
use crate::workspace::Workspace;

/// How long fetching the database may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Asks cargo-deny, if it is installed and can fetch its database.
pub fn check(workspace: &Workspace) -> Outcome {
    let deny =
        |name: &str, line: &str| Cmd::cargo(workspace, name, &format!("deny {line}")).limit(LIMIT);
    let succeeds = |name: &str, line: &str| deny(name, line).run().is_ok_and(|done| done.success());
    if !succeeds("advisories version", "--version") {
        return Outcome::Skipped("cargo-deny is not installed".to_string());
    }
    if !succeeds("advisories fetch", "fetch db") {
        return Outcome::Skipped("the advisory database cannot be fetched from here".to_string());
    }
    let configuration = workspace.root.join("deny.toml");
    let manifests =
        iter::once("Cargo.toml".to_string()).chain(beside::checked().map(Beside::manifest));
    let check = |manifest: String| {
        let line = format!("--manifest-path {manifest} check --config");
        let check = deny(&format!("advisories {manifest}"), &line);
        check.args([&configuration]).args(["advisories"])
    };
    in_turn(
        manifests.map(check),
        &format!("{} lock files", 1 + beside::checked().count()),
    )
}
