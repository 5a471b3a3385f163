//! The engine `slurm`: an array of Slurm, with an element for each item.

use crate::Error;
use crate::engine::call::Commands;
use crate::engine::words::{Words, line};
use crate::engine::{Ended, Engine, Job, Launch, Submission};

/// The states of elements that have ended. `squeue` lists them for some minutes.
const ENDED: [&str; 10] = [
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "TIMEOUT",
];

/// How many elements an array may have, unless the cluster's `MaxArraySize` is not the default.
const CAPACITY: usize = 1000;

/// Gives pieces to Slurm. The partition, account and time limit come from the variables of
/// `sbatch`, such as `SBATCH_PARTITION`.
pub struct Slurm {
    commands: Commands,
    words: Words,
    cpus: usize,
}

impl Slurm {
    pub const ADVICE: &str = "run this on a machine that submits to the cluster";

    pub fn new(launch: &Launch, commands: Commands) -> Result<Self, Error> {
        let words = Words::new(launch)?;
        let cpus = launch.cpus.unwrap_or(1);
        Ok(Self {
            commands,
            words,
            cpus,
        })
    }
}

impl Engine for Slurm {
    fn manifest(&self, submission: &Submission) -> String {
        let name = &submission.name;
        let last = submission.items.len().saturating_sub(1);
        let cpus = self.cpus;
        let exec = line(&self.words.with_list(submission));
        format!(
            "#!/bin/sh
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={cpus}
#SBATCH --output=/dev/null
exec {exec}
"
        )
    }

    fn capacity(&self) -> usize {
        CAPACITY
    }

    fn submit(&mut self, submission: &Submission) -> Result<String, Error> {
        let script = self.manifest(submission);
        let answer = self.commands.call("sbatch", &["--parsable"], &script)?;
        if answer.err.contains("Invalid job array specification") {
            let size = submission.items.len();
            return Err(Error::never(format!(
                "sbatch refuses an array of {size}: use fewer --pieces; `scontrol show config` tells MaxArraySize"
            )));
        }
        let unknown = answer.refused("the answer has no number of a job");
        let out = answer.success()?;
        // After the number, there may be the name of the cluster.
        let id = out.trim().split(';').next().unwrap_or_default();
        let is_number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| id.to_owned()).ok_or(unknown)
    }

    fn find(&mut self, submission: &str) -> Result<Option<String>, Error> {
        let arguments = ["-h", "-t", "all", "-n", submission, "-o", "%F"];
        let out = self.commands.call("squeue", &arguments, "")?.success()?;
        Ok(out.lines().map(|id| id.trim().to_owned()).next())
    }

    /// Elements that `squeue` does not list have ended.
    fn ended(&mut self, job: &Job) -> Result<Vec<Ended>, Error> {
        let arguments = ["-r", "-h", "-t", "all", "-j", &job.id, "-o", "%i %T"];
        let answer = self.commands.call("squeue", &arguments, "")?;
        if answer.err.contains("Invalid job id specified") {
            return Ok(job.lost("squeue does not list it"));
        }
        let mut states = vec![""; job.submission.items.len()];
        let out = answer.success()?;
        for (element, state) in out.lines().filter_map(|line| line.trim().split_once(' ')) {
            let number = element.strip_prefix(&format!("{}_", job.id));
            let number = number.and_then(|number| number.parse::<usize>().ok());
            if let Some(known) = number.and_then(|number| states.get_mut(number)) {
                *known = state.trim();
            }
        }
        let items = job.submission.items.iter().zip(states);
        Ok(items
            .filter_map(|(item, state)| ended(item.clone(), state))
            .collect())
    }

    fn cancel(&mut self, job: &Job) {
        let _ = self.commands.call("scancel", &[&job.id], "");
    }
}

/// Returns how an element has ended, if it has. An empty state is that of an element that is not
/// listed.
fn ended(item: crate::name::Name, state: &str) -> Option<Ended> {
    let (code, text) = match state {
        "" => (None, "squeue does not list it"),
        "COMPLETED" => (Some(0), ""),
        state if ENDED.contains(&state) => (None, state),
        _ => return None,
    };
    let text = text.to_owned();
    Some(Ended { item, code, text })
}
