//! The packages beside the workspace pass what its members pass, each with its own lock file.

use std::fs;
use std::iter;

use crate::beside::{self, BESIDE, Beside};
use crate::command::{Cmd, in_turn};
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

/// What reads their sources: rustfmt, clippy with the lints of the workspace, and rustdoc.
pub fn lints(workspace: &Workspace, tally: &mut Tally) {
    for beside in BESIDE {
        tally.run(&format!("lints of {}", beside.folder), || {
            lint(workspace, beside).into()
        });
    }
}

/// What runs them: their tests, and the program itself if it is to be seen running.
pub fn tests(workspace: &Workspace, tally: &mut Tally) {
    for beside in beside::checked() {
        let run = |args: &str| {
            let program = beside.cargo(workspace, "run").args(["--"]);
            program.args(args.split_whitespace())
        };
        tally.run(&format!("tests of {}", beside.folder), || {
            let tests = beside.cargo(workspace, "test");
            in_turn(iter::once(tests).chain(beside.run.map(run)), "")
        });
    }
}

fn lint(workspace: &Workspace, beside: &Beside) -> Result<Outcome, String> {
    let format = format!("fmt --check --manifest-path {} -- -l", beside.manifest());
    let format = Cmd::cargo(workspace, &format!("fmt of {}", beside.folder), &format);
    if beside.measured {
        return Ok(format.outcome(""));
    }
    let clippy = beside
        .cargo(workspace, "clippy")
        .args(["--all-targets", "--all-features", "--", "-D", "warnings"])
        .args(workspace_lints(workspace)?);
    let documentation = beside.library.then(|| {
        let documentation = beside.cargo(workspace, "doc").args(["--all-features"]);
        documentation
            .args(["--no-deps", "--document-private-items", "--lib"])
            .env("RUSTDOCFLAGS", "-D warnings")
    });
    Ok(in_turn(
        [format, clippy].into_iter().chain(documentation),
        "",
    ))
}

/// The lints of the workspace as arguments, because a package beside it cannot inherit them.
fn workspace_lints(workspace: &Workspace) -> Result<Vec<String>, String> {
    let manifest = workspace.root.join("Cargo.toml");
    let trouble = |error: &dyn std::fmt::Display| format!("{}: {error}", manifest.display());
    let text = fs::read_to_string(&manifest).map_err(|error| trouble(&error))?;
    let table: toml::Table = text.parse().map_err(|error| trouble(&error))?;
    arguments(&table).ok_or_else(|| trouble(&"workspace.lints is not as cargo has it"))
}

/// The table `workspace.lints` of a manifest as arguments of the compiler.
fn arguments(manifest: &toml::Table) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let tools = manifest.get("workspace")?.get("lints")?.as_table()?;
    for (tool, lints) in tools {
        for (lint, level) in lints.as_table()? {
            let level = level.get("level").unwrap_or(level).as_str()?;
            found.push(format!("--{level}"));
            found.push(match tool.as_str() {
                "rust" => lint.clone(),
                _ => format!("{tool}::{lint}"),
            });
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_become_arguments_with_their_levels() {
        let text = "[workspace.lints.rust]\nmissing_docs = \"warn\"\nold = { level = \"deny\", priority = 1 }\n\
                    [workspace.lints.clippy]\ntodo = \"deny\"";
        assert_eq!(
            arguments(&text.parse().unwrap()).unwrap(),
            [
                "--deny",
                "clippy::todo",
                "--warn",
                "missing_docs",
                "--deny",
                "old"
            ]
        );
        assert_eq!(arguments(&toml::Table::new()), None);
    }

    #[test]
    fn the_workspace_has_lints_to_pass_on() {
        let workspace = Workspace::load().unwrap();
        assert!(!workspace_lints(&workspace).unwrap().is_empty());
    }
}
