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
pub use options::{EngineOptions, Kind};

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

/// The items whose pieces an engine is to start together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Round {
    /// A name that no other round has. The engine's job has it, too.
    pub name: String,
    /// The file that lists the items, an array of entries.
    pub list: PathBuf,
    /// The items in the order of the list.
    pub items: Vec<Name>,
}

/// A round that has pieces which have not ended.
#[derive(Debug, PartialEq)]
pub struct Alive {
    /// The name of the round.
    pub name: String,
    pub running: usize,
    pub waiting: usize,
}

pub trait Engine {
    /// Starts a piece for each item. After an error, the engine may do so all the same.
    fn submit(&mut self, round: &Round) -> Result<(), Error>;

    /// Returns those of the rounds that are alive. One that the engine does not know is not.
    fn alive(&mut self, rounds: &[&Round]) -> Result<Vec<Alive>, Error>;

    /// Returns why pieces of the round wait, and what the user can do. Those of an engine without a
    /// queue wait only for one another.
    fn reason(&mut self, _round: &Round) -> Result<String, Error> {
        Ok(String::new())
    }

    /// Ends the pieces of the round. A round that has ended or is unknown is no error.
    fn cancel(&mut self, round: &Round) -> Result<(), Error>;

    /// Returns the command that shows what the engine knows about the round, if there is one.
    fn details(&self, _round: &Round) -> Option<String> {
        None
    }

    /// Returns what would be submitted, as text for the user.
    fn manifest(&self, round: &Round) -> String;

    /// Returns how many items the engine takes at once. A refusal may make that fewer.
    fn capacity(&self) -> usize {
        usize::MAX
    }

    /// Does the engine's own work, if it has any: this is called every few milliseconds, until the
    /// next `alive`. Returns whether that should be now, because a piece has ended and no other
    /// waits for its processor.
    fn attend(&mut self) -> bool {
        false
    }
}
