//! The checks that are one cargo command each.

use std::collections::BTreeSet;

use crate::command::Cmd;
use crate::loom::{self, GROUPS};
use crate::step::Outcome;
use crate::verdict;
use crate::workspace::Workspace;

/// Formatting is rustfmt's: prints the files that `cargo fmt` would change.
pub fn fmt(workspace: &Workspace) -> Outcome {
    Cmd::cargo(workspace, "fmt", "fmt --all --check -- -l").outcome("")
}

/// No warning of clippy, in tests and with every feature too.
pub fn clippy(workspace: &Workspace) -> Outcome {
    let line = "clippy --workspace --all-targets --all-features -- -D warnings";
    Cmd::cargo(workspace, "clippy", line).outcome("")
}

/// The same for the code that only loom sees.
pub fn clippy_loom(workspace: &Workspace) -> Outcome {
    let packages: BTreeSet<&str> = GROUPS.iter().map(|group| group.package).collect();
    loom::cargo(workspace, "clippy loom", "clippy --all-targets")
        .args(packages.iter().flat_map(|package| ["-p", package]))
        .args(["--", "-D", "warnings"])
        .outcome("")
}

/// No warning of rustdoc on any library, such as a link that leads nowhere.
pub fn rustdoc(workspace: &Workspace) -> Outcome {
    let line = "doc --workspace --all-features --no-deps --document-private-items --lib";
    Cmd::cargo(workspace, "rustdoc", line)
        .env("RUSTDOCFLAGS", "-D warnings")
        .outcome("")
}

/// The examples in the documentation run, with every feature.
pub fn doc_tests(workspace: &Workspace) -> Outcome {
    Cmd::cargo(
        workspace,
        "doc tests",
        "test --workspace --doc --all-features",
    )
    .outcome("")
}

/// What the runtime tells the `tracing` crate, which the ordinary tests are built without.
pub fn events(workspace: &Workspace) -> Outcome {
    let line = "test -p tidegate --features tracing --test events";
    verdict::pass(Cmd::cargo(workspace, "events", line))
}
