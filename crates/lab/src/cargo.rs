//! Runs cargo on packages of the checkout that this command was built from.

use std::env;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use tidegate_cli_support::failure::Failure;

const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns the path of a file or folder in the checkout. Fails if it does not exist.
pub fn checkout(path: &str) -> Result<PathBuf, Failure> {
    existing(Path::new(CHECKOUT).join(path))
}

fn existing(path: PathBuf) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| {
        Failure::Impossible(format!(
            "{} cannot be opened: {error}; programs are built from the checkout that this command was built from: \
             build the command again where the checkout is now",
            path.display()
        ))
    })
}

/// Builds the targets that `arguments` select from the package at `manifest`, with `--release` and
/// `--locked`. Returns the executables. If `target` is given, it replaces the package's own target
/// folder.
///
/// Cargo shows its progress on a terminal; otherwise it prints only errors.
pub fn build(
    manifest: &Path,
    arguments: &[&str],
    target: Option<&Path>,
) -> Result<Vec<PathBuf>, Failure> {
    let mut command = cargo(manifest, arguments);
    command
        .args(["--release", "--locked"])
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit());
    if !io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    if let Some(target) = target {
        command.env("CARGO_TARGET_DIR", target);
    }
    let output = output(&mut command)?;
    let failed = |what: String| Failure::Impossible(format!("cargo {what}"));
    if !output.status.success() {
        return Err(failed(format!(
            "did not build {} ({}); its message is above",
            manifest.display(),
            output.status
        )));
    }
    match executables(&String::from_utf8_lossy(&output.stdout)) {
        none if none.is_empty() => Err(failed(format!(
            "built {} and named no program",
            manifest.display()
        ))),
        found => Ok(found),
    }
}

/// Returns the output of `cargo metadata` for the package at `manifest`.
pub fn metadata(manifest: &Path, argument: &str) -> Result<Value, Failure> {
    let mut command = cargo(manifest, &["metadata", "--format-version", "1", argument]);
    let output = output(command.stderr(Stdio::piped()))?;
    let failed = |why: &dyn std::fmt::Display| {
        Failure::Impossible(format!("{}: cargo metadata: {why}", manifest.display()))
    };
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        return Err(failed(&messages.trim_end()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))
}

fn cargo(manifest: &Path, arguments: &[&str]) -> Command {
    // Cargo sets this variable for its children. With it, the programs are built with the same
    // toolchain.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(arguments)
        .arg("--manifest-path")
        .arg(manifest)
        .stdin(Stdio::null());
    command
}

fn output(command: &mut Command) -> Result<Output, Failure> {
    command.output().map_err(|error| {
        Failure::Impossible(format!(
            "{} cannot be started: {error}; programs are built with cargo, which must be on the PATH",
            Path::new(command.get_program()).display()
        ))
    })
}

/// Extracts the paths of executables from cargo's JSON messages.
fn executables(messages: &str) -> Vec<PathBuf> {
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message["executable"].as_str()?))
    };
    messages.lines().filter_map(executable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_checkout_is_reported() {
        let told = existing("no/checkout".into()).unwrap_err().to_string();
        assert!(told.starts_with("no/checkout cannot be opened"), "{told}");
    }
}
