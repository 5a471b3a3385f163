//! Toolchains, components and targets that a check needs beyond the default.
//!
//! Each function asks rustup whether the thing is there and, if not, tries once to add it within a time limit. Its
//! error is the sentence that the check prints when it is skipped.

use std::time::Duration;

use crate::command::Cmd;
use crate::workspace::Workspace;

/// How long an attempt to add something may take.
const LIMIT: Duration = Duration::from_secs(120);

/// The toolchain whose unstable parts Miri and ThreadSanitizer need.
pub const NIGHTLY: &str = "nightly";

/// Makes sure that the toolchain `name` is there.
pub fn toolchain(workspace: &Workspace, name: &str) -> Result<(), String> {
    let add = [
        "toolchain",
        "install",
        name,
        "--profile",
        "minimal",
        "--no-self-update",
    ];
    ensure(workspace, &["toolchain", "list"], name, &add)
        .map_err(|why| format!("toolchain {name}: {why}"))
}

/// Makes sure that the nightly toolchain is there with `components`. The toolchain itself is not added.
pub fn nightly(workspace: &Workspace, components: &[&str]) -> Result<(), String> {
    let toolchains = list(workspace, &["toolchain", "list"])?;
    if !names(&toolchains, NIGHTLY) {
        return Err(format!("toolchain {NIGHTLY} is not installed"));
    }
    let installed = ["component", "list", "--installed", "--toolchain", NIGHTLY];
    for component in components {
        let add = ["component", "add", component, "--toolchain", NIGHTLY];
        ensure(workspace, &installed, component, &add)
            .map_err(|why| format!("component {component}: {why}"))?;
    }
    Ok(())
}

/// Makes sure that the standard library for `target` is there.
pub fn target(workspace: &Workspace, target: &str) -> Result<(), String> {
    let add = ["target", "add", target];
    ensure(workspace, &["target", "list", "--installed"], target, &add)
        .map_err(|why| format!("target {target}: {why}"))
}

fn ensure(
    workspace: &Workspace,
    installed: &[&str],
    name: &str,
    add: &[&str],
) -> Result<(), String> {
    if names(&list(workspace, installed)?, name) {
        return Ok(());
    }
    let done = Cmd::new(workspace, "rustup add", "rustup")
        .args(add)
        .limit(LIMIT)
        .run()?;
    if done.success() {
        return Ok(());
    }
    let reason = done.text.trim_end().lines().last().unwrap_or_default();
    Err(format!(
        "not installed, and rustup could not add it: {reason}"
    ))
}

fn list(workspace: &Workspace, args: &[&str]) -> Result<String, String> {
    let done = Cmd::new(workspace, "rustup list", "rustup")
        .args(args)
        .run();
    match done {
        Ok(done) if done.success() => Ok(done.text),
        _ => Err("rustup is not here to ask".to_string()),
    }
}

/// Whether a line of rustup's list is `name`, alone or followed by the host it is for.
fn names(list: &str, name: &str) -> bool {
    list.lines().any(|line| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ' ']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_with_its_host_and_not_inside_another() {
        let list = "$ rustup toolchain list\nstable-x86_64-unknown-linux-gnu (default)\n1.85.0-x86_64\nrust-src";
        assert!(names(list, "stable"));
        assert!(names(list, "1.85.0"));
        assert!(names(list, "rust-src"));
        assert!(!names(list, "1.85"));
        assert!(!names(list, "nightly"));
    }
}
