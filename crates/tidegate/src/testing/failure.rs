//! A failed run, and its text form.

use super::Schedule;
use super::search::SCHEDULE;
use std::fmt;
use tidegate_core::door::simulated::line;
use tidegate_sync::simulation::{Event, Reason};

/// How many steps a failure prints at most.
const MOST_STEPS: usize = 40;

/// What a thread does when it panics.
pub(super) const PANICS: &str = "panics";

/// How a run has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Panic,
    Stopped(Reason),
}

/// A run of a test on a simulated pool that has failed; see [`search`](super::search()).
///
/// Its text form names the seed, says what happened, and lists the last steps of the shortest
/// failing run that was found.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The schedule of the first run that failed.
    pub(super) found: Schedule,
    /// The number of workers of the pool.
    pub(super) workers: usize,
    pub(super) schedule: Schedule,
    pub(super) kind: Kind,
    pub(super) message: String,
    pub(super) names: Vec<String>,
    pub(super) events: Vec<Event>,
}

impl Failure {
    /// Returns the schedule of the first run that failed: a seed.
    #[must_use]
    pub fn found(&self) -> &Schedule {
        &self.found
    }

    /// Returns the shortest failing schedule that was found. A pool that is
    /// [simulated](crate::Builder::simulated) with it repeats the failure.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Returns what went wrong in the run of [`schedule`](Self::schedule): the message of the first
    /// panic, or why the run could not go on.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns all steps of the run of [`schedule`](Self::schedule), as [`steps`](super::steps)
    /// does.
    #[must_use]
    pub fn steps(&self) -> Vec<String> {
        super::lines(&self.names, &self.events)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "a simulated run failed with schedule {}: {}",
            self.found, self.message
        )?;
        writeln!(
            f,
            "the last steps of the shortest failing run that was found:"
        )?;
        // What follows the panic that failed the run is rarely of interest.
        let panic = self.events.iter().rposition(|event| event.what == PANICS);
        let panic = panic.filter(|_| self.kind == Kind::Panic);
        let events = &self.events[..panic.map_or(self.events.len(), |panic| panic + 1)];
        for event in &events[events.len().saturating_sub(MOST_STEPS)..] {
            writeln!(f, "  {}", line(&self.names, event))?;
        }
        write!(
            f,
            "to repeat only that run, set {SCHEDULE}='{}' for this test, or build a pool with \
             `.workers({}).simulated(\"{0}\".parse::<Schedule>()?)`",
            self.schedule, self.workers
        )
    }
}

impl std::error::Error for Failure {}
