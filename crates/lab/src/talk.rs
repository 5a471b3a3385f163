//! A child process that answers requests. Each request and each answer is a line of JSON.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use tidegate_cli_support::failure::Failure;

/// The process, and the pipes to and from it. Dropping it kills the process.
pub struct Talk {
    pub name: String,
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Talk {
    pub fn start(name: String, command: &mut Command) -> Result<Self, Failure> {
        let refused =
            |error: io::Error| Failure::Impossible(format!("{name} does not start: {error}"));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(refused)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (requests, answers) = pipes.ok_or_else(|| refused(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self {
            name,
            child,
            requests,
            answers: BufReader::new(answers),
        })
    }

    pub fn say(&mut self, request: &Value) {
        // If the process has stopped reading, `hear` reports why.
        let _ = writeln!(self.requests, "{request}");
    }

    /// Reads the next line as JSON. In error messages, `cause` names what the line should answer.
    pub fn hear(&mut self, cause: &str) -> Result<Value, Failure> {
        let mut line = String::new();
        let why = match self.answers.read_line(&mut line) {
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

    /// Kills the process. This fails, without harm, if it has already ended.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // The process may be in a long run.
        self.kill();
        let _ = self.child.wait();
    }
}
