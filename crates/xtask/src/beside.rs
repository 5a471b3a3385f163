//! Packages that belong to the repository but not to the cargo workspace. Their builds use a
//! different `rayon-core` than the workspace does, and one resolution can contain only one. So each
//! has its own lock file, and every check that covers the members must also cover them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use cargo_metadata::{MetadataCommand, Package};

use crate::command::{Cmd, in_turn};
use crate::step::{Outcome, Skipped};
use crate::workspace::{WORKSPACE, folder, scratch};

/// Only `tidegate-lab bench rayon-programs` builds these packages. Their dependencies are programs
/// to compare with, not part of the project, so `ci` checks only their format and whether their lock
/// files are up to date.
fn is_measured(package: &Package) -> bool {
    folder(package).starts_with("benches/rayon-programs/")
}

/// Returns the files that git tracks or would add, as paths from the root with `/`.
pub fn files() -> Result<Vec<String>> {
    let git = Cmd::new("git").args(["ls-files", "-co", "--exclude-standard"]);
    let mut files: Vec<_> = git.succeed()?.lines().map(str::to_string).collect();
    files.retain(|file| Path::new(file).is_file());
    Ok(files)
}

/// Returns these packages: all of which git has a manifest, except the members.
pub fn packages() -> Result<Vec<Package>> {
    let mut packages = Vec::new();
    for file in files()?.iter().filter(|file| file.ends_with("/Cargo.toml")) {
        let manifest = WORKSPACE.workspace_root.join(file);
        let mut members = WORKSPACE.packages.iter();
        if !members.any(|package| package.manifest_path == manifest) {
            let mut cargo = MetadataCommand::new();
            packages.extend(cargo.manifest_path(manifest).no_deps().exec()?.packages);
        }
    }
    Ok(packages)
}

/// Returns this command of cargo for a package, with its lock file.
pub fn locked(line: &str, package: &Package) -> Cmd {
    let manifest = format!("{}/Cargo.toml", folder(package));
    Cmd::cargo(&format!("{line} --locked --manifest-path {manifest}"))
}

/// Returns this command of cargo with the target folder that the packages outside the workspace
/// share, because they are built mostly from the same dependencies.
pub fn shared(line: &str) -> Cmd {
    Cmd::cargo(line).env("CARGO_TARGET_DIR", scratch("beside"))
}

/// Checks the formats of the packages outside the workspace, the lints, with the workspace's levels,
/// and the documentation of the library that users build into their programs.
pub fn lints() -> Outcome {
    let lints = workspace_lints()?;
    let packages = packages()?;
    for package in &packages {
        let manifest = format!("--manifest-path {}/Cargo.toml", folder(package));
        Cmd::cargo(&format!("fmt --check {manifest} -- -l")).succeed()?;
        if is_measured(package) {
            shared(&format!("update --workspace --locked {manifest}")).succeed()?;
        } else {
            let line = format!("clippy --all-targets --all-features --locked {manifest} --");
            shared(&line).args(["-Dwarnings"]).args(&lints).succeed()?;
        }
    }
    let line = "RUSTDOCFLAGS=-Dwarnings doc --all-features --no-deps --document-private-items --lib \
        --locked --manifest-path crates/rayon-core/Cargo.toml";
    in_turn([shared(line)], &format!("{} packages", packages.len()))
}

/// Runs the tests of the packages outside the workspace.
pub fn tests() -> Outcome {
    let mut packages = packages()?;
    packages.retain(|package| !is_measured(package));
    let target = "CARGO_TARGET_DIR={target}/xtask/beside test";
    in_turn(packages.iter().map(|package| locked(target, package)), "")
}

/// Runs both programs of `examples/held-lock` on the published rayon-core, where they deadlock, and
/// on Tidegate's, where they end.
pub fn held_lock() -> Outcome {
    for (build, expected) in [("stock", "deadlock"), ("tidegate", "ended")] {
        for program in ["held-lock", "bridge"] {
            let manifest = format!("examples/held-lock/{build}/Cargo.toml");
            let line = format!("run --quiet --locked --manifest-path {manifest} --bin {program}");
            let output = shared(&line).succeed()?;
            let ended = output.ends_with(&format!("\n{expected}\n"));
            ensure!(ended, "{output}\nexpected: {expected}");
        }
    }
    Ok("deadlock on the published rayon-core only".to_string())
}

/// Returns the lints in the root manifest as arguments, because a package outside the workspace
/// cannot inherit them.
fn workspace_lints() -> Result<Vec<String>> {
    let manifest: toml::Table = fs::read_to_string("Cargo.toml")?.parse()?;
    let mut found = Vec::new();
    for (tool, prefix) in [("rust", ""), ("clippy", "clippy::")] {
        let lints = manifest["workspace"]["lints"][tool].as_table();
        for (lint, level) in lints.into_iter().flatten() {
            let level = level.get("level").unwrap_or(level).as_str();
            let level = level.with_context(|| format!("the lint {lint} has no level"))?;
            found.push(format!("--{level}={prefix}{lint}"));
        }
    }
    Ok(found)
}

/// Skips a check if a command that it needs fails.
pub fn need(command: Cmd, why: &str) -> Outcome {
    let done = command.succeed();
    done.map_err(|_| anyhow!(Skipped(why.to_string())))
}

/// Finds dependencies of the workspace that no source names.
pub fn unused() -> Outcome {
    // Called by cargo, it takes its own name for a path if `cargo run` has set variables.
    let machete = |word| Cmd::new("cargo-machete").args([word]);
    need(machete("--version"), "cargo-machete is not installed")?;
    in_turn([machete("crates")], "")
}

/// Runs `cargo deny check` on the workspace and on each package outside it. The advisories are
/// skipped if they cannot be fetched.
pub fn deny(what: &str) -> Outcome {
    need(Cmd::cargo("deny --version"), "cargo-deny is not installed")?;
    if what == "advisories" {
        let why = "the advisories cannot be fetched";
        need(Cmd::cargo("deny fetch db"), why)?;
    }
    let mut packages = packages()?;
    packages.retain(|package| !is_measured(package));
    let manifests = packages.iter().map(|it| it.manifest_path.as_str());
    let checks = manifests.chain(["Cargo.toml"]).map(|manifest| {
        let line = "deny --all-features --locked --manifest-path";
        Cmd::cargo(&format!("{line} {manifest} check {what}"))
    });
    in_turn(checks, "")
}
