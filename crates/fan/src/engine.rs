//! What runs pieces. What is expected of an engine is in `docs/fan.md`.

mod call;
mod cluster;
mod hq;
mod k8s;
mod local;
mod options;
mod slurm;
#[cfg(all(test, target_os = "linux"))]
mod tests;
pub mod words;

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::name::Name;
pub use options::EngineOptions;

/// The command line of every piece.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program, and the arguments that lead to its verbs.
    pub program: Vec<OsString>,
    pub plan: PathBuf,
    /// The folder of the results.
    pub out: PathBuf,
    /// The seconds after which a piece hands its remaining work to new pieces.
    pub budget: f64,
    /// The processors of each piece, if the user has set a number.
    pub cpus: Option<usize>,
}

impl Launch {
    /// Returns the command line, without what names the item.
    pub fn words(&self) -> Vec<OsString> {
        let budget = self.budget.to_string();
        let mut words = self.program.clone();
        words.push("piece".into());
        words.extend(["--plan".into(), self.plan.clone().into()]);
        words.extend(["--out".into(), self.out.clone().into()]);
        words.extend(["--budget".into(), budget.into()]);
        words
    }
}

/// The pieces that are given to an engine at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Submission {
    /// A name that no other submission has.
    pub name: String,
    /// The file that lists the items, an array of entries.
    pub list: PathBuf,
    /// The items in the order of the list.
    pub items: Vec<Name>,
}

/// What an engine has taken.
#[derive(Clone, Debug)]
pub struct Job {
    /// What the engine calls it.
    pub id: String,
    pub submission: Submission,
}

impl Job {
    /// Returns all pieces as ended, if the engine does not know the job.
    fn lost(&self, text: &str) -> Vec<Ended> {
        let items = self.submission.items.iter().cloned();
        let ended = |item| Ended {
            item,
            code: None,
            text: text.to_owned(),
        };
        items.map(ended).collect()
    }
}

/// A piece that has ended, as the engine says.
#[derive(Clone, Debug)]
pub struct Ended {
    pub item: Name,
    /// The exit code, if the engine knows it. A signal has none.
    pub code: Option<i32>,
    /// What the engine says about a failure, or nothing.
    pub text: String,
}

/// The pieces of a job that have not ended.
#[derive(Debug, Default, PartialEq)]
pub struct Queue {
    pub running: usize,
    pub waiting: usize,
    /// Why some wait, and what the user can do.
    pub reason: String,
}

/// Why an engine has not done what it was asked for.
#[derive(Debug)]
pub enum Fault {
    /// It has not answered in time, and may do it yet.
    Silent(Error),
    /// It has answered that it does not, or cannot be asked.
    Refused(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

pub trait Engine {
    /// Starts a piece for each item, and returns what the engine calls the job.
    fn submit(&mut self, submission: &Submission) -> Result<String, Fault>;

    /// Returns what the engine calls the job of the submission with this name, if it has one that
    /// has not ended.
    fn find(&mut self, submission: &str) -> Result<Option<String>, Fault>;

    /// Returns the pieces of the job that have ended. They may have been returned before. If the
    /// engine does not know the job, these are all.
    fn ended(&mut self, job: &Job) -> Result<Vec<Ended>, Fault>;

    /// Returns how many pieces of the job run and wait. Those of an engine without a queue wait
    /// only for one another.
    fn queue(&mut self, _job: &Job) -> Result<Queue, Fault> {
        Ok(Queue::default())
    }

    /// Ends the pieces of the job. A job that has ended or is unknown is no fault.
    fn cancel(&mut self, job: &Job) -> Result<(), Fault>;

    /// Returns what would be submitted, as text for the user.
    fn manifest(&self, submission: &Submission) -> String;

    /// Returns how many items the engine takes at once. A refusal may make that fewer.
    fn capacity(&self) -> usize {
        usize::MAX
    }

    /// Does the engine's own work, if it has any: this is called every few milliseconds, until the
    /// next `ended`. Returns whether that should be now, because a piece has ended and no other
    /// waits for its processor.
    fn attend(&mut self) -> bool {
        false
    }
}
