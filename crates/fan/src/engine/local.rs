//! The engine `local`: processes on this machine, as many at once as there are processors.
//!
//! Each piece may use the whole machine: programs of Tidegate share it through their table.

use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::words::line;
use super::{Ended, Engine, Fault, Job, Launch, Submission};
use crate::name::Name;

/// The variable by which a program of Tidegate learns how many workers it has.
const WORKERS: &str = "TIDEGATE_WORKERS";

/// How long after its end a piece's standard error may be held open by a process that it started.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many bytes of a line are kept. Progress may be written without line breaks.
const LONGEST_LINE: u64 = 64 << 10;

pub struct Local {
    launch: Launch,
    /// How many pieces run at once.
    places: usize,
    /// What waits for a place, with its job.
    waiting: VecDeque<(String, Name)>,
    running: Vec<Piece>,
    /// What has ended in each job, and was not returned yet.
    ended: BTreeMap<String, Vec<Ended>>,
}

struct Piece {
    job: String,
    item: Name,
    process: Child,
    last_line: Receiver<String>,
}

impl Local {
    pub fn new(launch: Launch) -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self {
            places: (processors / launch.cpus.unwrap_or(1)).max(1),
            launch,
            waiting: VecDeque::new(),
            running: Vec::new(),
            ended: BTreeMap::new(),
        }
    }

    /// Returns the command line of a piece.
    fn words(&self, item: &Name) -> Vec<OsString> {
        let mut words = self.launch.words();
        words.extend(["--item".into(), item.to_string().into()]);
        words
    }

    /// Returns the variables that a piece gets.
    fn variables(&self) -> Option<(&str, String)> {
        let cpus = self.launch.cpus?.to_string();
        env::var_os(WORKERS).is_none().then_some((WORKERS, cpus))
    }

    /// Starts a piece. It ends with the thread that calls this, which must be the main thread.
    fn start(&self, job: String, item: Name) -> std::io::Result<Piece> {
        let words = self.words(&item);
        let mut process = Command::new(&words[0])
            .args(&words[1..])
            .args(["--parent", &std::process::id().to_string()])
            .envs(self.variables())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = process.stderr.take().expect("standard error is a pipe");
        let last_line = last_line(stderr);
        Ok(Piece {
            job,
            item,
            process,
            last_line,
        })
    }

    /// Collects the pieces that have ended. Returns how many these are.
    fn reap(&mut self) -> usize {
        let before = self.running.len();
        let mut at = 0;
        while at < self.running.len() {
            match self.running[at].process.try_wait() {
                Ok(Some(status)) => {
                    let piece = self.running.swap_remove(at);
                    let last_line = piece.last_line.recv_timeout(PATIENCE);
                    let text = describe(status, last_line.unwrap_or_default());
                    self.end(piece.job, piece.item, status.code(), text);
                }
                _ => at += 1,
            }
        }
        before - self.running.len()
    }

    fn end(&mut self, job: String, item: Name, code: Option<i32>, text: String) {
        let ended = Ended { item, code, text };
        self.ended.entry(job).or_default().push(ended);
    }
}

impl Engine for Local {
    fn submit(&mut self, submission: &Submission) -> Result<String, Fault> {
        let job = &submission.name;
        let items = submission.items.iter();
        self.waiting
            .extend(items.map(|item| (job.clone(), item.clone())));
        self.ended.insert(job.clone(), Vec::new());
        Ok(job.clone())
    }

    fn find(&mut self, submission: &str) -> Result<Option<String>, Fault> {
        let known = self.ended.contains_key(submission);
        Ok(known.then(|| submission.to_owned()))
    }

    fn ended(&mut self, job: &Job) -> Result<Vec<Ended>, Fault> {
        let has_more = self.waiting.iter().any(|(other, _)| *other == job.id)
            || self.running.iter().any(|piece| piece.job == job.id);
        let ended = if has_more {
            self.ended.get_mut(&job.id).map(std::mem::take)
        } else {
            self.ended.remove(&job.id)
        };
        if let Some(ended) = ended {
            return Ok(ended);
        }
        // Pieces of another `run` have ended with it, or are its own.
        let gone = |item: &Name| Ended {
            item: item.clone(),
            code: None,
            text: String::new(),
        };
        Ok(job.submission.items.iter().map(gone).collect())
    }

    fn cancel(&mut self, job: &Job) -> Result<(), Fault> {
        self.waiting.retain(|(other, _)| *other != job.id);
        for piece in &mut self.running {
            if piece.job == job.id {
                let _ = (piece.process.kill(), piece.process.wait());
            }
        }
        Ok(())
    }

    fn manifest(&self, submission: &Submission) -> String {
        let assignment = |(name, value)| format!("{name}={value} ");
        let variables = self.variables().map(assignment).unwrap_or_default();
        let items = submission.items.iter();
        let lines = items.map(|item| format!("{variables}{}\n", line(&self.words(item))));
        lines.collect()
    }

    fn attend(&mut self) -> bool {
        let ended = self.reap();
        while self.running.len() < self.places {
            let Some((job, item)) = self.waiting.pop_front() else {
                return ended > 0;
            };
            match self.start(job.clone(), item.clone()) {
                Ok(piece) => self.running.push(piece),
                Err(error) => self.end(job, item, None, format!("cannot be started: {error}")),
            }
        }
        false
    }
}

/// Reads standard error, so that the piece never waits for a reader. Sends the last line at the
/// end, or the last part of a longer one.
fn last_line(stderr: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut stderr = BufReader::new(stderr);
        let (mut last, mut line) = (String::new(), Vec::new());
        while let Ok(1..) = (&mut stderr)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
        {
            let text = String::from_utf8_lossy(&line);
            // After a carriage return, progress is written over.
            let shown = text.trim().rsplit('\r').next().unwrap_or_default();
            if !shown.is_empty() {
                shown.clone_into(&mut last);
            }
            line.clear();
        }
        let _ = sender.send(last);
    });
    receiver
}

/// Returns what is known about a failure.
fn describe(status: ExitStatus, last_line: String) -> String {
    match (status.code(), last_line.is_empty()) {
        (Some(_), false) => last_line,
        (_, true) => status.to_string(),
        (None, false) => format!("{status}: {last_line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(text: &str) -> String {
        let text = std::io::Cursor::new(text.to_owned());
        last_line(text).recv().unwrap()
    }

    #[test]
    fn last_line_is_sent() {
        assert_eq!(last("one\n two \n\n"), "two");
        assert_eq!(last("1 %\r2 %\r3 %\r"), "3 %");
        assert_eq!(last(""), "");
    }

    #[test]
    fn long_lines_are_cut() {
        let long = last(&"x".repeat(3 * LONGEST_LINE as usize));
        assert_eq!(long.len(), LONGEST_LINE as usize);
    }
}
