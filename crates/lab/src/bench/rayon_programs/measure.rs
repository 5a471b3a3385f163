//! Runs copies of a program and reports the time and memory that they used.
//!
//! This is the hidden command `bench measure`, which reads its [`Request`] from standard input.
//! Measuring peak memory requires a separate process, because on Linux a process inherits its
//! parent's peak.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{io, thread};

use serde::{Deserialize, Serialize};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::print_json;
use wait4::Wait4;

use super::at;

#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Request {
    pub copies: usize,
    pub seconds: u64,
    /// The folder for the output of the copies.
    pub output: PathBuf,
    pub executable: PathBuf,
    pub arguments: Vec<String>,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Seconds until the last copy ended.
    pub wall_seconds: f64,
    /// Seconds of user and system CPU time, summed over all copies.
    pub cpu_seconds: f64,
    /// The peak resident memory of the process that used the most.
    pub peak_rss_bytes: u64,
}

/// Reads a [`Request`] from standard input, carries it out and prints its [`Usage`].
pub fn serve() -> Result<(), Failure> {
    let request: Request = serde_json::from_reader(io::stdin().lock()).map_err(|error| {
        Failure::Usage(format!("`bench measure` is for other benches: {error}"))
    })?;
    print_json(&serde_json::to_value(request.measure()?).expect("usage is JSON"))
}

impl Request {
    /// Returns the path of the file for a copy's standard output.
    pub fn answer(&self, copy: usize) -> PathBuf {
        self.output.join(format!("answer-{copy}.txt"))
    }

    /// Returns the path of the file for a copy's standard error.
    fn messages(&self, copy: usize) -> PathBuf {
        self.output.join(format!("messages-{copy}.txt"))
    }

    /// Runs the copies. Fails if a copy fails or exceeds the time limit.
    fn measure(&self) -> Result<Usage, Failure> {
        let trouble = |error: io::Error| at(&self.executable, &error);
        let start = Instant::now();
        let copies = (0..self.copies).map(|copy| self.start(copy));
        let mut copies = copies.collect::<Result<Vec<Child>, _>>()?;
        let processes: Vec<String> = copies.iter().map(|copy| copy.id().to_string()).collect();
        let limit = Duration::from_secs(self.seconds);
        let (ended, wait) = mpsc::channel::<()>();
        // How many copies have ended, in their order: another process may now have their numbers.
        let reaped = &AtomicUsize::new(0);
        let (used, took, late) = thread::scope(|scope| {
            let watch = scope.spawn(move || {
                let late = wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
                if late {
                    // Relaxed: the counter publishes no other data.
                    let running = &processes[reaped.load(Ordering::Relaxed)..];
                    // Killing fails for a copy that has just ended, which is harmless.
                    let _ = Command::new("kill").arg("-KILL").args(running).output();
                }
                late
            });
            let wait = |copy: &mut Child| {
                let used = copy.wait4();
                reaped.fetch_add(1, Ordering::Relaxed);
                used
            };
            let used: Vec<_> = copies.iter_mut().map(wait).collect();
            let took = start.elapsed();
            drop(ended);
            (used, took, watch.join().unwrap_or_default())
        });
        let mut usage = Usage {
            wall_seconds: took.as_secs_f64(),
            cpu_seconds: 0.0,
            peak_rss_bytes: 0,
        };
        for (copy, used) in used.into_iter().enumerate() {
            let used = used.map_err(trouble)?;
            if !used.status.success() {
                let why = if late {
                    format!("still running after {} s", self.seconds)
                } else {
                    used.status.to_string()
                };
                let messages = self.messages(copy);
                let printed = format!("what it printed is in {}", messages.display());
                return Err(at(&self.executable, &format!("{why}; {printed}")));
            }
            usage.cpu_seconds += (used.rusage.utime + used.rusage.stime).as_secs_f64();
            usage.peak_rss_bytes = usage.peak_rss_bytes.max(used.rusage.maxrss);
        }
        Ok(usage)
    }

    fn start(&self, copy: usize) -> Result<Child, Failure> {
        let create = |path: PathBuf| File::create(&path).map_err(|error| at(&path, &error));
        Command::new(&self.executable)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(create(self.answer(copy))?)
            .stderr(create(self.messages(copy))?)
            .spawn()
            .map_err(|error| at(&self.executable, &error))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    /// Returns a request that runs `script` in a shell, and the folder for its output.
    fn shell(script: &str) -> (Request, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let request = Request {
            copies: 2,
            seconds: 600,
            output: folder.path().to_owned(),
            executable: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
        };
        (request, folder)
    }

    #[test]
    fn every_copy_is_measured_and_kept() {
        let count = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let (request, _folder) = shell(&format!("echo one; echo two >&2; {count}"));
        let usage = request.measure().unwrap();
        for copy in 0..2 {
            let printed = [request.answer(copy), request.messages(copy)];
            assert_eq!(
                printed.map(|path| fs::read_to_string(path).unwrap()),
                ["one\n", "two\n"]
            );
        }
        assert!(usage.cpu_seconds > 0.0, "{usage:?}");
        assert!(usage.wall_seconds > 0.0, "{usage:?}");
        assert!(usage.peak_rss_bytes >= 4096, "{usage:?}");
    }

    #[test]
    fn hanging_program_is_killed_at_limit() {
        let (mut request, _folder) = shell("exec sleep 1000");
        request.seconds = 0;
        let error = request.measure().unwrap_err().to_string();
        assert!(error.contains("still running after 0 s"), "{error}");
    }
}
