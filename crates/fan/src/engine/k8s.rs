//! The engine `k8s`: an indexed Job of Kubernetes, with an index for each item.

use serde::Deserialize;
use serde_json::json;

use crate::Error;
use crate::engine::call::Commands;
use crate::engine::cluster::Cluster;
use crate::engine::options::Claim;
use crate::engine::words::line;
use crate::engine::{Alive, Engine, Launch, Round};

/// How many indexes a Job may have.
const CAPACITY: usize = 100_000;
/// The longest name of a Job. With its index, it is the name of a machine.
const LONGEST: usize = 52;
/// The seconds for which Kubernetes keeps a Job that has ended.
const KEPT: u32 = 86_400;

/// The pods that wait.
const WAITING: &str = "--field-selector=status.phase=Pending";
/// A line for each pod: why no node takes it, or why its container does not start.
const PENDING: &str = concat!(
    r#"{range .items[*]}{.status.conditions[?(@.type=="PodScheduled")].message} "#,
    "{.status.containerStatuses[*].state.waiting.reason} ",
    r#"{.status.containerStatuses[*].state.waiting.message}{"\n"}{end}"#
);

/// What a piece runs in.
#[derive(Clone, Debug)]
pub struct Container {
    pub image: String,
    pub claim: Claim,
}

/// Gives pieces to the cluster and namespace of `kubectl`'s current context.
pub struct K8s {
    cluster: Cluster,
    container: Container,
}

/// The label of all Jobs of `fan`.
const LABEL: &str = "tidegate-fan";

/// The answer to `get jobs`.
#[derive(Deserialize)]
struct Jobs {
    items: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    metadata: Metadata,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    succeeded: usize,
    /// Such as `1,3-5`.
    failed_indexes: String,
    /// How many pods run.
    ready: usize,
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

impl Status {
    /// Whether one of these conditions holds.
    fn is(&self, kinds: &[&str]) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|it| kinds.contains(&it.kind.as_str()) && it.status == "True")
    }
}

impl K8s {
    pub const ADVICE: &str = "install kubectl, and give it access to a cluster";

    pub fn new(launch: &Launch, container: &Container, commands: Commands) -> Result<Self, Error> {
        let mounted = &container.claim.path;
        for path in [&launch.plan, &launch.out] {
            if !path.starts_with(mounted) {
                return Err(Error::never(format!(
                    "{} is not in {}, which --claim mounts",
                    path.display(),
                    mounted.display()
                )));
            }
        }
        Ok(Self {
            cluster: Cluster::new(launch, "JOB_COMPLETION_INDEX", commands)?,
            container: container.clone(),
        })
    }

    /// Returns the Jobs of `fan`.
    fn jobs(&self) -> Result<Vec<Job>, Error> {
        let arguments = ["get", "jobs", "-l", LABEL, "-o", "json"];
        let answer = self.cluster.commands.call("kubectl", &arguments, "")?;
        let unknown = answer.refused("the answer is unknown");
        let jobs = serde_json::from_str::<Jobs>(&answer.success()?);
        jobs.map(|jobs| jobs.items).map_err(|_| unknown)
    }

    /// Returns why the first pod waits that says it.
    fn pending(&self, job: &str) -> Result<String, Error> {
        let of_job = format!("job-name={job}");
        let columns = format!("jsonpath={PENDING}");
        let arguments = ["get", "pods", "-l", &of_job, WAITING, "-o", &columns];
        let answer = self.cluster.commands.call("kubectl", &arguments, "")?;
        let out = answer.success()?;
        let mut reasons = out.lines().map(str::trim).filter(|line| !line.is_empty());
        let reason = reasons.next().unwrap_or("no pod says why");
        Ok(reason.to_owned())
    }
}

impl Engine for K8s {
    fn manifest(&self, round: &Round) -> String {
        let size = round.items.len();
        let Container { image, claim } = &self.container;
        let words = self.cluster.words.with_list(round);
        // Kubernetes replaces $(NAME) by variables, and $$ by $.
        let command: Vec<_> = words.iter().map(|word| word.replace('$', "$$")).collect();
        let cpu = json!({ "cpu": self.cluster.cpus.to_string() });
        let container = json!({
            "name": "piece",
            "image": image,
            "command": command,
            "resources": { "requests": cpu, "limits": cpu },
            "volumeMounts": [{ "name": "folder", "mountPath": claim.path }],
        });
        let volume = json!({
            "name": "folder",
            "persistentVolumeClaim": { "claimName": claim.name },
        });
        let never = json!({
            "action": "FailIndex",
            "onExitCodes": { "containerName": "piece", "operator": "In", "values": [2] },
        });
        let disrupted = json!({
            "action": "Ignore",
            "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }],
        });
        let job = json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": { "name": name(&round.name), "labels": { LABEL: "round" } },
            "spec": {
                "completionMode": "Indexed",
                "completions": size,
                "parallelism": size,
                "backoffLimitPerIndex": 1,
                "podFailurePolicy": { "rules": [never, disrupted] },
                "ttlSecondsAfterFinished": KEPT,
                "template": { "spec": {
                    "restartPolicy": "Never",
                    "containers": [container],
                    "volumes": [volume],
                } },
            },
        });
        serde_json::to_string_pretty(&job).expect("a manifest is JSON") + "\n"
    }

    fn capacity(&self) -> usize {
        CAPACITY
    }

    fn submit(&mut self, round: &Round) -> Result<(), Error> {
        let manifest = self.manifest(round);
        let arguments = ["apply", "-f", "-"];
        let answer = self
            .cluster
            .commands
            .call("kubectl", &arguments, &manifest)?;
        answer.check()
    }

    fn alive(&mut self, rounds: &[&Round]) -> Result<Vec<Alive>, Error> {
        let jobs = self.jobs()?;
        let alive = rounds.iter().filter_map(|round| {
            let name = name(&round.name);
            let status = &living(&jobs, &name)?.status;
            let over = status.succeeded + count(&status.failed_indexes) + status.ready;
            Some(Alive {
                name: round.name.clone(),
                running: status.ready,
                waiting: round.items.len().saturating_sub(over),
            })
        });
        Ok(alive.collect())
    }

    fn reason(&mut self, round: &Round) -> Result<String, Error> {
        let name = name(&round.name);
        let jobs = self.jobs()?;
        if living(&jobs, &name).is_some_and(|job| job.status.is(&["Suspended"])) {
            let patch = r#"{"spec":{"suspend":false}}"#;
            let resume = line(&["kubectl", "patch", "job", &name, "--patch", patch]);
            return Ok(format!("the Job is suspended: `{resume}` resumes it"));
        }
        self.pending(&name)
    }

    fn cancel(&mut self, round: &Round) -> Result<(), Error> {
        let name = name(&round.name);
        let arguments = ["delete", "job", &name, "--ignore-not-found", "--wait=false"];
        let answer = self.cluster.commands.call("kubectl", &arguments, "")?;
        answer.check()
    }

    fn details(&self, round: &Round) -> Option<String> {
        Some(line(&["kubectl", "describe", "job", &name(&round.name)]))
    }
}

/// Returns the name of the Job: small letters, digits and hyphens. The end of a round's name tells it
/// from others.
fn name(round: &str) -> String {
    let allowed = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9') => c,
        _ => '-',
    };
    let name: String = round.chars().map(allowed).collect();
    let start = name.len().saturating_sub(LONGEST);
    name[start..].trim_matches('-').to_owned()
}

/// Returns the Job of this name, unless it has ended.
fn living<'a>(jobs: &'a [Job], name: &str) -> Option<&'a Job> {
    let mut jobs = jobs.iter().filter(|job| job.metadata.name == name);
    jobs.find(|job| !job.status.is(&["Complete", "Failed"]))
}

/// Returns how many indexes are in a text such as `1,3-5,7`.
fn count(indexes: &str) -> usize {
    let parts = indexes.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(last.parse::<usize>().ok()? + 1 - first.parse::<usize>().ok()?)
    });
    parts.sum()
}
