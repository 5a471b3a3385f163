//! Starts jobs, releases them together or with delays, and collects their results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidegate_policy::tunables;
use tidegate_policy::{
    DesirePolicy, IdlePolicy, MemoryPolicy, Nanos, SharePolicy, StealAmount, show_time,
};
use tidegate_workloads::Answer;

use crate::talk::Talk;
use tidegate_cli_support::failure::Failure;

#[derive(Clone, Debug)]
pub struct Spec {
    pub program: String,
    pub parameters: Vec<(String, String)>,
    pub runtime: String,
    pub workers: usize,
    /// Whether the job shares the machine with other jobs, if its runtime supports that.
    pub share: SharePolicy,
    /// What the job's idle workers do; `None` for the runtime's default.
    pub idle: Option<IdlePolicy>,
    /// How many tasks a thief takes at once; `None` for the runtime's default.
    pub steal: Option<StealAmount>,
    /// The memory policy, if the runtime has one. If set, the job's memory is measured.
    pub memory: Option<MemoryPolicy>,
    /// How the job's share controller estimates its desire; `None` for the defaults.
    pub estimates: Option<Estimates>,
}

/// How a share controller estimates its job's desire: the rule, and the time between two estimates.
#[derive(Clone, Copy, Debug)]
pub struct Estimates {
    pub desire: DesirePolicy,
    pub est_cycle: Nanos,
}

impl Spec {
    /// Creates the specification of a job that does not share the machine, and runs on all
    /// processors with the runtime's defaults.
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
            estimates: None,
        }
    }

    fn variables(&self) -> impl Iterator<Item = (&'static str, String)> {
        fn text(value: Option<impl ToString>) -> Option<String> {
            value.map(|value| value.to_string())
        }
        let desire = self.estimates.map(|estimates| estimates.desire);
        let cycle = self.estimates.map(|estimates| estimates.est_cycle);
        let all = [
            (tunables::SHARE.variable, text(Some(self.share))),
            (tunables::IDLE.variable, text(self.idle)),
            (tunables::STEAL.variable, text(self.steal)),
            (tunables::SPACE.variable, text(self.memory)),
            (tunables::DESIRE.variable, text(desire)),
            (tunables::EST_CYCLE.variable, cycle.map(show_time)),
        ];
        all.into_iter().filter_map(|(name, value)| name.zip(value))
    }

    /// Returns these parameters as `(name, value)`, spelled as on the command line.
    pub fn spelled(parameters: &Answer) -> Vec<(String, String)> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let written = parameters
            .iter()
            .map(|(name, value)| (name.clone(), text(value)));
        written.collect()
    }
}

/// Returns the path of this program.
pub fn own_path() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::Impossible(format!("this executable has no path: {error}")))
}

/// Creates a temporary folder for a table that only this bench's jobs use. Dropping the handle
/// deletes the folder.
pub fn folder() -> Result<tempfile::TempDir, Failure> {
    tempfile::tempdir()
        .map_err(|error| Failure::Impossible(format!("no folder for a table of jobs: {error}")))
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Done {
    /// Seconds from the start of the job to its end.
    pub seconds: f64,
    /// CPU time in seconds; `None` if the system does not report it.
    pub cpu_seconds: Option<f64>,
    pub context_switches: Option<u64>,
    pub told: Told,
    pub memory: Option<Memory>,
    pub answer: Value,
}

impl Done {
    /// Returns the CPU time in seconds; NaN if the system does not report it.
    pub fn cpu(&self) -> f64 {
        self.cpu_seconds.unwrap_or(f64::NAN)
    }
}

/// The sums of all workers' counters in a job. They are 0 on runtimes other than Tidegate.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default)]
pub struct Told {
    pub steals: u64,
    pub sleeps: u64,
    pub asleep_seconds: f64,
    pub busy_seconds: f64,
    pub stealing_seconds: f64,
}

impl Told {
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

/// A job's memory in bytes, and how often its tasks were stolen or put to sleep.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default)]
pub struct Memory {
    /// The peak of the memory that tasks declared.
    pub declared: u64,
    /// The peak resident memory; `None` if the system does not report it.
    pub resident: Option<u64>,
    /// The peak of the memory allocated beyond what was declared.
    pub undeclared: u64,
    pub steals: u64,
    pub sleeps: u64,
}

/// Makes glibc's allocator keep freed memory, and share it among all threads. By default, it
/// returns large blocks to the system and keeps separate memory for each thread, so that page
/// faults dominate the run time.
const KEEP: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_TRIM_THRESHOLD_", "1000000000000"),
    ("MALLOC_MMAP_THRESHOLD_", "33554432"),
];

/// A child process that is ready to run its program.
pub struct Job(Talk);

impl Job {
    /// Starts a job whose sharing table is at `table`, and waits until the job is ready.
    pub fn start(spec: &Spec, table: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(own_path()?);
        command
            .args(["bench", "job"])
            .env("TIDEGATE_TABLE", table)
            .envs(spec.variables())
            .envs(spec.memory.map(|_| KEEP).into_iter().flatten());
        let name = format!("{} on {}", spec.program, spec.runtime);
        let mut talk = Talk::start(name, &mut command)?;
        let parameters: BTreeMap<_, _> = spec.parameters.iter().cloned().collect();
        talk.say(&json!({
            "program": spec.program,
            "parameters": parameters,
            "runtime": spec.runtime,
            "workers": spec.workers,
            "counts_memory": spec.memory.is_some(),
        }));
        talk.hear("at its start")?;
        Ok(Self(talk))
    }

    pub fn go(&mut self) {
        self.0.say(&json!({"go": true}));
    }

    pub fn done(&mut self) -> Result<Done, Failure> {
        let answer = self.0.hear("at its end")?;
        Done::deserialize(&answer).map_err(|error| {
            Failure::Impossible(format!("{} answered {answer}: {error}", self.0.name))
        })
    }

    /// Kills the job, to simulate a crash.
    pub fn kill(&mut self) {
        self.0.kill();
    }
}

/// Runs jobs, each of which starts after its delay, and returns their results.
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
