//! The engine `k8s`: an indexed Job of Kubernetes, with an index for each item.

use serde::Deserialize;
use serde_json::json;

use crate::Error;
use crate::engine::call::Commands;
use crate::engine::cluster::{Cluster, SILENT, more};
use crate::engine::options::Claim;
use crate::engine::{Ended, Engine, Fault, Job, Launch, Queue, Submission};

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

/// The answer to `get job`.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    completed_indexes: String,
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
    #[serde(default)]
    message: String,
}

impl Status {
    /// Returns the condition of a Job that has ended.
    fn over(&self) -> Option<&Condition> {
        self.condition(&["Complete", "Failed"])
    }

    /// Returns the first condition of these kinds that holds.
    fn condition(&self, kinds: &[&str]) -> Option<&Condition> {
        let holds = |condition: &&Condition| {
            kinds.contains(&condition.kind.as_str()) && condition.status == "True"
        };
        self.conditions.iter().find(holds)
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

    /// Returns the Job, or `None` if the cluster has none of this name.
    fn status(&self, name: &str) -> Result<Option<Status>, Fault> {
        let arguments = ["get", "job", name, "--ignore-not-found", "-o", "json"];
        let answer = self.cluster.commands.call("kubectl", &arguments, "")?;
        let unknown = answer.refused("the answer is unknown");
        let out = answer.success()?;
        if out.trim().is_empty() {
            return Ok(None);
        }
        let answer = serde_json::from_str::<Answer>(&out).map_err(|_| unknown)?;
        Ok(Some(answer.status))
    }

    /// Returns why the first pod waits that says it.
    fn pending(&self, job: &str) -> Result<String, Fault> {
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
    fn manifest(&self, submission: &Submission) -> String {
        let size = submission.items.len();
        let Container { image, claim } = &self.container;
        let words = self.cluster.words.with_list(submission);
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
            "metadata": { "name": name(&submission.name) },
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

    fn submit(&mut self, submission: &Submission) -> Result<String, Fault> {
        let manifest = self.manifest(submission);
        let answer = self
            .cluster
            .commands
            .call("kubectl", &["apply", "-f", "-"], &manifest)?;
        answer.success()?;
        Ok(name(&submission.name))
    }

    fn find(&mut self, submission: &str) -> Result<Option<String>, Fault> {
        let name = name(submission);
        let status = self.status(&name)?;
        let living = status.filter(|status| status.over().is_none());
        Ok(living.map(|_| name))
    }

    fn ended(&mut self, job: &Job) -> Result<Vec<Ended>, Fault> {
        let Some(status) = self.status(&job.id)? else {
            return Ok(job.lost("the cluster does not know the Job"));
        };
        let over = status.over();
        let items = job.submission.items.iter().enumerate();
        let ended = items.filter_map(|(index, item)| {
            let (code, text) = if contains(&status.completed_indexes, index) {
                (Some(0), String::new())
            } else if contains(&status.failed_indexes, index) {
                let text = format!("Kubernetes says that the index has failed; {SILENT}");
                (None, text)
            } else {
                (None, over?.message.clone())
            };
            let item = item.clone();
            Some(Ended { item, code, text })
        });
        Ok(ended.collect())
    }

    fn queue(&mut self, job: &Job) -> Result<Queue, Fault> {
        let Some(status) = self.status(&job.id)? else {
            return Ok(Queue::default());
        };
        let living = |index: &usize| {
            let ended = [&status.completed_indexes, &status.failed_indexes];
            !ended.iter().any(|indexes| contains(indexes, *index))
        };
        let all = 0..job.submission.items.len();
        let waiting = all.filter(living).count().saturating_sub(status.ready);
        let reason = match status.condition(&["Suspended"]) {
            Some(_) => "the Job is suspended".to_owned(),
            None => self.pending(&job.id)?,
        };
        Ok(Queue {
            running: status.ready,
            waiting,
            reason: reason + &more(&["kubectl", "describe", "job", &job.id]),
        })
    }

    fn cancel(&mut self, job: &Job) -> Result<(), Fault> {
        let arguments = [
            "delete",
            "job",
            &job.id,
            "--ignore-not-found",
            "--wait=false",
        ];
        let answer = self.cluster.commands.call("kubectl", &arguments, "")?;
        answer.check()?;
        Ok(())
    }
}

/// Returns the name of the Job: small letters, digits and hyphens. The end of a submission's name
/// tells it from others.
fn name(submission: &str) -> String {
    let allowed = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9') => c,
        _ => '-',
    };
    let name: String = submission.chars().map(allowed).collect();
    let start = name.len().saturating_sub(LONGEST);
    name[start..].trim_matches('-').to_owned()
}

/// Whether an index is in a text such as `1,3-5,7`.
fn contains(indexes: &str, index: usize) -> bool {
    indexes.split(',').any(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.parse::<usize>(), last.parse::<usize>()) {
            (Ok(first), Ok(last)) => (first..=last).contains(&index),
            _ => false,
        }
    })
}
