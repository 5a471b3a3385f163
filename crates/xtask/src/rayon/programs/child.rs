//! Runs executables and reports what they used.
//!
//! This is the hidden subcommand `measure`, a process of its own for the sake of the peak memory: on Linux a process
//! begins with the peak of the one that started it, and after all that cargo has said xtask's own is large.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use wait4::{ResourceUsage, Wait4};

use crate::command::end_family;

/// The subcommand's name.
pub const NAME: &str = "measure";

/// What to run.
#[derive(Args, Clone)]
pub struct Work {
    /// How many copies run at once.
    #[arg(long)]
    pub copies: usize,
    /// How often each copy runs every executable.
    #[arg(long)]
    pub repetitions: u32,
    /// How many seconds one executable may run.
    #[arg(long)]
    pub seconds: u64,
    /// The folder that receives what the copies print.
    #[arg(long)]
    pub output: PathBuf,
    /// What to run, in this order.
    #[arg(long = "executable", required = true)]
    pub executables: Vec<PathBuf>,
    /// The arguments of each.
    #[arg(last = true)]
    pub arguments: Vec<OsString>,
}

/// What the copies used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usage {
    /// Seconds until the last copy has ended.
    pub wall: f64,
    /// Seconds of user and system CPU time of all copies.
    pub cpu: f64,
    /// Bytes of the largest peak of one process.
    pub memory: f64,
}

impl Work {
    /// The arguments of xtask that have it do this work.
    pub fn command_line(&self) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec![NAME.into()];
        let mut option = |name: &str, value: OsString| line.extend([name.into(), value]);
        option("--copies", self.copies.to_string().into());
        option("--repetitions", self.repetitions.to_string().into());
        option("--seconds", self.seconds.to_string().into());
        option("--output", self.output.clone().into());
        for executable in &self.executables {
            option("--executable", executable.clone().into());
        }
        line.push("--".into());
        line.extend(self.arguments.iter().cloned());
        line
    }

    /// The file that holds what a copy printed on standard output.
    pub fn answer(&self, copy: usize) -> PathBuf {
        self.output.join(format!("answer-{copy}.txt"))
    }

    /// The file that holds what a copy printed on standard error.
    fn messages(&self, copy: usize) -> PathBuf {
        self.output.join(format!("messages-{copy}.txt"))
    }

    /// Does the work. An executable that fails, or is still running at its limit, is an error.
    pub fn measure(&self) -> Result<Usage, String> {
        let start = Instant::now();
        let copies = thread::scope(|scope| {
            let copies: Vec<_> = (0..self.copies)
                .map(|copy| scope.spawn(move || self.copy(copy)))
                .collect();
            let copies = copies.into_iter().map(|copy| copy.join());
            copies
                .map(|used| used.unwrap_or_else(|_| Err("a copy has panicked".to_string())))
                .collect::<Result<Vec<_>, String>>()
        });
        let wall = start.elapsed().as_secs_f64();
        let mut usage = Usage {
            wall,
            cpu: 0.0,
            memory: 0.0,
        };
        for used in copies?.iter().flatten() {
            usage.cpu += (used.utime + used.stime).as_secs_f64();
            usage.memory = usage.memory.max(used.maxrss as f64);
        }
        Ok(usage)
    }

    fn copy(&self, copy: usize) -> Result<Vec<ResourceUsage>, String> {
        let create = |path: PathBuf| File::create(&path).map_err(|error| at(&path, &error));
        let (answer, messages) = (create(self.answer(copy))?, create(self.messages(copy))?);
        let mut used = Vec::new();
        for _ in 0..self.repetitions {
            for executable in &self.executables {
                used.push(self.run(executable, &answer, &messages).map_err(|why| {
                    let shown = self.messages(copy);
                    format!("{why}; what it printed is in {}", shown.display())
                })?);
            }
        }
        Ok(used)
    }

    fn run(&self, program: &Path, answer: &File, messages: &File) -> Result<ResourceUsage, String> {
        let trouble = |error: io::Error| at(program, &error);
        let mut child = Command::new(program)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(answer.try_clone().map_err(trouble)?)
            .stderr(messages.try_clone().map_err(trouble)?)
            .spawn()
            .map_err(trouble)?;
        let process = child.id();
        let limit = Duration::from_secs(self.seconds);
        let (ended, wait) = mpsc::channel::<()>();
        let (used, late) = thread::scope(|scope| {
            let late = scope.spawn(move || {
                let late = wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
                if late {
                    end_family(process);
                }
                late
            });
            let used = child.wait4();
            drop(ended);
            (used, late.join().unwrap_or_default())
        });
        let used = used.map_err(trouble)?;
        if late {
            let seconds = self.seconds;
            return Err(at(program, &format!("still running after {seconds} s")));
        }
        if !used.status.success() {
            return Err(at(program, &used.status));
        }
        Ok(used.rusage)
    }
}

impl Usage {
    /// As one line of JSON.
    pub fn print(&self) -> Value {
        json!({ "wall": self.wall, "cpu": self.cpu, "memory": self.memory })
    }

    /// Reads what [`Usage::print`] has made.
    pub fn read(text: &str) -> Option<Usage> {
        let found: Value = serde_json::from_str(text).ok()?;
        Some(Usage {
            wall: found["wall"].as_f64()?,
            cpu: found["cpu"].as_f64()?,
            memory: found["memory"].as_f64()?,
        })
    }
}

fn at(path: &Path, what: &dyn std::fmt::Display) -> String {
    format!("{}: {what}", path.display())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;
    use crate::workspace::Workspace;

    fn shell(name: &str, script: &str) -> Work {
        let output = Workspace::load()
            .unwrap()
            .scratch("test measure")
            .join(name);
        fs::create_dir_all(&output).unwrap();
        Work {
            copies: 2,
            repetitions: 3,
            seconds: 600,
            output,
            executables: vec!["/bin/sh".into()],
            arguments: ["-c", script].map(OsString::from).into(),
        }
    }

    #[test]
    fn every_copy_keeps_what_it_prints() {
        let work = shell("answers", "echo one; echo two >&2");
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
        let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let usage = shell("usage", script).measure().unwrap();
        assert!(usage.cpu > 0.0 && usage.wall > 0.0, "{usage:?}");
        assert!(usage.memory >= 4096.0, "{usage:?}");
    }

    #[test]
    fn usage_is_read_back() {
        let usage = Usage {
            wall: 1.5,
            cpu: 0.25,
            memory: 4096.0,
        };
        assert_eq!(Usage::read(&usage.print().to_string()), Some(usage));
        assert_eq!(Usage::read("{}"), None);
    }

    #[test]
    fn failure_is_an_error_with_the_status() {
        let error = shell("failure", "exit 3").measure().unwrap_err();
        assert!(error.contains("exit status: 3"), "{error}");
    }

    #[test]
    fn hanging_program_is_ended_at_its_limit() {
        let mut work = shell("hang", "sleep 1000");
        work.seconds = 0;
        let error = work.measure().unwrap_err();
        assert!(error.contains("still running"), "{error}");
    }

    #[test]
    fn command_line_is_read_back() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            work: Work,
        }
        let work = shell("line", "--copies");
        let read = <Line as clap::Parser>::parse_from(work.command_line()).work;
        assert_eq!(read.command_line(), work.command_line());
    }
}
