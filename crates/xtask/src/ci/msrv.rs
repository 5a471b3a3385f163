//! What programs of others are built with builds with the oldest Rust that the manifests promise.

use crate::beside::{self, Beside};
use crate::command::Cmd;
use crate::rustup;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

/// Type-checks the published crates together and each library beside the workspace, with that toolchain.
pub fn run(workspace: &Workspace, tally: &mut Tally) {
    tally.run("msrv", || published(workspace));
    for library in beside::libraries() {
        tally.run(&format!("msrv of {}", library.folder), || {
            alone(workspace, library).into()
        });
    }
}

fn published(workspace: &Workspace) -> Outcome {
    let Some(package) = workspace.packages.iter().find(|package| package.published) else {
        return Outcome::Skipped("no crate would be published".to_string());
    };
    with_oldest(workspace, &package.rust_version, |line| {
        Cmd::cargo(workspace, "msrv", line)
            .args(workspace.published())
            .env("CARGO_TARGET_DIR", workspace.scratch("msrv"))
    })
}

fn alone(workspace: &Workspace, library: &Beside) -> Result<Outcome, String> {
    let package = library.package(workspace)?;
    Ok(with_oldest(workspace, &package.rust_version, |line| {
        library.cargo(workspace, line)
    }))
}

/// Type-checks by the command for `line` with the toolchain of that version, adding it if it can be had.
fn with_oldest(
    workspace: &Workspace,
    rust_version: &str,
    command: impl FnOnce(&str) -> Cmd,
) -> Outcome {
    let toolchain = match rust_version.matches('.').count() {
        1 => format!("{rust_version}.0"),
        _ => rust_version.to_string(),
    };
    match rustup::toolchain(workspace, &toolchain) {
        Err(why) => Outcome::Skipped(why),
        Ok(()) => command(&format!("+{toolchain} check --all-features"))
            .outcome(&format!("Rust {toolchain}")),
    }
}
