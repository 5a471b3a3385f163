//! The engine `local`: processes on this machine, as many at once as there are processors.
//!
//! Each piece may use the whole machine: programs of Tidegate share it through their table.

use std::collections::VecDeque;
use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::words::line;
use super::{Alive, Engine, Launch, Round};
use crate::files::{host, now};
use crate::folder::{self, Failed};
use crate::name::Name;
use crate::{Error, Retry};

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
    /// What waits for a place, with the name of its round.
    waiting: VecDeque<(String, Name)>,
    running: Vec<Piece>,
}

struct Piece {
    /// The name of its round.
    round: String,
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
    fn start(&self, round: String, item: Name) -> std::io::Result<Piece> {
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
            round,
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
                    if !status.success() {
                        let text = describe(status, last_line.unwrap_or_default());
                        let retry = Retry::after(status.code());
                        self.note(&piece.item, piece.process.id(), retry, text);
                    }
                }
                _ => at += 1,
            }
        }
        before - self.running.len()
    }

    /// Adds a failed attempt to the item's log, unless the piece has done so.
    fn note(&self, item: &Name, pid: u32, retry: Retry, text: String) {
        let failed = Failed {
            host: host(),
            pid,
            at: now(),
            retry,
            text,
        };
        let out = &self.launch.out;
        let noted = folder::failures(out, item).unwrap_or_default();
        let is_this = |last: &Failed| pid != 0 && (&last.host, last.pid) == (&failed.host, pid);
        if !noted.last().is_some_and(is_this) {
            // If the disk is full, `run` says that the piece has left no message.
            let _ = folder::note(out, item, &failed);
        }
    }
}

impl Engine for Local {
    fn submit(&mut self, round: &Round) -> Result<(), Error> {
        let items = round.items.iter();
        self.waiting
            .extend(items.map(|item| (round.name.clone(), item.clone())));
        Ok(())
    }

    /// Pieces of another `run` have ended with it, or are its own.
    fn alive(&mut self, rounds: &[&Round]) -> Result<Vec<Alive>, Error> {
        let alive = rounds.iter().map(|round| Alive {
            name: round.name.clone(),
            running: self
                .running
                .iter()
                .filter(|it| it.round == round.name)
                .count(),
            waiting: self.waiting.iter().filter(|it| it.0 == round.name).count(),
        });
        Ok(alive
            .filter(|alive| alive.running + alive.waiting > 0)
            .collect())
    }

    fn cancel(&mut self, round: &Round) -> Result<(), Error> {
        self.waiting.retain(|(other, _)| *other != round.name);
        for piece in &mut self.running {
            if piece.round == round.name {
                let _ = (piece.process.kill(), piece.process.wait());
            }
        }
        Ok(())
    }

    fn manifest(&self, round: &Round) -> String {
        let assignment = |(name, value)| format!("{name}={value} ");
        let variables = self.variables().map(assignment).unwrap_or_default();
        let items = round.items.iter();
        let lines = items.map(|item| format!("{variables}{}\n", line(&self.words(item))));
        lines.collect()
    }

    fn attend(&mut self) -> bool {
        let ended = self.reap();
        while self.running.len() < self.places {
            let Some((round, item)) = self.waiting.pop_front() else {
                return ended > 0;
            };
            match self.start(round, item.clone()) {
                Ok(piece) => self.running.push(piece),
                Err(error) => {
                    let text = format!("cannot be started: {error}");
                    self.note(&item, 0, Retry::Perhaps, text);
                }
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
