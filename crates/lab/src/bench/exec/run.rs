//! Runs programs with and without `tidegate exec`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, io, thread};

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use tempfile::TempDir;
use tidegate_cli_support::affinity::{allowed, bind, first};
use tidegate_cli_support::failure::Failure;
use tidegate_share::{Location, Observer, VARIABLE};

use super::programs::{Program, uts_arguments};
use tidegate_cli_support::arguments::Size;

/// The only variables that programs get, so that those of the user change nothing.
const KEPT: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// How long a program runs before it is narrowed, or before its desire is read.
const DELAY: Duration = Duration::from_millis(300);

/// How long a program runs before `uts` starts beside it. The program must not end much earlier
/// than `uts`: while it is started again, `uts` has the machine to itself.
const HEAD_START: Duration = Duration::from_millis(100);

/// The time between two looks at the table.
const LOOK: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Plain,
    Exec,
    /// Plain, with threads that wait by spinning.
    Spinning,
}

pub struct Runner {
    tidegate: PathBuf,
    size: Size,
    /// The folder for runs and for the table of jobs.
    folder: TempDir,
    table: PathBuf,
    /// What `tidegate exec` has said about the programs.
    messages: Mutex<BTreeSet<String>>,
}

struct Run<'a> {
    program: &'a Program,
    /// The current folder of the program, which also holds what it prints.
    folder: TempDir,
    child: Child,
    ended: bool,
}

impl Runner {
    pub fn new(tidegate: PathBuf, size: Size) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()
            .map_err(|error| Failure::Impossible(format!("no folder for programs: {error}")))?;
        Ok(Self {
            tidegate,
            size,
            table: folder.path().join("table.v1"),
            folder,
            messages: Mutex::default(),
        })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns what `tidegate exec` has said about the programs, each line once.
    pub fn messages(&self) -> Vec<String> {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.iter().cloned().collect()
    }

    /// Runs copies of a program at once. Returns the seconds until the last one has ended.
    pub fn together(&self, program: &Program, way: Way, copies: usize) -> Result<f64, Failure> {
        self.watched(program, way, copies, |_| Ok(()))
    }

    /// Like `together`, but calls `act` with the running copies.
    fn watched<'a>(
        &self,
        program: &'a Program,
        way: Way,
        copies: usize,
        act: impl FnOnce(&mut [Run<'a>]) -> Result<(), Failure>,
    ) -> Result<f64, Failure> {
        let start = Instant::now();
        let runs = (0..copies).map(|_| self.start(program, way));
        let mut runs = runs.collect::<Result<Vec<_>, _>>()?;
        act(&mut runs)?;
        runs.iter_mut().try_for_each(Run::wait)?;
        let seconds = start.elapsed().as_secs_f64();
        runs.iter().try_for_each(|run| self.check(run))?;
        Ok(seconds)
    }

    /// Runs two spinning copies at once, each of which is soon narrowed to one processor.
    pub fn narrowed(&self, program: &Program) -> Result<f64, Failure> {
        let all = allowed()?;
        let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu));
        self.watched(program, Way::Spinning, 2, |runs| {
            thread::sleep(DELAY);
            let pairs = runs.iter().zip(cpus);
            pairs.into_iter().try_for_each(|(run, cpu)| run.narrow(cpu))
        })
    }

    /// Runs `uts` on Tidegate, on half of the processors. Returns its seconds.
    pub fn half(&self) -> Result<f64, Failure> {
        let half = first(allowed()?.count() as usize / 2)?;
        // Children inherit the affinity of the thread that starts them.
        thread::scope(|scope| {
            let confined = scope.spawn(|| bind(&half).and_then(|()| self.uts()));
            confined.join().expect("no run panics")
        })
    }

    /// Runs `uts` on Tidegate beside a program under `tidegate exec`, which is started again until
    /// `uts` has ended. Returns the seconds of `uts`.
    pub fn beside(&self, program: &Program) -> Result<f64, Failure> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let neighbour = scope.spawn(|| {
                // Relaxed: the flag publishes no other data.
                while !over.load(Ordering::Relaxed) {
                    self.together(program, Way::Exec, 1)?;
                }
                Ok::<(), Failure>(())
            });
            thread::sleep(HEAD_START);
            let seconds = self.uts();
            over.store(true, Ordering::Relaxed);
            neighbour.join().expect("no run panics")?;
            seconds
        })
    }

    /// Runs a program under `tidegate exec`. Returns the greatest desire that the table shows
    /// after the first cycles.
    pub fn desire(&self, program: &Program) -> Result<f64, Failure> {
        let location = Location::at(&self.table);
        let mut greatest = None;
        self.watched(program, Way::Exec, 1, |runs| {
            thread::sleep(DELAY);
            while !runs[0].has_ended()? {
                let desire = desire(&location, runs[0].child.id())?;
                greatest = greatest.max(desire);
                thread::sleep(LOOK);
            }
            Ok(())
        })?;
        greatest.map(|desire| desire as f64).ok_or_else(|| {
            let why = self.messages().join("; ");
            Failure::Impossible(format!("`tidegate exec` took no seat in the table: {why}"))
        })
    }

    /// Runs `uts` on Tidegate, which checks its answer itself. Returns its seconds.
    fn uts(&self) -> Result<f64, Failure> {
        const NAME: &str = "uts on Tidegate";
        let start = Instant::now();
        let mut command = self.command(&self.tidegate);
        command.args(["run", "uts"]).args(uts_arguments(self.size));
        let output = command.output().map_err(|error| failed(NAME, &error))?;
        let seconds = start.elapsed().as_secs_f64();
        match (output.status.success(), output.status.code()) {
            (true, _) => Ok(seconds),
            (_, Some(1)) => Err(Failure::Wrong(format!("{NAME}: wrong answer"))),
            _ => Err(failed(
                NAME,
                &String::from_utf8_lossy(&output.stderr).trim(),
            )),
        }
    }

    fn command(&self, executable: impl AsRef<OsStr>) -> Command {
        let kept = KEPT
            .iter()
            .filter_map(|name| Some((name, env::var_os(name)?)));
        let mut command = Command::new(executable);
        command
            .stdin(Stdio::null())
            .env_clear()
            .envs(kept)
            .env(VARIABLE, &self.table);
        command
    }

    fn start<'a>(&self, program: &'a Program, way: Way) -> Result<Run<'a>, Failure> {
        let failed = |error: io::Error| failed(program.name, &error);
        let folder = TempDir::new_in(self.folder()).map_err(failed)?;
        let mut command = match way {
            Way::Plain | Way::Spinning => self.command(&program.command[0]),
            Way::Exec => {
                let mut command = self.command(&self.tidegate);
                command.args(["exec", "--"]).arg(&program.command[0]);
                command
            }
        };
        if way == Way::Spinning {
            command.env("OMP_WAIT_POLICY", "active");
        }
        let create = |name| File::create(folder.path().join(name));
        let child = command
            .args(&program.command[1..])
            .current_dir(folder.path())
            .stdout(create(ANSWER).map_err(failed)?)
            .stderr(create(MESSAGES).map_err(failed)?)
            .spawn()
            .map_err(failed)?;
        Ok(Run {
            program,
            folder,
            child,
            ended: false,
        })
    }

    /// Fails if a run that has ended printed a wrong answer. Collects the messages of
    /// `tidegate exec`.
    fn check(&self, run: &Run<'_>) -> Result<(), Failure> {
        let name = run.program.name;
        let ours = run.messages();
        let ours = ours
            .lines()
            .filter(|line| line.starts_with("tidegate exec:"));
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.extend(ours.map(|line| format!("{name}: {line}")));
        let answer = fs::read(run.folder.path().join(ANSWER));
        if answer.map_err(|error| failed(name, &error))? == run.program.answer {
            Ok(())
        } else {
            Err(Failure::Wrong(format!("{name}: wrong answer")))
        }
    }
}

/// The files for what a program prints.
const ANSWER: &str = "answer";
const MESSAGES: &str = "messages";

fn failed(name: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::Impossible(format!("{name}: {why}"))
}

/// Returns the desire of the job of this process, or `None` if the table has no such job.
fn desire(location: &Location, pid: u32) -> Result<Option<usize>, Failure> {
    let refused = |refusal: tidegate_share::Refusal| Failure::Impossible(refusal.to_string());
    let Some(mut observer) = Observer::open(location).map_err(refused)? else {
        return Ok(None);
    };
    let jobs = observer.jobs().map_err(refused)?;
    Ok(jobs.iter().find(|job| job.pid == pid).map(|job| job.desire))
}

impl Run<'_> {
    fn wait(&mut self) -> Result<(), Failure> {
        let status = self.child.wait();
        self.ended = true;
        let status = status.map_err(|error| failed(self.program.name, &error))?;
        let (name, messages) = (self.program.name, self.messages());
        let messages = messages.trim();
        match (status.success(), status.code()) {
            (true, _) => Ok(()),
            (_, Some(1)) => Err(Failure::Wrong(format!("{name}: {messages}"))),
            _ => Err(failed(name, &format!("{status}: {messages}"))),
        }
    }

    fn has_ended(&mut self) -> Result<bool, Failure> {
        let ended = self.child.try_wait();
        let ended = ended.map_err(|error| failed(self.program.name, &error))?;
        Ok(ended.is_some())
    }

    fn messages(&self) -> String {
        let text = fs::read(self.folder.path().join(MESSAGES)).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Restricts all threads of the program to one processor.
    fn narrow(&self, cpu: usize) -> Result<(), Failure> {
        let mut cpus = CpuSet::new();
        cpus.set(cpu);
        let failed = |error: io::Error| failed(self.program.name, &error);
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id()));
        for thread in threads.map_err(failed)? {
            let name = thread.map_err(failed)?.file_name();
            let thread = name.to_str().and_then(|name| name.parse().ok());
            let Some(thread) = thread.and_then(Pid::from_raw) else {
                continue;
            };
            match sched_setaffinity(Some(thread), &cpus) {
                // The thread has ended.
                Ok(()) | Err(Errno::SRCH) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        Ok(())
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::thread::sched_getaffinity;

    use super::*;

    #[test]
    fn narrowed_program_has_one_processor() {
        let runner = Runner::new("tidegate".into(), Size::Tiny).unwrap();
        let sleeper = Program {
            name: "sleep",
            command: vec!["sleep".into(), "1000".into()],
            answer: Vec::new(),
        };
        let run = runner.start(&sleeper, Way::Spinning).unwrap();
        let cpus = allowed().unwrap();
        let last = (0..CpuSet::MAX_CPU).rfind(|cpu| cpus.is_set(*cpu)).unwrap();
        run.narrow(last).unwrap();
        let found = sched_getaffinity(Pid::from_raw(run.child.id() as i32)).unwrap();
        assert!(found.count() == 1 && found.is_set(last), "{found:?}");
    }
}
