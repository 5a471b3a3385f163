//! Packages that belong to the repository but not to the cargo workspace, so that a build of the
//! workspace does not build them.
//!
//! Their builds use a different `rayon-core` than the workspace does, and one resolution can
//! contain only one. So each package has its own lock file, and every check that covers the
//! workspace members must also cover the packages in this table.

use std::iter;

use cargo_metadata::Package;

use crate::command::{Cmd, in_turn};
use crate::step::{Outcome, Tally};
use crate::workspace::{Workspace, describe};

pub struct Beside {
    pub folder: &'static str,
    /// Whether users build the package into their programs. If so, its documentation and its oldest
    /// Rust version matter to them.
    pub library: bool,
    /// The program's argument, if the tests also run the package as a program.
    pub run: Option<&'static str>,
    /// Whether only `tidegate-lab bench rayon-programs` builds the package. Its dependencies are
    /// programs to compare with, not part of the project, so `ci` checks only its format and whether
    /// its lock file is up to date.
    pub measured: bool,
}

#[rustfmt::skip]
pub const BESIDE: &[Beside] = &[
    Beside { folder: "crates/rayon-core", library: true, run: None, measured: false },
    Beside { folder: "examples/rayon-app", library: false, run: Some("docs"), measured: false },
    Beside { folder: "benches/iter/stock", library: false, run: None, measured: false },
    Beside { folder: "benches/iter/tidegate", library: false, run: None, measured: false },
    // Without a fuzzer, which needs a nightly toolchain, this is an ordinary program.
    Beside { folder: "fuzz", library: false, run: None, measured: false },
    Beside { folder: "benches/rayon-programs/stock", library: false, run: None, measured: true },
    Beside { folder: "benches/rayon-programs/tidegate", library: false, run: None, measured: true },
];

impl Beside {
    pub fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }

    /// Returns the command `cargo SUBCOMMAND` for this package, with its lock file.
    pub fn cargo(&self, workspace: &Workspace, subcommand: &str) -> Cmd {
        let log = format!("{subcommand} of {}", self.folder);
        Cmd::cargo(workspace, &log, subcommand)
            .args(["--locked", "--manifest-path", &self.manifest()])
            // All these packages share one target folder, because they are built mostly from the
            // same dependencies.
            .env("CARGO_TARGET_DIR", workspace.scratch("beside"))
    }
}

pub fn packages(workspace: &Workspace) -> Result<Vec<Package>, String> {
    let mut packages = Vec::new();
    for beside in BESIDE {
        let folder = workspace.root.join(beside.folder);
        packages.extend(describe(&folder, &["--no-deps", "--locked"])?.packages);
    }
    Ok(packages)
}

/// Returns the packages whose builds and dependencies are checked like those of workspace members.
pub fn checked() -> impl Iterator<Item = &'static Beside> {
    BESIDE.iter().filter(|beside| !beside.measured)
}

pub fn libraries() -> impl Iterator<Item = &'static Beside> {
    BESIDE.iter().filter(|beside| beside.library)
}

/// Runs rustfmt, clippy with the workspace's lints, and rustdoc on these packages.
pub fn lints(workspace: &Workspace, tally: &mut Tally) {
    for beside in BESIDE {
        let name = format!("lints of {}", beside.folder);
        tally.run(&name, || lint(workspace, beside));
    }
}

/// Runs the tests of these packages, and each program that has an argument.
pub fn tests(workspace: &Workspace, tally: &mut Tally) {
    for beside in checked() {
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
        let lock = beside.cargo(workspace, "update").args(["--workspace"]);
        return in_turn([format, lock], "");
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

/// Returns the lints in the root manifest as arguments, because a package outside the workspace
/// cannot inherit them.
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
