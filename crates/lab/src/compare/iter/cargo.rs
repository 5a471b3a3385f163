//! The two programs, built from the checkout that this command was built from.

use std::env;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use tidegate_command::failure::Failure;

/// Where the programs' sources lie, from this package's folder.
const SOURCES: &str = "../../benches/iter";

/// The folder of the programs' packages.
fn folder() -> Result<PathBuf, Failure> {
    existing(Path::new(env!("CARGO_MANIFEST_DIR")).join(SOURCES))
}

fn existing(folder: PathBuf) -> Result<PathBuf, Failure> {
    folder.canonicalize().map_err(|error| {
        Failure::Impossible(format!(
            "{} cannot be opened: {error}; `compare iter` builds two programs from the checkout that this command was \
             built from: build the command again where the checkout is now",
            folder.display()
        ))
    })
}

/// Builds the program in the folder `side` with its lock file, and says where it lies.
///
/// On a terminal cargo shows its progress; elsewhere it prints nothing but errors.
pub fn build(side: &str) -> Result<PathBuf, Failure> {
    let manifest = folder()?.join(side).join("Cargo.toml");
    // Set by cargo for what it runs, so that the programs get the same toolchain.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    command
        .args(["build", "--release", "--locked"])
        .args(["--message-format", "json-render-diagnostics"])
        .arg("--manifest-path")
        .arg(&manifest)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    if !io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    let output = command.output().map_err(|error| {
        Failure::Impossible(format!(
            "{} cannot be started: {error}; `compare iter` builds two programs and needs cargo on the PATH",
            Path::new(&cargo).display()
        ))
    })?;
    if !output.status.success() {
        return Err(Failure::Impossible(format!(
            "cargo did not build {} ({}); its message is above",
            manifest.display(),
            output.status
        )));
    }
    executable(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| {
        Failure::Impossible(format!(
            "cargo built {} and named no program",
            manifest.display()
        ))
    })
}

/// The program among cargo's messages.
fn executable(messages: &str) -> Option<PathBuf> {
    let program = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message["executable"].as_str()?))
    };
    messages.lines().rev().find_map(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_message_with_an_executable() {
        let messages = concat!(
            "{\"reason\":\"compiler-artifact\",\"executable\":null}\n",
            "{\"reason\":\"compiler-artifact\",\"executable\":\"a/iter\"}\n",
            "{\"reason\":\"build-finished\",\"success\":true}\n",
            "no JSON\n",
        );
        assert_eq!(executable(messages), Some("a/iter".into()));
        assert_eq!(executable(""), None);
    }

    #[test]
    fn the_sources_are_here_and_a_checkout_that_is_gone_is_told() {
        for side in ["stock", "tidegate"] {
            let manifest = folder().unwrap().join(side).join("Cargo.toml");
            assert!(manifest.is_file(), "{}", manifest.display());
        }
        let told = existing("no/checkout".into()).unwrap_err().to_string();
        assert!(told.starts_with("no/checkout cannot be opened"), "{told}");
    }
}
