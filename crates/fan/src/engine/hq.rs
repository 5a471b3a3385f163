//! The engine `hq`: tasks of a HyperQueue server, one for each item.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::Error;
use crate::engine::call::{Answer, Commands};
use crate::engine::cluster::Cluster;
use crate::engine::words::{line, list};
use crate::engine::{Ended, Engine, Fault, Job, Launch, Queue, Submission};
use crate::phrases::count;
use crate::piece::HQ_ENTRY;

/// After how many lost workers a task fails.
const CRASH_LIMIT: &str = "5";

/// Gives pieces to the workers of HyperQueue. Its command must find the server.
pub struct Hq(Cluster);

/// The answer to `submit`.
#[derive(Deserialize)]
struct Submitted {
    id: u64,
}

/// A job of `job list`.
#[derive(Deserialize)]
struct Info {
    id: u64,
    name: String,
}

/// A job of `job info`.
#[derive(Deserialize)]
struct Detail {
    info: Info,
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
struct Task {
    /// The place of the task's entry in the list.
    id: usize,
    state: String,
    error: Option<String>,
}

/// The answer of a command that has failed.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Hq {
    pub const ADVICE: &str = "get a release binary of HyperQueue, or run `cargo build --no-default-features --features microlp -p hyperqueue` in its source";

    pub fn new(launch: &Launch, commands: Commands) -> Result<Self, Error> {
        Cluster::new(launch, HQ_ENTRY, commands).map(Self)
    }

    /// Returns the arguments of `hq`. Without `--wait`, which has been seen to hang. Each task gets
    /// a folder, because only then does HyperQueue read its error message.
    fn submission(&self, submission: &Submission) -> Vec<String> {
        let cpus = self.0.cpus.to_string();
        let list = list(submission);
        let options = [
            ["--output-mode=json", "submit"],
            ["--name", &submission.name],
            ["--from-json", &list],
            ["--cpus", &cpus],
            ["--crash-limit", CRASH_LIMIT],
            ["--stdout", "none"],
            ["--stderr", "none"],
            ["--task-dir", "--"],
        ];
        let options = options.iter().flatten().map(ToString::to_string);
        options.chain(self.0.words.bare()).collect()
    }

    fn call(&self, arguments: &[&str]) -> Result<Answer, Fault> {
        let answer = self.0.commands.call("hq", arguments, "")?;
        if let Ok(refusal) = serde_json::from_str::<Refusal>(&answer.out) {
            let text = refusal.error.lines().next().unwrap_or_default();
            return Err(answer.refused(text).into());
        }
        answer.check()?;
        Ok(answer)
    }

    /// Returns the answer, which must be of this type.
    fn ask<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<T, Fault> {
        let answer = self.call(arguments)?;
        let unknown = |_| answer.refused("the answer is unknown").into();
        serde_json::from_str(&answer.out).map_err(unknown)
    }

    /// Returns the tasks of the job, or `None` if the server does not know it. A server that was
    /// started anew counts from 1 again, so the number may be that of another job.
    fn tasks(&self, job: &Job) -> Result<Option<Vec<Task>>, Fault> {
        let arguments = ["--output-mode=json", "job", "info", &job.id];
        let details: Vec<Detail> = self.ask(&arguments)?;
        let mut details = details.into_iter();
        let ours = details.find(|detail| detail.info.name == job.submission.name);
        Ok(ours.map(|detail| detail.tasks))
    }
}

impl Engine for Hq {
    fn manifest(&self, submission: &Submission) -> String {
        let mut words = self.submission(submission);
        words.insert(0, "hq".to_owned());
        line(&words) + "\n"
    }

    fn submit(&mut self, submission: &Submission) -> Result<String, Fault> {
        let words = self.submission(submission);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let submitted: Submitted = self.ask(&words)?;
        Ok(submitted.id.to_string())
    }

    fn find(&mut self, submission: &str) -> Result<Option<String>, Fault> {
        let jobs: Vec<Info> = self.ask(&["--output-mode=json", "job", "list"])?;
        let mut jobs = jobs.into_iter();
        let ours = jobs.find(|job| job.name == submission);
        Ok(ours.map(|job| job.id.to_string()))
    }

    fn ended(&mut self, job: &Job) -> Result<Vec<Ended>, Fault> {
        let Some(tasks) = self.tasks(job)? else {
            return Ok(job.lost("hq does not know the job"));
        };
        Ok(tasks
            .into_iter()
            .filter_map(|task| ended(job, task))
            .collect())
    }

    fn queue(&mut self, job: &Job) -> Result<Queue, Fault> {
        let tasks = self.tasks(job)?.unwrap_or_default();
        let are = |state| tasks.iter().filter(|task| task.state == state).count();
        let workers: Vec<IgnoredAny> = self.ask(&["--output-mode=json", "worker", "list"])?;
        let reason = if workers.is_empty() {
            "no worker is connected: run `hq worker start`".to_owned()
        } else {
            let cpus = count(self.0.cpus, "free processor");
            format!("no worker has {cpus}: start one that has, or use fewer --cpus")
        };
        Ok(Queue {
            running: are("running"),
            waiting: are("waiting"),
            reason,
        })
    }

    fn cancel(&mut self, job: &Job) -> Result<(), Fault> {
        if self.tasks(job)?.is_some() {
            self.call(&["--output-mode=json", "job", "cancel", &job.id])?;
        }
        Ok(())
    }
}

fn ended(job: &Job, task: Task) -> Option<Ended> {
    let item = job.submission.items.get(task.id)?.clone();
    let error = task.error.unwrap_or_default();
    let (code, text) = match task.state.as_str() {
        "finished" => (Some(0), String::new()),
        "failed" => (code(&error), error),
        "canceled" | "aborted" => (None, task.state),
        _ => return None,
    };
    Some(Ended { item, code, text })
}

/// Returns the exit code, which HyperQueue names if the piece has left no message.
fn code(error: &str) -> Option<i32> {
    let (_, code) = error.split_once("terminated with exit code ")?;
    code.trim().parse().ok()
}
