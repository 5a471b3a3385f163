//! A command with a time limit, whose whole output is kept.
//!
//! The output goes to a file below the target folder, so that a long log is neither lost nor stuck
//! in a pipe. A command that is still running at its time limit is killed together with every
//! process that it has started. Commands read nothing from the terminal.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use wait_timeout::ChildExt;

use crate::step::Outcome;
use crate::workspace::Workspace;

/// The time limit of a command in a check that every change must pass.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// The time limit of a command in a nightly check.
pub const NIGHT: Duration = Duration::from_secs(12 * 60 * 60);

/// Variables that cargo and rustup set for their children. A check must not inherit them.
#[rustfmt::skip]
const NOT_INHERITED: [&str; 6] = [
    "CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS",
];

pub struct Cmd {
    command: Command,
    shown: String,
    log: PathBuf,
    limit: Duration,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum End {
    Success,
    /// The command failed, or a signal has ended it.
    Failure,
    TimeOut,
}

pub struct Done {
    pub end: End,
    /// The command line, followed by the whole output.
    pub text: String,
}

impl Done {
    pub fn success(&self) -> bool {
        self.end == End::Success
    }
}

impl Cmd {
    /// Creates a command that runs in the workspace's root. Its output is kept under `name`.
    pub fn new(workspace: &Workspace, name: &str, program: &str) -> Cmd {
        let mut command = Command::new(program);
        command.current_dir(&workspace.root).stdin(Stdio::null());
        command.env("CARGO_TERM_COLOR", "never");
        for variable in NOT_INHERITED {
            command.env_remove(variable);
        }
        let log = format!("{}.log", name.replace([' ', '/', ':'], "-"));
        Cmd {
            command,
            shown: program.to_string(),
            log: workspace.scratch("logs").join(log),
            limit: LIMIT,
        }
    }

    /// Returns the command `cargo` with the arguments and variables (`NAME=VALUE`) in `line`, which
    /// are separated by spaces. `{target}` stands for the target folder.
    pub fn cargo(workspace: &Workspace, name: &str, line: &str) -> Cmd {
        let line = line.replace("{target}", &workspace.target.display().to_string());
        let words = line.split_whitespace();
        let (variables, args): (Vec<&str>, Vec<&str>) =
            words.partition(|word| word.starts_with(char::is_uppercase) && word.contains('='));
        let cargo = Cmd::new(workspace, name, "cargo").args(args);
        let variables = variables.iter().filter_map(|word| word.split_once('='));
        variables.fold(cargo, |cargo, (name, value)| cargo.env(name, value))
    }

    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Cmd {
        for arg in args {
            self.shown.push(' ');
            self.shown.push_str(&arg.as_ref().to_string_lossy());
            self.command.arg(arg);
        }
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Cmd {
        self.shown = format!("{name}={:?} {}", value.as_ref(), self.shown);
        self.command.env(name, value);
        self
    }

    pub fn limit(mut self, limit: Duration) -> Cmd {
        self.limit = limit;
        self
    }

    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Runs the command as a check. If the command succeeds, the check passes with `detail`.
    pub fn outcome(self, detail: &str) -> Outcome {
        self.succeed()?;
        Ok(detail.to_string())
    }

    /// Runs a command that must succeed, and returns its output.
    pub fn succeed(self) -> Result<String, String> {
        let done = self.run()?;
        if done.success() {
            Ok(done.text)
        } else {
            Err(done.text)
        }
    }

    /// Runs the command to its end or its time limit. Returns an error if it could not be started.
    pub fn run(mut self) -> Result<Done, String> {
        let result = self.run_logged();
        let (end, output) = result.map_err(|error| format!("{}: {error}", self.shown))?;
        let mut text = format!("$ {}\n{}", self.shown, String::from_utf8_lossy(&output));
        if end == End::TimeOut {
            let limit = self.limit.as_secs();
            text.push_str(&format!("\nended after its limit of {limit} s\n"));
        }
        Ok(Done { end, text })
    }

    fn run_logged(&mut self) -> io::Result<(End, Vec<u8>)> {
        self.log.parent().map_or(Ok(()), fs::create_dir_all)?;
        let log = File::create(&self.log)?;
        let command = self.command.stdout(log.try_clone()?).stderr(log);
        let end = wait(&mut command.spawn()?, self.limit)?;
        Ok((end, fs::read(&self.log)?))
    }
}

/// Runs the commands until one fails, as one check. If all succeed, the check passes with `detail`.
pub fn in_turn(commands: impl IntoIterator<Item = Cmd>, detail: &str) -> Outcome {
    for command in commands {
        command.succeed()?;
    }
    Ok(detail.to_string())
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<End> {
    match child.wait_timeout(limit)? {
        Some(status) if status.success() => return Ok(End::Success),
        Some(_) => return Ok(End::Failure),
        None => end_family(child.id()),
    }
    // The child has usually ended by now. This kills it on systems on which its descendants could
    // not be listed.
    let _ = child.kill();
    child.wait()?;
    Ok(End::TimeOut)
}

/// Kills `ancestor` and the processes that it has started, because a hanging test would keep the
/// target folder locked.
fn end_family(ancestor: u32) {
    let listing = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output();
    let listing = listing.map(|output| output.stdout).unwrap_or_default();
    let listing = String::from_utf8_lossy(&listing).into_owned();
    let pairs = listing.lines().filter_map(|line| {
        let (process, parent) = line.trim().split_once(' ')?;
        Some((process.parse().ok()?, parent.trim().parse().ok()?))
    });
    let pairs: Vec<(u32, u32)> = pairs.collect();
    let mut family = vec![ancestor];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        let children = pairs.iter().filter(|pair| pair.1 == parent);
        family.extend(children.map(|pair| pair.0));
        next += 1;
    }
    // Parents come first, so that none of them starts its next command. Processes that have already
    // ended do not matter.
    let ids = family.iter().map(u32::to_string);
    let _ = Command::new("kill").arg("-KILL").args(ids).output();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Cmd {
        let workspace = Workspace::load().unwrap();
        let name = format!("test {:?}", std::thread::current().id());
        Cmd::new(&workspace, &name, "sh").args(["-c", script])
    }

    #[test]
    fn limit_kills_all_descendants() {
        let command = shell("sleep 1000; echo $((6 * 7))");
        let done = command.limit(Duration::from_millis(50)).run().unwrap();
        assert_eq!(done.end, End::TimeOut);
        assert!(!done.text.contains("42"), "{}", done.text);
    }
}
