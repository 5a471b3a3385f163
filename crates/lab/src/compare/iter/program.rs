//! A running program of `benches/iter`. Each request and each answer is a line of JSON.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::identity::Identity;
use tidegate_command::failure::Failure;
use tidegate_command::usage::Usage;

/// A running program. Dropping it kills the process.
pub struct Program {
    /// What the program stated about itself in its greeting.
    pub identity: Identity,
    channel: Channel,
}

/// A child process and the pipes to and from it.
struct Channel {
    name: String,
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Program {
    /// Starts the program at `path`, with pools of this many workers, and reads its greeting.
    pub fn start(path: &Path, workers: usize) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let refused =
            |error| Failure::Impossible(format!("{} does not start: {error}", path.display()));
        let mut child = Command::new(path)
            .arg(workers.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(refused)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (requests, answers) = pipes.ok_or_else(|| refused(io::ErrorKind::BrokenPipe.into()))?;
        let mut channel = Channel {
            name,
            child,
            requests,
            answers: BufReader::new(answers),
        };
        let greeting = channel.read("at its start")?;
        let unfit = || {
            Failure::Impossible(format!(
                "{} sent an unexpected first line: {greeting}",
                channel.name
            ))
        };
        let identity = Identity::read(&greeting).ok_or_else(unfit)?;
        Ok(Self { identity, channel })
    }

    /// Sends a request and waits for its answer.
    pub fn ask(&mut self, request: &Value) -> Result<Value, Failure> {
        let channel = &mut self.channel;
        // If the program has stopped reading, `read` reports why.
        let _ = writeln!(channel.requests, "{request}");
        let answer = channel.read(&request.to_string())?;
        let said = |what: &Value| format!("{} on {request}: {what}", channel.name);
        match (answer.get("wrong"), answer.get("error")) {
            (Some(what), _) => Err(Failure::Wrong(said(what))),
            (None, Some(what)) => Err(Failure::Impossible(said(what))),
            (None, None) => Ok(answer),
        }
    }
}

impl Channel {
    /// Reads the next line as JSON. In error messages, `cause` names what the line should answer.
    fn read(&mut self, cause: &str) -> Result<Value, Failure> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line);
        let why = match read {
            Ok(0) => match self.child.wait() {
                Ok(status) => format!("it ended with {status}"),
                Err(error) => format!("it ended: {error}"),
            },
            Ok(_) => match serde_json::from_str(&line) {
                Ok(answer) => return Ok(answer),
                Err(error) => format!("{line:?} is not JSON: {error}"),
            },
            Err(error) => error.to_string(),
        };
        let name = &self.name;
        Err(Failure::Impossible(format!(
            "{name} did not answer {cause}: {why}"
        )))
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // The program may be in a long call, so kill it. This fails if the program has already
        // ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the CPU time and wake-ups that an answer reports.
pub fn usage(answer: &Value) -> Usage {
    Usage {
        cpu: answer["cpu_nanos"].as_u64().map(Duration::from_nanos),
        wakeups: answer["wakeups"].as_u64(),
        switches: None,
    }
}
