//! Builds a program that has been laid out.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::lay::Laid;
use super::table::{Program, Target};
use crate::command::Cmd;
use crate::workspace::Workspace;

/// How long one build may take.
const LIMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// Which rayon-core a program is built with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// The published one.
    Stock,
    /// The one of this repository.
    Tidegate,
}

impl Build {
    /// Both.
    pub const ALL: [Build; 2] = [Build::Stock, Build::Tidegate];

    /// The name of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Build::Stock => "stock",
            Build::Tidegate => "tidegate",
        }
    }
}

/// Builds the program with optimisations, and returns the executables to run.
pub fn build(
    workspace: &Workspace,
    program: &Program,
    laid: &Laid,
    build: Build,
) -> Result<Vec<PathBuf>, String> {
    let line = match program.target {
        Target::Program(name) => format!("build --release --bin {name}"),
        Target::Tests(feature) => format!("test --no-run --release --tests --features {feature}"),
    };
    let name = format!("rayon-programs {} {}", program.name, build.name());
    let target = workspace.scratch("rayon-programs").join("target");
    let done = Cmd::cargo(workspace, &name, &line)
        .args(["--locked", "--message-format", "json-render-diagnostics"])
        .args([
            "--manifest-path".as_ref(),
            laid.copy(build).join("Cargo.toml").as_os_str(),
        ])
        .env("CARGO_TARGET_DIR", target.join(build.name()))
        .limit(LIMIT)
        .run()?;
    if !done.success() {
        return Err(without_messages(&done.text));
    }
    let found = executables(&done.text, program.target);
    if found.is_empty() {
        return Err(format!("cargo names no executable of {}", program.name));
    }
    Ok(found)
}

/// The executables in cargo's messages.
fn executables(text: &str, target: Target) -> Vec<PathBuf> {
    let messages = text.lines().filter(|line| line.starts_with('{'));
    let messages = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let wanted = |message: &Value| match target {
        Target::Program(name) => message["target"]["name"] == name,
        Target::Tests(_) => message["profile"]["test"] == true,
    };
    messages
        .filter(wanted)
        .filter_map(|message| Some(PathBuf::from(message["executable"].as_str()?)))
        .collect()
}

/// What cargo printed for people.
fn without_messages(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('{'));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"$ cargo build
   Compiling a v1.0.0
{"reason":"compiler-artifact","target":{"name":"a"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","target":{"name":"dust"},"profile":{"test":false},"executable":"/t/dust"}
{"reason":"compiler-artifact","target":{"name":"quick"},"profile":{"test":true},"executable":"/t/quick-1"}
{"reason":"build-finished","success":true}
    Finished"#;

    #[test]
    fn executables_are_those_of_the_target() {
        let found = |target| executables(TEXT, target);
        assert_eq!(found(Target::Program("dust")), [PathBuf::from("/t/dust")]);
        assert_eq!(found(Target::Tests("x")), [PathBuf::from("/t/quick-1")]);
        assert!(found(Target::Program("a")).is_empty());
    }

    #[test]
    fn errors_are_shown_without_messages() {
        assert_eq!(
            without_messages(TEXT),
            "$ cargo build\n   Compiling a v1.0.0\n    Finished"
        );
    }
}
