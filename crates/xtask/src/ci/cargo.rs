//! Checks of what users build: with features, on other systems, with the oldest Rust, and from
//! packages. Also checks our dependencies, with cargo-deny and `deny.toml`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::iter;
use std::path::PathBuf;

use crate::beside::{self, Beside};
use crate::command::{Cmd, in_turn};
use crate::rustup;
use crate::step::{Outcome, Stop, Tally};
use crate::workspace::Workspace;

/// Other targets, each with the packages that are type-checked for it. Some dependencies of the
/// command and the laboratory don't compile for 32-bit targets.
const TARGETS: [(&str, &str); 5] = [
    ("aarch64-unknown-linux-gnu", "--workspace"),
    ("aarch64-apple-darwin", "--workspace"),
    ("x86_64-pc-windows-msvc", "--workspace"),
    ("i686-unknown-linux-gnu", "-p tidegate"),
    ("wasm32-unknown-unknown", "-p tidegate"),
];

/// Tests what needs a feature that the ordinary tests are built without: the libraries that have
/// features, and the test programs that require some.
pub fn features(workspace: &Workspace) -> Outcome {
    let mut line = "test --all-features --lib".to_string();
    for package in &workspace.packages {
        if !package.features.is_empty() {
            line += &format!(" -p {}", package.name);
            let targets = package.targets.iter();
            let tests = targets.filter(|it| it.is_test() && !it.required_features.is_empty());
            tests.for_each(|test| line += &format!(" --test {}", test.name));
        }
    }
    Cmd::cargo(workspace, "features", &line).outcome("")
}

/// Type-checks the packages in [`TARGETS`] and the libraries outside the workspace for each target
/// whose standard library is available.
pub fn targets(workspace: &Workspace, tally: &mut Tally) {
    for (target, packages) in TARGETS {
        let name = format!("check {target}");
        tally.run(&name, || {
            rustup::add(workspace, &format!("target add {target}"))?;
            let flags = format!("--all-features --target {target}");
            let line = format!("check --target-dir={{target}}/xtask/cross {packages} {flags}");
            let members = Cmd::cargo(workspace, &name, &line);
            let libraries = beside::libraries().map(|library| {
                let check = library.cargo(workspace, "check");
                check.args(flags.split(' '))
            });
            in_turn(iter::once(members).chain(libraries), "type-checked only")
        });
    }
}

/// Type-checks each package that users build, with the oldest Rust that its manifest promises.
pub fn msrv(workspace: &Workspace) -> Outcome {
    let mut oldest = BTreeMap::<String, String>::new();
    for package in workspace.published() {
        let version = package.rust_version.as_ref();
        let version = version.ok_or_else(|| format!("{} has no rust-version", package.name))?;
        *oldest.entry(version.to_string()).or_default() += &format!(" -p {}", package.name);
    }
    for version in oldest.keys() {
        rustup::toolchain(workspace, version)?;
    }
    let first = oldest.keys().next().ok_or("no crate is published")?;
    let libraries = beside::libraries().map(|library| {
        let check = library.cargo(workspace, &format!("+{first} check"));
        check.args(["--all-features"])
    });
    let members = oldest.iter().map(|(version, packages)| {
        let flags = "--all-features --target-dir={target}/xtask/msrv";
        let line = format!("+{version} check {flags}{packages}");
        Cmd::cargo(workspace, "msrv", &line)
    });
    let versions: Vec<&str> = oldest.keys().map(String::as_str).collect();
    in_turn(
        members.chain(libraries),
        &format!("Rust {}", versions.join(" and ")),
    )
}

/// Does everything that publishing the crates does, except the upload: builds each crate from the
/// packages of the other crates.
pub fn package(workspace: &Workspace) -> Outcome {
    forget(workspace);
    let line = "publish --workspace --dry-run --allow-dirty --target-dir={target}/xtask/package";
    Cmd::cargo(workspace, "package", line).outcome("packed and built, not uploaded")
}

/// Removes the packages that an earlier run packed and unpacked. Cargo never unpacks a version
/// twice, so it would build the new crates against the old ones.
fn forget(workspace: &Workspace) {
    let _ = fs::remove_dir_all(workspace.scratch("package"));
    let set = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = set.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let registries = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok());
    for registry in registries.into_iter().flatten().flatten() {
        // A registry without a host is a folder on this machine, such as the folder into which
        // cargo packs.
        if registry.file_name().as_encoded_bytes().starts_with(b"-") {
            for package in workspace.published() {
                let unpacked = format!("{}-{}", package.name, package.version);
                let _ = fs::remove_dir_all(registry.path().join(unpacked));
            }
        }
    }
}

pub fn licences(workspace: &Workspace) -> Outcome {
    need_deny(workspace, "--version", "cargo-deny is not installed")?;
    deny(workspace, "bans licenses")
}

/// Checks for known vulnerabilities, if the advisory database can be fetched.
pub fn advisories(workspace: &Workspace) -> Outcome {
    need_deny(workspace, "--version", "cargo-deny is not installed")?;
    need_deny(workspace, "fetch db", "the advisories cannot be fetched")?;
    deny(workspace, "advisories")
}

/// Skips the check for this reason if `cargo deny` does not succeed.
fn need_deny(workspace: &Workspace, line: &str, otherwise: &str) -> Result<(), Stop> {
    let done = Cmd::cargo(workspace, "deny", &format!("deny {line}")).succeed();
    done.map(drop)
        .map_err(|_| Stop::Skipped(otherwise.to_string()))
}

/// Runs `cargo deny check` on the workspace and on each package outside it.
fn deny(workspace: &Workspace, what: &str) -> Outcome {
    let manifests = iter::once("Cargo.toml".to_string());
    let manifests = manifests.chain(beside::checked().map(Beside::manifest));
    let checks = manifests.map(|manifest| {
        let line = format!("deny --all-features --locked --manifest-path {manifest} check {what}");
        Cmd::cargo(workspace, "deny", &line)
    });
    in_turn(checks, "")
}
