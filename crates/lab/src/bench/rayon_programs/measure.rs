//! Runs executables and reports the time and memory that they used.
//!
//! This is the hidden command `bench measure`, which reads its [`Work`] from standard input.
//! Measuring peak memory requires a separate process, because on Linux a process inherits its
//! parent's peak.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tidegate_command::failure::Failure;
use tidegate_command::output::print_json;
use wait4::{ResourceUsage, Wait4};

use super::files::at;

#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Work {
    /// How many copies run at the same time.
    pub copies: usize,
    /// How many times each copy runs every executable.
    pub repetitions: u32,
    /// The time limit of one executable, in seconds.
    pub seconds: u64,
    /// The folder for the output of the copies.
    pub output: PathBuf,
    /// The executables, in the order in which each copy runs them.
    pub executables: Vec<PathBuf>,
    /// The arguments of each executable.
    pub arguments: Vec<String>,
}

/// The time and memory that the copies used.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Seconds until the last copy ended.
    pub wall_seconds: f64,
    /// Seconds of user and system CPU time, summed over all copies.
    pub cpu_seconds: f64,
    /// The peak resident memory of the process that used the most.
    pub peak_rss_bytes: u64,
}

/// Reads a [`Work`] from standard input, carries it out and prints its [`Usage`].
pub fn serve() -> Result<(), Failure> {
    let work: Work = serde_json::from_reader(io::stdin().lock()).map_err(|error| {
        Failure::Usage(format!("`bench measure` is for other benches: {error}"))
    })?;
    print_json(&serde_json::to_value(work.measure()?).expect("usage is JSON"))
}

impl Work {
    /// Returns the path of the file for a copy's standard output.
    pub fn answer(&self, copy: usize) -> PathBuf {
        self.output.join(format!("answer-{copy}.txt"))
    }

    /// Returns the path of the file for a copy's standard error.
    fn messages(&self, copy: usize) -> PathBuf {
        self.output.join(format!("messages-{copy}.txt"))
    }

    /// Runs the executables. Fails if an executable fails or exceeds its time limit.
    fn measure(&self) -> Result<Usage, Failure> {
        let start = Instant::now();
        let copies = thread::scope(|scope| {
            let copies = 0..self.copies;
            let copies: Vec<_> = copies
                .map(|copy| scope.spawn(move || self.copy(copy)))
                .collect();
            let ended = copies
                .into_iter()
                .map(|copy| copy.join().expect("no copy panics"));
            ended.collect::<Result<Vec<_>, _>>()
        });
        let mut usage = Usage {
            wall_seconds: start.elapsed().as_secs_f64(),
            cpu_seconds: 0.0,
            peak_rss_bytes: 0,
        };
        for used in copies?.iter().flatten() {
            usage.cpu_seconds += (used.utime + used.stime).as_secs_f64();
            usage.peak_rss_bytes = usage.peak_rss_bytes.max(used.maxrss);
        }
        Ok(usage)
    }

    fn copy(&self, copy: usize) -> Result<Vec<ResourceUsage>, Failure> {
        let create = |path: PathBuf| File::create(&path).map_err(|error| at(&path, &error));
        let (answer, messages) = (create(self.answer(copy))?, create(self.messages(copy))?);
        let mut used = Vec::new();
        for _ in 0..self.repetitions {
            for executable in &self.executables {
                used.push(self.run(executable, &answer, &messages).map_err(|why| {
                    let messages = self.messages(copy);
                    Failure::Impossible(format!(
                        "{why}; what it printed is in {}",
                        messages.display()
                    ))
                })?);
            }
        }
        Ok(used)
    }

    fn run(
        &self,
        program: &Path,
        answer: &File,
        messages: &File,
    ) -> Result<ResourceUsage, Failure> {
        let trouble = |error: io::Error| at(program, &error);
        let mut child = Command::new(program)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(answer.try_clone().map_err(trouble)?)
            .stderr(messages.try_clone().map_err(trouble)?)
            .spawn()
            .map_err(trouble)?;
        let process = child.id().to_string();
        let limit = Duration::from_secs(self.seconds);
        let (ended, wait) = mpsc::channel::<()>();
        let (used, late) = thread::scope(|scope| {
            let late = scope.spawn(move || {
                let late = wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
                if late {
                    // Killing fails if the process has just ended, which is harmless.
                    let _ = Command::new("kill").args(["-KILL", &process]).output();
                }
                late
            });
            let used = child.wait4();
            drop(ended);
            (used, late.join().unwrap_or_default())
        });
        let used = used.map_err(trouble)?;
        match late {
            true => Err(at(
                program,
                &format!("still running after {} s", self.seconds),
            )),
            false if used.status.success() => Ok(used.rusage),
            false => Err(at(program, &used.status)),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    /// Returns work that runs `script` in a shell, and the folder for its output.
    fn shell(script: &str) -> (Work, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let work = Work {
            copies: 2,
            repetitions: 3,
            seconds: 600,
            output: folder.path().to_owned(),
            executables: vec!["/bin/sh".into()],
            arguments: vec!["-c".into(), script.into()],
        };
        (work, folder)
    }

    #[test]
    fn every_copy_keeps_what_it_prints() {
        let (work, _folder) = shell("echo one; echo two >&2");
        work.measure().unwrap();
        for copy in 0..2 {
            let answer = fs::read_to_string(work.answer(copy)).unwrap();
            assert_eq!(answer, "one\n".repeat(3));
            let messages = fs::read_to_string(work.messages(copy)).unwrap();
            assert_eq!(messages, "two\n".repeat(3));
        }
    }

    #[test]
    fn usage_is_that_of_the_children() {
        let (work, _folder) = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
        let usage = work.measure().unwrap();
        assert!(
            usage.cpu_seconds > 0.0 && usage.wall_seconds > 0.0,
            "{usage:?}"
        );
        assert!(usage.peak_rss_bytes >= 4096, "{usage:?}");
    }

    #[test]
    fn failure_error_contains_the_status() {
        let (work, _folder) = shell("exit 3");
        let error = work.measure().unwrap_err().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
    }

    #[test]
    fn hanging_program_is_killed_at_limit() {
        let (mut work, _folder) = shell("exec sleep 1000");
        work.seconds = 0;
        let error = work.measure().unwrap_err().to_string();
        assert!(error.contains("still running after 0 s"), "{error}");
    }
}
