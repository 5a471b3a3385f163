//! The decisions of `run`: what to submit, what has failed, and when it is over. Nothing here reads
//! a clock or a file.

use std::collections::{BTreeMap, BTreeSet};

use crate::Retry;
use crate::engine::{Ended, Job};
use crate::name::Name;

/// Why an attempt has failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    pub host: Option<String>,
    /// The exit code, if it is known. A signal has none.
    pub code: Option<i32>,
    pub text: String,
}

/// What has become of an item whose attempts have failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub attempts: usize,
    pub last: Cause,
}

impl Failure {
    /// Whether the last attempt says that no other can succeed.
    pub fn is_final(&self) -> bool {
        Retry::after(self.last.code) == Retry::Never
    }
}

/// A job, as far as its engine has told.
struct Open {
    job: Job,
    /// The items whose pieces have not ended.
    living: BTreeSet<Name>,
    /// An earlier `run` has submitted it, and the engine was not asked about it since.
    is_adopted: bool,
}

/// What is known about jobs and failures.
pub struct Schedule {
    retries: usize,
    jobs: Vec<Open>,
    failures: BTreeMap<Name, Failure>,
    /// How many submissions in a row have failed.
    refused: usize,
}

impl Schedule {
    pub fn new(retries: usize) -> Self {
        Self {
            retries,
            jobs: Vec::new(),
            failures: BTreeMap::new(),
            refused: 0,
        }
    }

    /// Adds a job of an earlier `run`. Pieces that have ended before this one began have not
    /// failed in this one.
    pub fn adopt(&mut self, job: Job) {
        self.open(job, true);
    }

    pub fn submitted(&mut self, job: Job) {
        self.refused = 0;
        self.open(job, false);
    }

    fn open(&mut self, job: Job, is_adopted: bool) {
        let living = job.submission.items.iter().cloned().collect();
        self.jobs.push(Open {
            job,
            living,
            is_adopted,
        });
    }

    /// Counts a submission that the engine did not take. Returns whether to give up.
    pub fn refused(&mut self) -> bool {
        self.refused += 1;
        self.refused > self.retries && self.living() == 0
    }

    /// Returns how many submissions in a row the engine did not take.
    pub fn refusals(&self) -> usize {
        self.refused
    }

    /// Returns the jobs with pieces that have not ended.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().map(|open| &open.job)
    }

    /// Returns how many pieces run or wait in the engine.
    pub fn living(&self) -> usize {
        self.jobs.iter().map(|open| open.living.len()).sum()
    }

    /// Takes what the engine says about a job. Returns those pieces that were their item's last:
    /// if it has no result, its attempt has failed.
    pub fn ended(&mut self, job: &str, ended: Vec<Ended>) -> Vec<Ended> {
        let Some(at) = self.jobs.iter().position(|open| open.job.id == job) else {
            return Vec::new();
        };
        let open = &mut self.jobs[at];
        let counts = !std::mem::take(&mut open.is_adopted);
        let mut last: Vec<_> = ended
            .into_iter()
            .filter(|ended| open.living.remove(&ended.item) && counts)
            .collect();
        if open.living.is_empty() {
            self.jobs.remove(at);
        }
        last.retain(|ended| !self.is_living(&ended.item));
        last
    }

    /// Counts a failed attempt.
    pub fn failed(&mut self, item: &Name, cause: Cause) {
        let attempts = self
            .failures
            .get(item)
            .map_or(0, |failure| failure.attempts);
        let failure = Failure {
            attempts: attempts + 1,
            last: cause,
        };
        self.failures.insert(item.clone(), failure);
    }

    fn is_living(&self, item: &Name) -> bool {
        self.jobs.iter().any(|open| open.living.contains(item))
    }

    fn is_lost(&self, item: &Name) -> bool {
        let failure = self.failures.get(item);
        failure.is_some_and(|failure| failure.is_final() || failure.attempts > self.retries)
    }

    /// Returns those of the missing items that should be submitted.
    pub fn ready<'a>(&self, missing: impl Iterator<Item = &'a Name>) -> Vec<Name> {
        let is_ready = |item: &&Name| !self.is_living(item) && !self.is_lost(item);
        missing.filter(is_ready).cloned().collect()
    }

    /// Returns whether nothing can be done about the missing items.
    pub fn is_over<'a>(&self, mut missing: impl Iterator<Item = &'a Name>) -> bool {
        missing.all(|item| self.is_lost(item) && !self.is_living(item))
    }

    /// Returns the failures of the missing items.
    pub fn failures<'a>(
        &'a self,
        missing: impl Iterator<Item = &'a Name>,
    ) -> Vec<(&'a Name, &'a Failure)> {
        let failures = missing.map(|item| Some((item, self.failures.get(item)?)));
        failures.flatten().collect()
    }
}

#[cfg(test)]
mod tests;
