//! The published crates build with the oldest Rust that their manifests promise.

use crate::command::Cmd;
use crate::rustup;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Type-checks the published crates with that toolchain, adding it if it can be had.
pub fn check(workspace: &Workspace) -> Outcome {
    let Some(package) = workspace.packages.iter().find(|package| package.published) else {
        return Outcome::Skipped("no crate would be published".to_string());
    };
    let toolchain = match package.rust_version.matches('.').count() {
        1 => format!("{}.0", package.rust_version),
        _ => package.rust_version.clone(),
    };
    if let Err(why) = rustup::toolchain(workspace, &toolchain) {
        return Outcome::Skipped(why);
    }
    let command = Cmd::cargo(
        workspace,
        "msrv",
        &format!("+{toolchain} check --all-features"),
    )
    .args(workspace.published())
    .env("CARGO_TARGET_DIR", workspace.scratch("msrv"));
    command.outcome(&format!("Rust {toolchain}"))
}
