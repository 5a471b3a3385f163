//! Checks of what users build: with loom, on other systems, with the oldest Rust, and from
//! packages. Also checks our dependencies, with cargo-deny and `deny.toml`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::iter;
use std::path::PathBuf;
use std::time::Duration;

use cargo_metadata::Package;

use crate::beside::{self, Beside};
use crate::command::{Cmd, in_turn};
use crate::loom;
use crate::rustup;
use crate::step::{Outcome, Stop, Tally};
use crate::workspace::Workspace;

/// The clippy command for the packages that have loom models.
const MODELS: &str = "clippy --lib --tests -p tidegate-sync -p tidegate-deque -p tidegate-core -p tidegate -- -D warnings";

/// The clippy command for the packages that may use atomics, locks, threads and the clock only
/// through `sync`.
const BEHIND_SYNC: &str = "clippy --lib -p tidegate-policy -p tidegate-deque -p tidegate-share \
    -p tidegate-machine -p tidegate-core -p tidegate -- --no-deps -D warnings -D clippy::disallowed_types \
    -D clippy::disallowed_methods";

/// Other targets, each with the packages that are type-checked for it. Some dependencies of the
/// command and the laboratory don't compile for 32-bit targets.
const TARGETS: [(&str, &str); 5] = [
    ("aarch64-unknown-linux-gnu", "--workspace"),
    ("aarch64-apple-darwin", "--workspace"),
    ("x86_64-pc-windows-msvc", "--workspace"),
    ("i686-unknown-linux-gnu", "-p tidegate"),
    ("wasm32-unknown-unknown", "-p tidegate"),
];

/// Runs clippy on the code that is built only for loom. There, the types in `sync` are loom's, so
/// clippy can find uses of the standard library's types, which `clippy.toml` lists.
pub fn clippy_loom(workspace: &Workspace) -> Outcome {
    let clippy = |line| loom::cargo(workspace, "clippy loom", line);
    in_turn([MODELS, BEHIND_SYNC].map(clippy), "")
}

/// Builds the documentation of every library, with warnings as errors.
pub fn rustdoc(workspace: &Workspace) -> Outcome {
    let line = "doc --workspace --all-features --no-deps --document-private-items --lib";
    let doc = Cmd::cargo(workspace, "rustdoc", line);
    doc.env("RUSTDOCFLAGS", "-D warnings").outcome("")
}

/// Tests what needs a feature that the ordinary tests are built without: the libraries that have
/// features, and the test programs that require some.
pub fn features(workspace: &Workspace) -> Outcome {
    let test = Cmd::cargo(workspace, "features", "test --all-features --lib");
    test.args(with_features(&workspace.packages)).outcome("")
}

/// Returns the arguments that choose the packages with features and their test programs that
/// require some.
fn with_features(packages: &[Package]) -> Vec<String> {
    let with = packages
        .iter()
        .filter(|package| !package.features.is_empty());
    let chosen = with.flat_map(|package| {
        let tests = package.targets.iter().filter(|target| target.is_test());
        let tests = tests.filter(|target| !target.required_features.is_empty());
        let tests = tests.map(|target| format!("--test={}", target.name));
        iter::once(format!("-p={}", package.name)).chain(tests)
    });
    chosen.collect()
}

/// Type-checks the packages in [`TARGETS`] and the libraries outside the workspace for each target
/// whose standard library is available.
pub fn targets(workspace: &Workspace, tally: &mut Tally) {
    for (target, packages) in TARGETS {
        let name = format!("check {target}");
        tally.run(&name, || {
            rustup::target(workspace, target)?;
            let line = format!("check {packages} --all-features --target {target}");
            let members = Cmd::cargo(workspace, &name, &line)
                .env("CARGO_TARGET_DIR", workspace.scratch("cross"));
            let libraries = beside::libraries().map(|library| {
                let check = library.cargo(workspace, "check");
                check.args(["--all-features", "--target", target])
            });
            in_turn(iter::once(members).chain(libraries), "type-checked only")
        });
    }
}

/// Type-checks each package that users build, with the oldest Rust that its manifest promises.
pub fn msrv(workspace: &Workspace) -> Outcome {
    let mut oldest = BTreeMap::<String, Vec<String>>::new();
    for package in workspace.published() {
        let version = package.rust_version.as_ref();
        let version = version.ok_or_else(|| format!("{} has no rust-version", package.name))?;
        let packages = oldest.entry(version.to_string()).or_default();
        packages.push(format!("-p={}", package.name));
    }
    for version in oldest.keys() {
        rustup::toolchain(workspace, version)?;
    }
    let first = oldest.keys().next().ok_or("no crate is published")?;
    let libraries = beside::libraries().map(|it| it.cargo(workspace, &format!("+{first} check")));
    let members = oldest.iter().map(|(version, packages)| {
        Cmd::cargo(workspace, "msrv", &format!("+{version} check"))
            .args(packages)
            .env("CARGO_TARGET_DIR", workspace.scratch("msrv"))
    });
    let checks = members.chain(libraries);
    let checks = checks.map(|check| check.args(["--all-features"]));
    let versions: Vec<&str> = oldest.keys().map(String::as_str).collect();
    in_turn(checks, &format!("Rust {}", versions.join(" and ")))
}

/// Does everything that publishing the crates does, except the upload: builds each crate from the
/// packages of the other crates.
pub fn package(workspace: &Workspace) -> Outcome {
    forget(workspace);
    let line = "publish --workspace --dry-run --allow-dirty";
    let publish = Cmd::cargo(workspace, "package", line);
    let publish = publish.env("CARGO_TARGET_DIR", workspace.scratch("package"));
    publish.outcome("packed and built, not uploaded")
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
    check(workspace, "bans licenses")
}

/// Checks for known vulnerabilities, if the advisory database can be fetched.
pub fn advisories(workspace: &Workspace) -> Outcome {
    need(
        cargo_deny(workspace, "--version"),
        "cargo-deny is not installed",
    )?;
    let fetch = cargo_deny(workspace, "fetch db");
    need(fetch, "the advisories cannot be fetched")?;
    check(workspace, "advisories")
}

/// Runs `cargo deny check` on the workspace and on each package outside it.
fn check(workspace: &Workspace, what: &str) -> Outcome {
    need(
        cargo_deny(workspace, "--version"),
        "cargo-deny is not installed",
    )?;
    let manifests = iter::once("Cargo.toml".to_string());
    let manifests = manifests.chain(beside::checked().map(Beside::manifest));
    let checks = manifests.map(|manifest| {
        let line = format!("--all-features --locked --manifest-path {manifest} check {what}");
        cargo_deny(workspace, &line)
    });
    in_turn(checks, "")
}

/// Runs a command that a check needs. If the command fails, the check is skipped for the reason in
/// `otherwise`.
fn need(command: Cmd, otherwise: &str) -> Result<String, Stop> {
    let done = command.succeed();
    done.map_err(|_| Stop::Skipped(otherwise.to_string()))
}

fn cargo_deny(workspace: &Workspace, line: &str) -> Cmd {
    let deny = Cmd::cargo(workspace, "deny", &format!("deny {line}"));
    deny.limit(Duration::from_secs(120))
}
