//! The engine `slurm`: an array of Slurm, with an element for each item.

use std::env;

use crate::Error;
use crate::engine::call::Commands;
use crate::engine::cluster::{Cluster, SILENT, more};
use crate::engine::words::line;
use crate::engine::{Ended, Engine, Fault, Job, Launch, Queue, Submission};
use crate::name::Name;

/// The states of elements whose pieces have ended. `squeue` lists them for some minutes.
const ENDED: [&str; 13] = [
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "COMPLETING",
    "DEADLINE",
    "FAILED",
    "LAUNCH_FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "RECONFIG_FAIL",
    "REVOKED",
    "TIMEOUT",
];

/// How many elements an array may have, unless the cluster's `MaxArraySize` is below its default.
const CAPACITY: usize = 1000;

/// What `squeue` shows of an element.
const COLUMNS: &str = "JobArrayID:40,State:20,exit_code:12,Reason:200";

const UNLISTED: &str = "squeue does not list it";

/// What `squeue` shows of an element. One that it does not list has ended.
#[derive(Clone, Default)]
struct Element {
    /// Empty if it is not listed.
    state: String,
    /// The exit code, or 0 after a signal, or if Slurm made up the end.
    code: i32,
    /// Why it waits, or has ended, or empty if Slurm gives no reason.
    reason: String,
}

/// Gives pieces to Slurm. The partition, account and time limit come from the variables of
/// `sbatch`, such as `SBATCH_PARTITION`.
pub struct Slurm {
    cluster: Cluster,
    /// How many elements an array may have.
    capacity: usize,
}

impl Slurm {
    pub const ADVICE: &str = "run this on a machine that submits to the cluster";

    pub fn new(launch: &Launch, commands: Commands) -> Result<Self, Error> {
        Ok(Self {
            cluster: Cluster::new(launch, "SLURM_ARRAY_TASK_ID", commands)?,
            capacity: CAPACITY,
        })
    }

    /// Returns the elements of the job, or `None` if Slurm does not know it. The number alone may
    /// be that of another job, because Slurm uses numbers again.
    fn elements(&self, job: &Job) -> Result<Option<Vec<Element>>, Fault> {
        let (id, cluster) = split(&job.id);
        let mut arguments = on(cluster);
        let name = &job.submission.name;
        arguments.extend([
            "-r", "-a", "-h", "-t", "all", "-j", id, "-n", name, "-O", COLUMNS,
        ]);
        let answer = self.cluster.commands.call("squeue", &arguments, "")?;
        if answer.err.contains("Invalid job id specified") {
            return Ok(None);
        }
        let mut elements = vec![Element::default(); job.submission.items.len()];
        for line in answer.success()?.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            if let [element, state, code, reason @ ..] = &words[..]
                && let Some(number) = element.strip_prefix(&format!("{id}_"))
                && let Ok(number) = number.parse::<usize>()
                && let Some(known) = elements.get_mut(number)
            {
                let reason = reason.join(" ");
                *known = Element {
                    state: (*state).to_owned(),
                    code: exit_code(code),
                    reason: if reason == "None" { "" } else { &reason }.to_owned(),
                };
            }
        }
        Ok(Some(elements))
    }
}

impl Engine for Slurm {
    fn manifest(&self, submission: &Submission) -> String {
        let (array, cpus) = (array(submission), self.cluster.cpus);
        let exec = line(&self.cluster.words.with_list(submission));
        format!(
            "#!/bin/sh
#SBATCH {array}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={cpus}
#SBATCH --output=/dev/null
exec {exec}
"
        )
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn submit(&mut self, submission: &Submission) -> Result<String, Fault> {
        let script = self.manifest(submission);
        // In the script, these would not win against variables such as `SBATCH_ARRAY_INX`.
        let name = format!("--job-name={}", submission.name);
        let array = array(submission);
        let arguments = ["--parsable", &name, &array];
        let answer = self.cluster.commands.call("sbatch", &arguments, &script)?;
        if answer.err.contains("Invalid job array specification") {
            self.capacity = (submission.items.len() / 2).max(1);
        }
        if answer.err.contains("DOS line breaks") {
            let text = "a path has a line break of DOS, which sbatch rejects: choose another --dir";
            return Err(Error::never(text).into());
        }
        let unknown = answer.refused("the answer has no number of a job");
        let out = answer.success()?;
        let id = out.trim();
        let (number, _) = split(id);
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        Ok(is_number.then(|| id.to_owned()).ok_or(unknown)?)
    }

    /// A job that has ended does not count: Slurm may keep a failed one of a submission that it has
    /// refused.
    fn find(&mut self, submission: &str) -> Result<Option<String>, Fault> {
        let clusters = env::var("SBATCH_CLUSTERS").ok();
        let mut arguments = on(clusters.as_deref());
        // `-t` compares states exactly: one that is CONFIGURING is not RUNNING. With `-h`, newer
        // releases would not name the cluster.
        arguments.extend(["-a", "-t", "all", "-n", submission, "-o", "%F %T"]);
        let out = self
            .cluster
            .commands
            .call("squeue", &arguments, "")?
            .success()?;
        let mut cluster = None;
        for words in out.lines().filter_map(|line| line.trim().split_once(' ')) {
            match (words, cluster) {
                (("CLUSTER:", name), _) => cluster = Some(name),
                // The header.
                ((_, "STATE"), _) => {}
                ((_, state), _) if ENDED.contains(&state) => {}
                ((id, _), Some(cluster)) => return Ok(Some(format!("{id};{cluster}"))),
                ((id, _), None) => return Ok(Some(id.to_owned())),
            }
        }
        Ok(None)
    }

    fn ended(&mut self, job: &Job) -> Result<Vec<Ended>, Fault> {
        let Some(elements) = self.elements(job)? else {
            return Ok(job.lost(UNLISTED));
        };
        let items = job.submission.items.iter().zip(elements);
        Ok(items
            .filter_map(|(item, element)| element.ended(item.clone()))
            .collect())
    }

    fn queue(&mut self, job: &Job) -> Result<Queue, Fault> {
        let mut queue = Queue::default();
        for element in self.elements(job)?.unwrap_or_default() {
            match element.state.as_str() {
                "RUNNING" => queue.running += 1,
                state if state.is_empty() || ENDED.contains(&state) => {}
                _ => {
                    queue.waiting += 1;
                    // One that is CONFIGURING or SUSPENDED has no other reason.
                    queue.reason = if element.reason.is_empty() {
                        element.state
                    } else {
                        element.reason
                    };
                }
            }
        }
        let (id, cluster) = split(&job.id);
        let show = [&["scontrol"], &on(cluster)[..], &["show", "job", id]].concat();
        queue.reason += &more(&show);
        Ok(queue)
    }

    fn cancel(&mut self, job: &Job) -> Result<(), Fault> {
        let (id, cluster) = split(&job.id);
        let name = format!("--name={}", job.submission.name);
        let mut arguments = on(cluster);
        arguments.extend([&name, id]);
        let answer = self.cluster.commands.call("scancel", &arguments, "")?;
        let is_gone = |text| answer.err.contains(text);
        if !is_gone("Invalid job id specified") && !is_gone("already completing or completed") {
            answer.check()?;
        }
        Ok(())
    }
}

/// Returns the option that makes an element for each item.
fn array(submission: &Submission) -> String {
    let last = submission.items.len().saturating_sub(1);
    format!("--array=0-{last}")
}

/// Splits what `sbatch` calls a job: its number, and, after a semicolon, its cluster, if
/// `SBATCH_CLUSTERS` names any.
fn split(id: &str) -> (&str, Option<&str>) {
    match id.split_once(';') {
        Some((number, cluster)) => (number, Some(cluster)),
        None => (id, None),
    }
}

/// Returns the option that names clusters.
fn on(clusters: Option<&str>) -> Vec<&str> {
    clusters.map_or_else(Vec::new, |clusters| vec!["-M", clusters])
}

/// Returns the exit code in a `code:signal`, as `squeue` has printed since 23.02, or in the status
/// of the kernel, as before.
fn exit_code(text: &str) -> i32 {
    match text.split_once(':') {
        Some((code, _)) => code.parse().unwrap_or(0),
        None => text.parse().map_or(0, |status: i32| status / 256),
    }
}

impl Element {
    /// Returns how the element has ended, if it has.
    fn ended(&self, item: Name) -> Option<Ended> {
        let (code, text) = match self.state.as_str() {
            "" => (None, UNLISTED.to_owned()),
            "COMPLETED" => (Some(0), String::new()),
            state if ENDED.contains(&state) => self.failed(),
            _ => return None,
        };
        Some(Ended { item, code, text })
    }

    /// Returns the exit code, if there is one, and what Slurm says.
    fn failed(&self) -> (Option<i32>, String) {
        let Self { state, reason, .. } = self;
        let why = if reason.is_empty() {
            String::new()
        } else {
            format!(" ({reason})")
        };
        match self.code {
            code @ 1.. => {
                let text = format!("Slurm says {state} with code {code}{why}");
                (Some(code), text + "; the piece has left no message")
            }
            _ => (None, format!("Slurm says {state}{why}; {SILENT}")),
        }
    }
}
