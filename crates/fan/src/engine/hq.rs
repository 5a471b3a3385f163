//! The engine `hq`: tasks of a HyperQueue server, one for each item.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::Error;
use crate::engine::call::{Answer, Commands};
use crate::engine::cluster::Cluster;
use crate::engine::words::{line, list};
use crate::engine::{Alive, Engine, Launch, Round};
use crate::phrases::count;
use crate::piece::HQ_ENTRY;

/// After how many lost workers a task fails.
const CRASH_LIMIT: &str = "5";

/// Gives pieces to the workers of HyperQueue. Its command must find the server.
pub struct Hq(Cluster);

/// A job that has not ended, in `job list`.
#[derive(Deserialize)]
struct Info {
    id: u64,
    name: String,
    task_stats: Tasks,
}

#[derive(Deserialize)]
struct Tasks {
    running: usize,
    waiting: usize,
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

    /// Returns the arguments of `hq`. Without `--wait`, which has been seen to hang.
    fn submission(&self, round: &Round) -> Vec<String> {
        let cpus = self.0.cpus.to_string();
        let list = list(round);
        let options = [
            ["--output-mode=json", "submit"],
            ["--name", &round.name],
            ["--from-json", &list],
            ["--cpus", &cpus],
            ["--crash-limit", CRASH_LIMIT],
            ["--stdout", "none"],
            ["--stderr", "none"],
        ];
        let options = options.iter().flatten().copied().chain(["--"]);
        let options = options.map(str::to_owned);
        options.chain(self.0.words.bare()).collect()
    }

    fn call(&self, arguments: &[&str]) -> Result<Answer, Error> {
        let answer = self.0.commands.call("hq", arguments, "")?;
        if let Ok(refusal) = serde_json::from_str::<Refusal>(&answer.out) {
            let text = refusal.error.lines().next().unwrap_or_default();
            return Err(answer.refused(text));
        }
        answer.check()?;
        Ok(answer)
    }

    /// Returns the answer, which must be of this type.
    fn ask<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<T, Error> {
        let answer = self.call(arguments)?;
        serde_json::from_str(&answer.out).map_err(|_| answer.refused("the answer is unknown"))
    }

    /// Returns the jobs that have not ended.
    fn jobs(&self) -> Result<Vec<Info>, Error> {
        self.ask(&["--output-mode=json", "job", "list"])
    }
}

impl Engine for Hq {
    fn manifest(&self, round: &Round) -> String {
        let mut words = self.submission(round);
        words.insert(0, "hq".to_owned());
        line(&words) + "\n"
    }

    fn submit(&mut self, round: &Round) -> Result<(), Error> {
        let words = self.submission(round);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        self.call(&words).map(|_| ())
    }

    fn alive(&mut self, rounds: &[&Round]) -> Result<Vec<Alive>, Error> {
        let jobs = self.jobs()?.into_iter();
        let ours = jobs.filter(|job| rounds.iter().any(|round| round.name == job.name));
        let alive = ours.map(|job| Alive {
            name: job.name,
            running: job.task_stats.running,
            waiting: job.task_stats.waiting,
        });
        Ok(alive.collect())
    }

    fn reason(&mut self, _: &Round) -> Result<String, Error> {
        let workers: Vec<IgnoredAny> = self.ask(&["--output-mode=json", "worker", "list"])?;
        Ok(if workers.is_empty() {
            "no worker is connected: run `hq worker start`".to_owned()
        } else {
            let cpus = count(self.0.cpus, "free processor");
            format!("no worker has {cpus}: start one that has, or use fewer --cpus")
        })
    }

    fn cancel(&mut self, round: &Round) -> Result<(), Error> {
        for job in self.jobs()?.iter().filter(|job| job.name == round.name) {
            let id = job.id.to_string();
            self.call(&["--output-mode=json", "job", "cancel", &id])?;
        }
        Ok(())
    }

    fn details(&self, _: &Round) -> Option<String> {
        Some("hq job list --all".to_owned())
    }
}
