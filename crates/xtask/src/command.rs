//! A command with a time limit whose whole output is kept.
//!
//! Output goes to a file below the target folder, so that a long log is neither lost nor held in a pipe. A command
//! that is still running at its limit is ended together with everything it started. Nothing is read from the
//! terminal: a check never asks.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::budget::Budget;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// How often a running command is looked at.
const POLL: Duration = Duration::from_millis(20);

/// What cargo and rustup tell their children about themselves; a check must not inherit it.
const NOT_INHERITED: [&str; 6] = [
    "CARGO",
    "RUSTC",
    "RUSTDOC",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
];

/// A command that has not been started yet.
pub struct Cmd {
    command: Command,
    shown: String,
    log: PathBuf,
    limit: Duration,
}

/// How a command ended.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum End {
    /// It exited with success.
    Success,
    /// It exited with a failure or by a signal.
    Failure,
    /// It was ended at its time limit.
    TimeOut,
}

/// A command that has ended.
pub struct Done {
    /// How it ended.
    pub end: End,
    /// The command line and everything it printed.
    pub text: String,
}

impl Done {
    /// Whether the command exited with success.
    pub fn success(&self) -> bool {
        self.end == End::Success
    }
}

impl Cmd {
    /// A command in the workspace's root, its output kept under `name`.
    pub fn new(workspace: &Workspace, name: &str, program: &str) -> Cmd {
        let mut command = Command::new(program);
        command.current_dir(&workspace.root).stdin(Stdio::null());
        command.env("CARGO_TERM_COLOR", "never");
        for variable in NOT_INHERITED {
            command.env_remove(variable);
        }
        Cmd {
            command,
            shown: program.to_string(),
            log: workspace
                .logs()
                .join(format!("{}.log", name.replace([' ', '/', ':'], "-"))),
            limit: Budget::Smoke.limit(),
        }
    }

    /// `cargo` with the arguments of `line`, which are parted by spaces.
    pub fn cargo(workspace: &Workspace, name: &str, line: &str) -> Cmd {
        Cmd::new(workspace, name, "cargo").args(line.split_whitespace())
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Cmd {
        for arg in args {
            self.shown.push(' ');
            self.shown.push_str(&arg.as_ref().to_string_lossy());
            self.command.arg(arg);
        }
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Cmd {
        self.shown = format!("{name}={:?} {}", value.as_ref(), self.shown);
        self.command.env(name, value);
        self
    }

    /// Ends the command after `limit` instead of what a change can afford.
    pub fn limit(mut self, limit: Duration) -> Cmd {
        self.limit = limit;
        self
    }

    /// The command line so far, with the variables that were set.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Runs the command as a check that passes, with `detail` to say, when it exits with success.
    pub fn outcome(self, detail: &str) -> Outcome {
        let judge = |done: Done| match done.end {
            End::Success => Outcome::Passed(detail.to_string()),
            _ => Outcome::Failed(done.text),
        };
        self.run().map(judge).into()
    }

    /// Runs a command that must succeed, and returns what it printed.
    pub fn succeed(self) -> Result<String, String> {
        let done = self.run()?;
        match done.success() {
            true => Ok(done.text),
            false => Err(done.text),
        }
    }

    /// Runs the command to its end or its limit. The error says why it could not be started.
    pub fn run(mut self) -> Result<Done, String> {
        let name = |error: std::io::Error| format!("{}: {error}", self.shown);
        if let Some(folder) = self.log.parent() {
            fs::create_dir_all(folder).map_err(name)?;
        }
        let log = File::create(&self.log).map_err(name)?;
        self.command
            .stdout(log.try_clone().map_err(name)?)
            .stderr(log);
        let mut child = self.command.spawn().map_err(name)?;
        let end = wait(&mut child, Instant::now() + self.limit).map_err(name)?;
        let mut text = format!("$ {}\n", self.shown);
        text.push_str(&String::from_utf8_lossy(
            &fs::read(&self.log).map_err(name)?,
        ));
        if end == End::TimeOut {
            text.push_str(&format!(
                "\nended after its limit of {} s\n",
                self.limit.as_secs()
            ));
        }
        Ok(Done { end, text })
    }
}

/// Runs the commands until one fails, as one check that passes with `detail` to say.
pub fn in_turn(commands: impl IntoIterator<Item = Cmd>, detail: &str) -> Outcome {
    let mut outcomes = commands.into_iter().map(|command| command.outcome(detail));
    let failed = outcomes.find(|outcome| !matches!(outcome, Outcome::Passed(_)));
    failed.unwrap_or_else(|| Outcome::Passed(detail.to_string()))
}

fn wait(child: &mut Child, deadline: Instant) -> std::io::Result<End> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() {
                End::Success
            } else {
                End::Failure
            });
        }
        if Instant::now() >= deadline {
            end_family(child.id());
            // Mostly it has ended by now; this is for systems where its family could not be listed.
            let _ = child.kill();
            child.wait()?;
            return Ok(End::TimeOut);
        }
        thread::sleep(POLL);
    }
}

/// Ends `ancestor` and what it started: a test left hanging would hold the target folder's lock.
pub fn end_family(ancestor: u32) {
    let listing = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output();
    let listing = listing.map(|output| output.stdout).unwrap_or_default();
    let pairs: Vec<(u32, u32)> = String::from_utf8_lossy(&listing)
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace().map(str::parse);
            Some((fields.next()?.ok()?, fields.next()?.ok()?))
        })
        .collect();
    let mut family = vec![ancestor];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        family.extend(
            pairs
                .iter()
                .filter(|pair| pair.1 == parent)
                .map(|pair| pair.0),
        );
        next += 1;
    }
    // Parents first, so that none goes on to its next command. Those that have ended by themselves are no loss.
    let ids = family.iter().map(u32::to_string);
    let _ = Command::new("kill").arg("-KILL").args(ids).output();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Cmd {
        let workspace = Workspace::load().unwrap();
        let name = format!("test {:?}", thread::current().id());
        Cmd::new(&workspace, &name, "sh").args(["-c", script])
    }

    #[test]
    fn output_of_both_streams_is_kept_in_order() {
        let done = shell("echo one; echo two >&2; exit 3").run().unwrap();
        assert_eq!(done.end, End::Failure);
        assert!(done.text.ends_with("one\ntwo\n"), "{}", done.text);
    }

    #[test]
    fn a_command_is_ended_at_its_limit_with_what_it_started() {
        let done = shell("sleep 1000; echo $((6 * 7))")
            .limit(Duration::from_millis(50))
            .run()
            .unwrap();
        assert_eq!(done.end, End::TimeOut);
        assert!(!done.text.contains("42"), "{}", done.text);
    }

    #[test]
    fn commands_in_turn_stop_at_the_first_that_fails() {
        assert_eq!(
            in_turn([shell("true"), shell("true")], "both"),
            Outcome::Passed("both".to_string())
        );
        let more = [shell("true"), shell("exit 1"), shell("echo $((6 * 7))")];
        let Outcome::Failed(text) = in_turn(more, "all") else {
            panic!("the second has failed");
        };
        assert!(!text.contains("42"), "{text}");
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error_with_its_name() {
        let workspace = Workspace::load().unwrap();
        let error = Cmd::new(&workspace, "test missing", "no-such-program")
            .run()
            .err()
            .unwrap();
        assert!(error.contains("no-such-program"), "{error}");
    }
}
