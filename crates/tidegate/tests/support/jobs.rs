//! Jobs: separate processes that each run one test of this program. Each job has a busy pool that
//! shares a table with other jobs.
//!
//! A job works until its standard input ends. The test reads its standard error line by line.
//! Deadlines only turn a hang into a failure.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tidegate_share::{Location, Observer};
use tidegate_testkit::{PATIENCE, this};

/// The environment variable that names the test that a job must run.
const ROLE: &str = "TEST_ROLE";

/// Whether this process is a job that must run `test`.
pub fn plays(test: &str) -> bool {
    std::env::var(ROLE).is_ok_and(|role| role == test)
}

pub struct Job {
    child: Child,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Job {
    /// Runs `test` of this program as a job, with its table at `table`.
    pub fn start(test: &str, table: &Path, variables: &[(&str, &str)]) -> Self {
        let mut command = this();
        command
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, test)
            .env("TIDEGATE_TABLE", table)
            .env("TIDEGATE_EXPLAIN", "1")
            .env_remove("TIDEGATE_SHARE")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("this program runs");
        let errors = BufReader::new(child.stderr.take().expect("piped"));
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        Self {
            child,
            lines,
            heard: Vec::new(),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the job has printed a line that contains `text`.
    #[track_caller]
    pub fn says(&mut self, text: &str) -> String {
        let begin = Instant::now();
        loop {
            if let Some(line) = self.heard.iter().find(|line| line.contains(text)) {
                return line.clone();
            }
            match self
                .lines
                .recv_timeout(PATIENCE.saturating_sub(begin.elapsed()))
            {
                Ok(line) => self.heard.push(line),
                Err(_) => panic!("job {} never says {text:?}: {:?}", self.pid(), self.heard),
            }
        }
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("it is there to be killed");
        self.child.wait().expect("it is a child of ours");
    }

    /// Ends the job, which must succeed. Returns all lines that it has printed.
    #[track_caller]
    pub fn end(mut self) -> Vec<String> {
        drop(self.child.stdin.take());
        let begin = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("it is a child of ours") {
                Some(status) => break status,
                None if begin.elapsed() > PATIENCE => {
                    let all: Vec<String> = self.lines.try_iter().collect();
                    panic!("job {} hangs: {:?} {all:?}", self.pid(), self.heard);
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        self.heard.extend(self.lines.iter());
        assert!(status.success(), "{status}: {:?}", self.heard);
        std::mem::take(&mut self.heard)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In a job, prints a line that the test reads.
///
/// The line is written by one call. The runtime prints its own lines past the standard library's
/// lock, so one of them could get into a line that is written in parts, as `eprintln!` writes one
/// with arguments.
pub fn print_line(line: fmt::Arguments<'_>) {
    let line = format!("{line}\n");
    let written = std::io::stderr().write_all(line.as_bytes());
    written.expect("standard error is open");
}

/// In a job, repeats `work` until the test ends the job.
pub fn until_told(mut work: impl FnMut()) {
    static ENOUGH: AtomicBool = AtomicBool::new(false);
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ENOUGH.store(true, Ordering::Release);
    });
    while !ENOUGH.load(Ordering::Acquire) {
        work();
    }
}

/// Returns the jobs in the table at `path`.
pub fn jobs(path: &Path) -> Vec<tidegate_share::Job> {
    let observer = Observer::open(&Location::at(path)).unwrap_or_else(|error| panic!("{error}"));
    observer.map_or(Vec::new(), |mut observer| observer.jobs().unwrap())
}

/// Returns the job of process `pid`, if it is in the table.
pub fn job(path: &Path, pid: u32) -> Option<tidegate_share::Job> {
    jobs(path).into_iter().find(|job| job.pid == pid)
}
