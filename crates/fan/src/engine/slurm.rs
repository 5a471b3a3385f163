//! The engine `slurm`: an array of Slurm, with an element for each item.

use std::env;

use crate::Error;
use crate::engine::call::{Answer, Commands};
use crate::engine::cluster::Cluster;
use crate::engine::words::line;
use crate::engine::{Alive, Engine, Launch, Round};

/// The states of elements whose pieces have ended. `squeue` lists them for some minutes. In any other,
/// such as CONFIGURING or SUSPENDED, a piece lives.
#[rustfmt::skip]
const ENDED: [&str; 13] = [
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "DEADLINE", "FAILED", "LAUNCH_FAILED",
    "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "RECONFIG_FAIL", "REVOKED", "TIMEOUT",
];

/// How many names one call of `squeue` gets: an argument has a limited length.
const NAMES: usize = 1000;

/// How many elements an array may have, unless the cluster's `MaxArraySize` is below its default.
const CAPACITY: usize = 1000;

/// Gives pieces to Slurm. The partition, account, cluster and time limit come from the variables of
/// `sbatch`, such as `SBATCH_PARTITION`.
pub struct Slurm {
    cluster: Cluster,
    /// How many elements an array may have now.
    capacity: usize,
    /// How many elements an array may ever have.
    most: usize,
    /// The option that names the cluster, if it is not this one.
    on: Vec<String>,
}

/// An element that has not ended.
struct Element {
    /// The name of its job.
    name: String,
    state: String,
    /// Why it waits, or `None`.
    reason: String,
}

impl Slurm {
    pub const ADVICE: &str = "run this on a machine that submits to the cluster";

    pub fn new(launch: &Launch, commands: Commands) -> Result<Self, Error> {
        Self::of_cluster(launch, env::var("SBATCH_CLUSTERS").ok(), commands)
    }

    /// `name` is that of the cluster, if it is not this one.
    pub fn of_cluster(
        launch: &Launch,
        name: Option<String>,
        commands: Commands,
    ) -> Result<Self, Error> {
        let on = name.map(|name| vec!["-M".to_owned(), name]);
        Ok(Self {
            cluster: Cluster::new(launch, "SLURM_ARRAY_TASK_ID", commands)?,
            capacity: CAPACITY,
            most: CAPACITY,
            on: on.unwrap_or_default(),
        })
    }

    /// Returns a command for the user.
    fn command(&self, program: &str, arguments: &[&str]) -> String {
        let on = self.on.iter().map(String::as_str);
        let words = [program].into_iter().chain(on);
        line(&words.chain(arguments.iter().copied()).collect::<Vec<_>>())
    }

    fn call(&self, program: &str, arguments: &[&str], input: &str) -> Result<Answer, Error> {
        let on = self.on.iter().map(String::as_str);
        let arguments: Vec<_> = on.chain(arguments.iter().copied()).collect();
        self.cluster.commands.call(program, &arguments, input)
    }

    /// Returns the elements of the rounds that have not ended.
    fn elements(&self, rounds: &[&Round]) -> Result<Vec<Element>, Error> {
        let mut all = Vec::new();
        for rounds in rounds.chunks(NAMES) {
            all.extend(self.some_elements(rounds)?);
        }
        Ok(all)
    }

    fn some_elements(&self, rounds: &[&Round]) -> Result<Vec<Element>, Error> {
        let names: Vec<_> = rounds.iter().map(|round| round.name.as_str()).collect();
        let names = names.join(",");
        // `-t` compares states exactly: one that is CONFIGURING is not RUNNING.
        let arguments = [
            "-r", "-a", "-h", "-t", "all", "-n", &names, "-o", "%j %T %r",
        ];
        let out = self.call("squeue", &arguments, "")?.success()?;
        let elements = out.lines().filter_map(|line| {
            let mut words = line.trim().splitn(3, ' ');
            let mut word = || words.next().map(str::to_owned);
            let (name, state, reason) = (word()?, word()?, word().unwrap_or_default());
            // Of several clusters, each begins with a line that names it.
            let is_ours = rounds.iter().any(|round| round.name == name);
            (is_ours && !ENDED.contains(&state.as_str())).then_some(Element {
                name,
                state,
                reason,
            })
        });
        Ok(elements.collect())
    }
}

impl Engine for Slurm {
    fn manifest(&self, round: &Round) -> String {
        let (array, cpus) = (array(round), self.cluster.cpus);
        let exec = line(&self.cluster.words.with_list(round));
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

    fn submit(&mut self, round: &Round) -> Result<(), Error> {
        let script = self.manifest(round);
        // In the script, these would not win against variables such as `SBATCH_ARRAY_INX`.
        let name = format!("--job-name={}", round.name);
        let array = array(round);
        // An element that is requeued would be listed as ended first. `run` submits it again.
        let arguments = ["--no-requeue", &name, &array];
        let answer = self.call("sbatch", &arguments, &script)?;
        let half = (round.items.len() / 2).max(1);
        if answer.err.contains("Invalid job array specification") {
            (self.capacity, self.most) = (half, half);
        } else if answer.err.contains("submit limit") {
            self.capacity = half;
        }
        if answer.err.contains("DOS line breaks") {
            let text = "a path has a line break of DOS, which sbatch rejects: choose another --dir";
            return Err(Error::never(text));
        }
        answer.check()?;
        // A limit of submissions is free again when elements have ended.
        self.capacity = (self.capacity * 2).min(self.most);
        Ok(())
    }

    fn alive(&mut self, rounds: &[&Round]) -> Result<Vec<Alive>, Error> {
        let elements = self.elements(rounds)?;
        let alive = rounds.iter().map(|round| {
            let ours = elements.iter().filter(|element| element.name == round.name);
            let (running, waiting): (Vec<_>, Vec<_>) =
                ours.partition(|element| element.state == "RUNNING");
            Alive {
                name: round.name.clone(),
                running: running.len(),
                waiting: waiting.len(),
            }
        });
        Ok(alive
            .filter(|alive| alive.running + alive.waiting > 0)
            .collect())
    }

    fn reason(&mut self, round: &Round) -> Result<String, Error> {
        let mut elements = self.elements(&[round])?.into_iter();
        let waiting = elements.find(|element| element.state != "RUNNING");
        Ok(waiting.map_or_else(String::new, |element| {
            // One that is CONFIGURING or SUSPENDED has no other reason.
            let reason = match element.reason.as_str() {
                "None" | "" => element.state,
                _ => element.reason,
            };
            if reason.to_lowercase().contains("held") {
                let name = format!("jobname={}", round.name);
                let release = self.command("scontrol", &["release", &name]);
                return format!("{reason}: `{release}` releases them");
            }
            reason
        }))
    }

    fn cancel(&mut self, round: &Round) -> Result<(), Error> {
        let name = format!("--name={}", round.name);
        self.call("scancel", &[&name], "")?.check()
    }

    fn details(&self, round: &Round) -> Option<String> {
        let name = format!("--name={}", round.name);
        Some(self.command("squeue", &[&name, "--states=all", "--long"]))
    }
}

/// Returns the option that makes an element for each item.
fn array(round: &Round) -> String {
    let last = round.items.len().saturating_sub(1);
    format!("--array=0-{last}")
}
