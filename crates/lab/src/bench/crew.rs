//! Starting jobs, letting them go at the same moment or later, and collecting what came of them.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidegate_policy::tunables;
use tidegate_policy::{
    DesirePolicy, IdlePolicy, MemoryPolicy, Nanos, SharePolicy, StealAmount, show_time,
};
use tidegate_workloads::Program;

use tidegate_command::failure::Failure;

/// What one job is to do.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The program and its parameters.
    pub program: String,
    pub parameters: Vec<(String, String)>,
    /// On which runtime, with how many workers.
    pub runtime: String,
    pub workers: usize,
    /// Whether it shares the machine, where the runtime can.
    pub share: SharePolicy,
    /// How its thieves rest, where it is not as they do without being told.
    pub idle: Option<IdlePolicy>,
    /// How many tasks they take, likewise.
    pub steal: Option<StealAmount>,
    /// Which of its tasks may have memory, where the runtime can tell, and that its memory is counted.
    pub memory: Option<MemoryPolicy>,
    /// How many processors it may use, of those that this process may; all if none is said.
    pub processors: Option<usize>,
    /// How its share controller estimates what it could use, where it is not by the defaults.
    pub estimates: Option<Estimates>,
}

/// By which rule a share controller estimates what a job could use, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Estimates {
    pub desire: DesirePolicy,
    pub est_cycle: Nanos,
}

impl Spec {
    /// A job that does not share the machine, with the runtime's defaults on all processors.
    pub fn new(
        program: &str,
        parameters: Vec<(String, String)>,
        runtime: &str,
        workers: usize,
    ) -> Self {
        Self {
            program: program.to_owned(),
            parameters,
            runtime: runtime.to_owned(),
            workers,
            share: SharePolicy::Off,
            idle: None,
            steal: None,
            memory: None,
            processors: None,
            estimates: None,
        }
    }

    /// All parameters of a program, as they are written.
    pub fn parameters_of<P: Program>(program: &P) -> Vec<(String, String)> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let parameters = program.parameters();
        let written = parameters
            .iter()
            .map(|(name, value)| (name.clone(), text(value)));
        written.collect()
    }
}

/// What a job's process is told.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Request {
    pub program: String,
    pub parameters: BTreeMap<String, String>,
    pub runtime: String,
    pub workers: usize,
    /// How many of its processors it may use; all if none is said.
    pub processors: Option<usize>,
    /// Whether its memory is counted.
    #[serde(default)]
    pub counts_memory: bool,
}

impl From<&Spec> for Request {
    fn from(spec: &Spec) -> Self {
        Self {
            program: spec.program.clone(),
            parameters: spec.parameters.iter().cloned().collect(),
            runtime: spec.runtime.clone(),
            workers: spec.workers,
            processors: spec.processors,
            counts_memory: spec.memory.is_some(),
        }
    }
}

impl Request {
    /// Confines this process to the processors that the job may use.
    #[cfg(target_os = "linux")]
    pub fn confine(&self) -> Result<(), Failure> {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let Some(count) = self.processors else {
            return Ok(());
        };
        let refused = |error: rustix::io::Errno| {
            Failure::Impossible(format!(
                "the job cannot be confined to {count} processors: {error}"
            ))
        };
        let all = sched_getaffinity(None).map_err(refused)?;
        let mut some = CpuSet::new();
        let allowed = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu));
        allowed.take(count).for_each(|cpu| some.set(cpu));
        sched_setaffinity(None, &some).map_err(refused)
    }

    /// Confines this process to the processors that the job may use: here the system cannot.
    #[cfg(not(target_os = "linux"))]
    pub fn confine(&self) -> Result<(), Failure> {
        match self.processors {
            None => Ok(()),
            Some(_) => Err(Failure::Impossible(
                "this system confines no job to processors".into(),
            )),
        }
    }
}

impl Estimates {
    fn variables(self) -> Option<[(&'static str, String); 2]> {
        let desire = (tunables::DESIRE.variable?, self.desire.to_string());
        let est_cycle = (tunables::EST_CYCLE.variable?, show_time(self.est_cycle));
        Some([desire, est_cycle])
    }
}

/// A folder for a table that no other jobs use; it is gone when this is dropped.
pub fn folder() -> Result<tempfile::TempDir, Failure> {
    tempfile::tempdir()
        .map_err(|error| Failure::Impossible(format!("no folder for a table of jobs: {error}")))
}

/// What came of a job.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Done {
    /// From its start to its end.
    pub seconds: f64,
    /// None where the system does not count it.
    pub cpu_seconds: Option<f64>,
    pub context_switches: Option<u64>,
    pub told: Told,
    pub memory: Option<Memory>,
    pub answer: Value,
}

impl Done {
    /// CPU time in seconds; NaN where the system does not count it.
    pub fn cpu(&self) -> f64 {
        self.cpu_seconds.unwrap_or(f64::NAN)
    }
}

/// What the workers of a job did, all together; nothing is known of other runtimes.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default)]
pub struct Told {
    pub steals: u64,
    pub sleeps: u64,
    pub asleep_seconds: f64,
    pub busy_seconds: f64,
    pub stealing_seconds: f64,
}

impl Told {
    /// What was done since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            steals: self.steals - before.steals,
            sleeps: self.sleeps - before.sleeps,
            asleep_seconds: self.asleep_seconds - before.asleep_seconds,
            busy_seconds: self.busy_seconds - before.busy_seconds,
            stealing_seconds: self.stealing_seconds - before.stealing_seconds,
        }
    }
}

/// What memory a job had, and what became of its tasks because of that.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default)]
pub struct Memory {
    /// The most that its tasks had declared.
    pub declared: u64,
    /// The most that the process had, as the system counts it; none where that does not.
    pub resident: Option<u64>,
    /// The most that was allocated beyond what was declared.
    pub undeclared: u64,
    pub steals: u64,
    pub sleeps: u64,
}

/// The system's allocator keeps what is freed, for all threads, where it is glibc's: else large blocks go back and forth, each thread keeps its own, and time is that of
/// page faults.
const KEEP: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_TRIM_THRESHOLD_", "1000000000000"),
    ("MALLOC_MMAP_THRESHOLD_", "33554432"),
];

/// A job's process, ready to go.
pub struct Job {
    name: String,
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Job {
    /// Starts a job that shares through the table at `table`, and waits until it is ready.
    pub fn start(spec: &Spec, table: &Path) -> Result<Self, Failure> {
        let name = format!("{} on {}", spec.program, spec.runtime);
        let failed =
            |error: io::Error| Failure::Impossible(format!("{name} does not start: {error}"));
        let this = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(this)
            .args(["bench", "job"])
            .env("TIDEGATE_TABLE", table)
            .env(
                tunables::SHARE.variable.unwrap_or_default(),
                spec.share.to_string(),
            )
            .envs(
                spec.idle
                    .and_then(|idle| Some((tunables::IDLE.variable?, idle.to_string()))),
            )
            .envs(
                spec.steal
                    .and_then(|steal| Some((tunables::STEAL.variable?, steal.to_string()))),
            )
            .envs(
                spec.estimates
                    .and_then(Estimates::variables)
                    .into_iter()
                    .flatten(),
            )
            .envs(spec.memory.map(|_| KEEP).into_iter().flatten())
            .envs(
                spec.memory
                    .and_then(|memory| Some((tunables::SPACE.variable?, memory.to_string()))),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (requests, answers) = pipes.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        let mut job = Self {
            name,
            child,
            requests: Some(requests),
            answers: BufReader::new(answers),
        };
        job.say(&json!(Request::from(spec)));
        job.hear()?;
        Ok(job)
    }

    /// Lets it begin.
    pub fn go(&mut self) {
        self.say(&json!({"go": true}));
    }

    fn say(&mut self, line: &Value) {
        // Where nobody listens any more, reading the answer tells why.
        let _ = self
            .requests
            .as_mut()
            .map(|requests| writeln!(requests, "{line}"));
    }

    fn hear(&mut self) -> Result<Value, Failure> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line);
        let answer = read.ok().filter(|bytes| *bytes > 0);
        let answer = answer.and_then(|_| serde_json::from_str(&line).ok());
        answer.ok_or_else(|| {
            let status = self
                .child
                .wait()
                .map_or_else(|error| error.to_string(), |s| s.to_string());
            Failure::Impossible(format!(
                "{} ended with {status} instead of an answer",
                self.name
            ))
        })
    }

    /// Waits for its end.
    pub fn done(&mut self) -> Result<Done, Failure> {
        let answer = self.hear()?;
        Done::deserialize(&answer).map_err(|error| {
            Failure::Impossible(format!("{} answered {answer}: {error}", self.name))
        })
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // Whoever still computes is not waited for; the others end with their input.
        self.requests = None;
        self.kill();
        let _ = self.child.wait();
    }
}

/// Runs jobs that start together, those with a delay so much later; what came of each.
pub fn run(specs: &[(Spec, Duration)], table: &Path) -> Result<Vec<Done>, Failure> {
    let jobs = specs
        .iter()
        .map(|(spec, delay)| Ok((Job::start(spec, table)?, *delay)));
    let mut jobs: Vec<(Job, Duration)> = jobs.collect::<Result<_, Failure>>()?;
    let start = Instant::now();
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|job| jobs[*job].1);
    for job in order {
        let (job, delay) = &mut jobs[job];
        thread::sleep(delay.saturating_sub(start.elapsed()));
        job.go();
    }
    jobs.iter_mut().map(|(job, _)| job.done()).collect()
}
