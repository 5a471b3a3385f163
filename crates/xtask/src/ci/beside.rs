//! The packages beside the workspace pass what its members pass, each with its own lock file.

use std::iter;

use crate::beside::{self, BESIDE, Beside};
use crate::command::{Cmd, in_turn};
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

/// rustfmt, clippy with the lints of the workspace, and rustdoc.
pub fn lints(workspace: &Workspace, tally: &mut Tally) {
    for beside in BESIDE {
        let name = format!("lints of {}", beside.folder);
        tally.run(&name, || lint(workspace, beside));
    }
}

/// Their tests, and the programs that are to be seen running.
pub fn tests(workspace: &Workspace, tally: &mut Tally) {
    for beside in beside::checked() {
        tally.run(&format!("tests of {}", beside.folder), || {
            let run = |args| beside.cargo(workspace, "run").args(["--", args]);
            let tests = beside.cargo(workspace, "test");
            in_turn(iter::once(tests).chain(beside.run.map(run)), "")
        });
    }
}

fn lint(workspace: &Workspace, beside: &Beside) -> Outcome {
    let line = format!("fmt --check --manifest-path {} -- -l", beside.manifest());
    let format = Cmd::cargo(workspace, &format!("fmt of {}", beside.folder), &line);
    if beside.measured {
        return format.outcome("");
    }
    let clippy = beside.cargo(workspace, "clippy");
    let clippy = clippy.args(["--all-targets", "--all-features", "--", "-D", "warnings"]);
    let clippy = clippy.args(workspace_lints(&workspace.read("Cargo.toml")?)?);
    let documentation = beside.library.then(|| {
        let documentation = beside.cargo(workspace, "doc").args(["--all-features"]);
        documentation
            .args(["--no-deps", "--document-private-items", "--lib"])
            .env("RUSTDOCFLAGS", "-D warnings")
    });
    let checks = [format, clippy].into_iter().chain(documentation);
    in_turn(checks, "")
}

/// The lints in the root manifest as arguments, because a package beside the workspace cannot inherit them.
fn workspace_lints(manifest: &str) -> Result<Vec<String>, String> {
    let table: toml::Table = manifest.parse().map_err(|e| format!("Cargo.toml: {e}"))?;
    let tools = table["workspace"].get("lints").and_then(|l| l.as_table());
    let mut found = Vec::new();
    for (tool, lints) in tools.into_iter().flatten() {
        for (lint, level) in lints.as_table().into_iter().flatten() {
            let level = level.get("level").unwrap_or(level).as_str();
            found.push(format!("--{}", level.ok_or("a lint has no level")?));
            found.push(match tool.as_str() {
                "rust" => lint.clone(),
                _ => format!("{tool}::{lint}"),
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_become_arguments_with_their_levels() {
        let text = "[workspace.lints.rust]\nold = { level = \"warn\", priority = 1 }\n\
                    [workspace.lints.clippy]\ntodo = \"deny\"";
        let expected = ["--deny", "clippy::todo", "--warn", "old"];
        assert_eq!(workspace_lints(text).unwrap(), expected);
    }
}
