//! A command with a time limit, whose whole output is kept.
//!
//! The output goes to a file below the target folder, so that a long log is neither lost nor stuck
//! in a pipe. A command that is still running at its time limit is killed together with every
//! process that it has started. Commands read nothing from the terminal.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use wait_timeout::ChildExt;

use crate::step::{Outcome, Skipped};
use crate::workspace::{WORKSPACE, scratch};

/// The time limit of a command in a check that every change must pass.
pub const LIMIT: Duration = Duration::from_secs(15 * 60);

/// The time limit of a command in a nightly check.
pub const NIGHT: Duration = Duration::from_secs(12 * 60 * 60);

/// The time limit for adding one toolchain, component or target.
const DOWNLOAD: Duration = Duration::from_secs(120);

/// Variables that cargo and rustup set for their children. A check must not inherit them.
#[rustfmt::skip]
const NOT_INHERITED: [&str; 6] = [
    "CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS",
];

pub struct Cmd(Command, Duration);

impl Cmd {
    /// Creates a command that runs in the workspace's root.
    pub fn new(program: &str) -> Cmd {
        let mut command = Command::new(program);
        for variable in NOT_INHERITED {
            command.env_remove(variable);
        }
        Cmd(command, LIMIT).env("CARGO_TERM_COLOR", "never")
    }

    /// Returns the command `cargo` with the arguments and variables (`NAME=VALUE`) in `line`, which
    /// are separated by spaces. `{target}` stands for the target folder, `{root}` for the workspace's.
    pub fn cargo(line: &str) -> Cmd {
        let line = line
            .replace("{target}", WORKSPACE.target_directory.as_str())
            .replace("{root}", WORKSPACE.workspace_root.as_str());
        let words = line.split_whitespace();
        words.fold(Cmd::new("cargo"), |cargo, word| {
            match word.split_once('=') {
                Some((name, value)) if name == name.to_uppercase() => cargo.env(name, value),
                _ => cargo.args([word]),
            }
        })
    }

    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Cmd {
        self.0.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Cmd {
        self.0.env(name, value);
        self
    }

    /// Runs the command in this folder.
    pub fn within(mut self, folder: impl AsRef<Path>) -> Cmd {
        self.0.current_dir(folder);
        self
    }

    pub fn limit(self, limit: Duration) -> Cmd {
        Cmd(self.0, limit)
    }

    /// Returns the variables that are set, and the command line.
    pub fn shown(&self) -> String {
        format!("{:?}", self.0)
    }

    /// Runs a command that must succeed, and returns its output.
    pub fn succeed(self) -> Outcome {
        let (success, text) = self.run()?;
        ensure!(success, "{text}");
        Ok(text)
    }

    /// Runs the command to its end. Returns whether it succeeded, and the command line, followed by
    /// the whole output. It is an error if the command does not start, or does not end in time.
    pub fn run(mut self) -> Result<(bool, String)> {
        let shown = self.shown();
        let name = shown.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let file = scratch("logs").join(&name[name.len().saturating_sub(200)..]);
        fs::create_dir_all(scratch("logs"))?;
        let log = File::create(&file)?;
        let command = self.0.stdin(Stdio::null()).stdout(log.try_clone()?);
        let mut child = command.stderr(log).spawn().with_context(|| shown.clone())?;
        let status = child.wait_timeout(self.1)?;
        let output = fs::read(file)?;
        let output = String::from_utf8_lossy(&output);
        let text = format!("$ {shown}\n{output}");
        if let Some(status) = status {
            return Ok((status.success(), text));
        }
        end_family(&child.id().to_string());
        child.wait()?;
        bail!("{text}\nended after its limit of {:?}", self.1)
    }
}

/// Runs the commands until one fails, as one check. If all succeed, the check passes with `detail`.
pub fn in_turn(commands: impl IntoIterator<Item = Cmd>, detail: &str) -> Outcome {
    for command in commands {
        command.succeed()?;
    }
    Ok(detail.to_string())
}

/// Returns the command `git apply` for a patch of the repository.
pub fn apply_patch(option: &str, patch: &str) -> Cmd {
    let patch = WORKSPACE.workspace_root.join(patch);
    let git = Cmd::new("git").args(["apply", option, patch.as_str()]);
    // Otherwise git would ignore the patch in a folder of the repository.
    git.env("GIT_CEILING_DIRECTORIES", &WORKSPACE.target_directory)
}

/// Kills a process and then those that it has started, because a hanging test would keep the target
/// folder locked. The parent ends first, so that it does not start its next command.
fn end_family(parent: &str) {
    let children = Command::new("pgrep").args(["-P", parent]).output();
    let _ = Command::new("kill").args(["-KILL", parent]).output();
    let children = children.map(|found| found.stdout).unwrap_or_default();
    let children = String::from_utf8_lossy(&children);
    children.lines().for_each(end_family);
}

/// Runs rustup, which installs only what is missing. If it fails, the check is skipped.
pub fn rustup(line: &str) -> Result<()> {
    let rustup = Cmd::new("rustup").args(line.split(' ')).limit(DOWNLOAD);
    rustup.succeed().map(drop).map_err(|error| {
        let text = error.to_string();
        let reason = text.trim_end().lines().last().unwrap_or_default();
        anyhow!(Skipped(format!("rustup {line}: {reason}")))
    })
}

pub fn has_toolchain(name: &str) -> bool {
    let version = Cmd::cargo(&format!("+{name} --version"));
    version.succeed().is_ok()
}
