//! No dependency has a known vulnerability, according to cargo-deny and its database.

use std::time::Duration;

use crate::command::Cmd;
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
    deny("advisories", "check advisories").outcome("")
}
