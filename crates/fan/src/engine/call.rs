//! Calls the commands of an engine, each within a time limit.

use std::env;
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;

/// How variables begin by which a user chooses what Slurm lists and cancels, such as
/// `SQUEUE_PARTITION`. A piece that is not listed counts as ended.
const FILTERS: [&[u8]; 2] = [b"SQUEUE_", b"SCANCEL_"];

/// The variable that lets `sbatch` wait for the pieces.
const WAIT: &str = "SBATCH_WAIT";

/// The commands of an engine.
pub struct Commands {
    /// The folder that has the commands. If it is empty, they are searched on the path.
    pub folder: PathBuf,
    /// The time within which a command must answer.
    pub limit: Duration,
    /// How to get the commands if they are missing.
    pub advice: &'static str,
}

/// What a command has printed.
pub struct Answer {
    command: String,
    status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Commands {
    /// Calls a command with what it reads from standard input. Fails if it cannot be started or
    /// does not end in time; then it is killed.
    pub fn call(&self, program: &str, arguments: &[&str], input: &str) -> Result<Answer, Error> {
        let verb = arguments.iter().find(|word| !word.starts_with("--"));
        let command = match verb {
            Some(verb) if !verb.starts_with('-') => format!("{program} {verb}"),
            _ => program.to_owned(),
        };
        let mut child = self.start(program, arguments)?;
        let stdin = child.stdin.take().expect("standard input is a pipe");
        let out = collect(child.stdout.take().expect("standard output is a pipe"));
        let err = collect(child.stderr.take().expect("standard error is a pipe"));
        let input = input.to_owned();
        // A command that ends without reading is no fault: its exit code tells.
        thread::spawn(move || ({ stdin }).write_all(input.as_bytes()));
        let Some(status) = self.wait(&mut child) else {
            kill(child);
            let limit = self.limit.as_secs_f64();
            let text = format!("{command} has not answered within {limit} s");
            return Err(Error::elsewhere(text));
        };
        let end = Instant::now() + self.limit.min(Duration::from_secs(1));
        Ok(Answer {
            command,
            status,
            out: gather(&out, end),
            err: gather(&err, end),
        })
    }

    fn start(&self, program: &str, arguments: &[&str]) -> Result<Child, Error> {
        let mut command = Command::new(self.folder.join(program));
        command.args(arguments).env_remove(WAIT);
        for (name, _) in env::vars_os() {
            if FILTERS
                .iter()
                .any(|start| name.as_encoded_bytes().starts_with(start))
            {
                command.env_remove(name);
            }
        }
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        // In a group of its own, the command can be killed with its children, and Ctrl-C does not
        // reach it: what was submitted must be known before it can be cancelled.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                Error::never(format!("{program} is not on the path: {}", self.advice))
            }
            _ => Error::elsewhere(format!("{program}: {error}")),
        })
    }

    /// Waits for the command, and returns `None` if it takes too long.
    fn wait(&self, child: &mut Child) -> Option<ExitStatus> {
        let end = Instant::now() + self.limit;
        let mut pause = Duration::from_millis(1);
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < end => thread::sleep(pause),
                _ => return None,
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

impl Answer {
    /// Returns what the command has printed, or an error if it has failed.
    pub fn success(self) -> Result<String, Error> {
        self.check().map(|()| self.out)
    }

    /// Returns an error if the command has failed.
    pub fn check(&self) -> Result<(), Error> {
        if self.status.success() {
            Ok(())
        } else {
            Err(self.failure())
        }
    }

    /// Returns the failure: the first line of standard error, without the command's name. Lines of
    /// the log of `kubectl`, which begin with the time, may come before it. If the line announces a
    /// list, the list's first line follows.
    fn failure(&self) -> Error {
        let mut lines = self.err.lines().filter(|line| !line.trim().is_empty());
        let first = lines.clone().next();
        let line = lines.find(|line| !is_logged(line)).or(first);
        let mut text = line.map_or_else(|| self.status.to_string(), |line| line.trim().to_owned());
        if let (true, Some(more)) = (text.ends_with(':'), lines.next()) {
            text = format!("{text} {}", more.trim_start_matches("* "));
        }
        let program = self.command.split(' ').next().unwrap_or_default();
        let text = text.strip_prefix(&format!("{program}: ")).unwrap_or(&text);
        self.refused(text.strip_prefix("error: ").unwrap_or(text))
    }

    /// Returns the error of an answer that is not as expected.
    pub fn refused(&self, text: &str) -> Error {
        Error::elsewhere(format!("{}: {text}", self.command))
    }
}

/// Whether a line begins as in `E0803 10:00:00.123456`.
fn is_logged(line: &str) -> bool {
    let start = line.as_bytes().get(..6);
    start.is_some_and(|start| {
        b"IWEF".contains(&start[0])
            && start[1..5].iter().all(u8::is_ascii_digit)
            && start[5] == b' '
    })
}

/// Reads a pipe to its end in another thread, because a child of the command may keep it open.
fn collect(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(size @ 1..) = pipe.read(&mut part) {
            if sender.send(part[..size].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Returns what was read from a pipe until it was closed, or until `end`.
fn gather(parts: &Receiver<Vec<u8>>, end: Instant) -> String {
    let mut bytes = Vec::new();
    while let Ok(part) = parts.recv_timeout(end.saturating_duration_since(Instant::now())) {
        bytes.extend(part);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Kills a command and its children, and does not wait for them: the kernel may hold them.
fn kill(mut child: Child) {
    #[cfg(unix)]
    {
        let group = rustix::process::Pid::from_child(&child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    thread::spawn(move || child.wait());
}
