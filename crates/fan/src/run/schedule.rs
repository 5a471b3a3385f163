//! The decisions of `run`: what to submit, what has failed, and when it is over. Nothing here reads
//! a clock or a file.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use crate::Retry;
use crate::engine::{Alive, Round};
use crate::folder::Failed;
use crate::name::Name;
use crate::run::table::Row;

/// What has become of an item whose attempts have failed.
#[derive(Clone, Debug)]
pub struct Failure {
    pub attempts: usize,
    pub last: Failed,
}

impl Failure {
    /// Whether the last attempt says that no other can succeed.
    pub fn is_final(&self) -> bool {
        self.last.retry == Retry::Never
    }

    /// Returns the item's row in the table of failures.
    pub fn row(&self, item: &Name) -> Row {
        let code = self.last.retry as u8;
        let (host, text) = (self.last.host.clone(), self.last.text.clone());
        [
            item.to_string(),
            self.attempts.to_string(),
            host,
            code.to_string(),
            text,
        ]
    }
}

/// What is known about a round.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    /// This `run` has submitted it, and the engine has taken it.
    Taken,
    /// This `run` has submitted it. The engine has said that it did not take it, or nothing.
    Doubtful,
    /// An earlier `run` has submitted it.
    Old,
    /// An earlier `run` has submitted it, and the engine has said that it is alive.
    Found,
}

/// What is known about rounds and failures.
pub struct Schedule {
    retries: usize,
    /// The rounds that live, as far as is known.
    living: Vec<(Round, Known)>,
    /// Rounds that have ended, as the engine says, and have left items without a result. It may run
    /// them all the same, now or later.
    suspects: Vec<Round>,
    failures: BTreeMap<Name, Failure>,
    /// How many times in a row the engine did not take a round.
    refused: usize,
}

impl Schedule {
    pub fn new(retries: usize) -> Self {
        Self {
            retries,
            living: Vec::new(),
            suspects: Vec::new(),
            failures: BTreeMap::new(),
            refused: 0,
        }
    }

    /// Adds a round of an earlier `run`. What fails there has not failed in this one.
    pub fn adopt(&mut self, round: Round) {
        self.living.push((round, Known::Old));
    }

    pub fn submitted(&mut self, round: Round) {
        self.refused = 0;
        self.living.push((round, Known::Taken));
    }

    /// Adds a round that the engine may not have taken.
    pub fn doubt(&mut self, round: Round) {
        self.living.push((round, Known::Doubtful));
    }

    /// Whether all rounds that may live are doubtful.
    pub fn is_doubtful(&self) -> bool {
        self.living.iter().all(|it| it.1 == Known::Doubtful)
    }

    /// Counts an error of the engine while no round is known to live. Returns whether to give up.
    pub fn refused(&mut self) -> bool {
        self.refused += 1;
        self.refused > self.retries && self.is_doubtful()
    }

    /// Returns how many times in a row the engine did not take a round.
    pub fn refusals(&self) -> usize {
        self.refused
    }

    /// Returns the rounds with pieces that have not ended.
    pub fn living(&self) -> impl Iterator<Item = &Round> {
        self.living.iter().map(|(round, _)| round)
    }

    /// Adds a round that has ended without all results.
    pub fn suspect(&mut self, round: Round) {
        self.suspects.push(round);
    }

    /// Returns the rounds that the engine may still start or run.
    pub fn possible(&self) -> impl Iterator<Item = &Round> {
        self.living().chain(&self.suspects)
    }

    /// Takes what the engine says about the living rounds. If `is_patient`, a doubtful one counts as
    /// living. Returns the rounds of this `run` that have ended, with the items that have no other
    /// piece: if one has no result, its attempt has failed.
    pub fn answered(&mut self, alive: &[Alive], is_patient: bool) -> Vec<Round> {
        let mut ended = Vec::new();
        for (round, known) in mem::take(&mut self.living) {
            let lives = alive.iter().any(|alive| alive.name == round.name);
            match (known, lives) {
                (Known::Doubtful, true) => self.submitted(round),
                (Known::Doubtful, false) if !is_patient => self.suspect(round),
                (Known::Taken, false) => ended.push(round),
                (Known::Old, true) => self.living.push((round, Known::Found)),
                (Known::Old, false) => {}
                (Known::Found, false) => self.suspect(round),
                _ => self.living.push((round, known)),
            }
        }
        let living = self.items();
        for round in &mut ended {
            round.items.retain(|item| !living.contains(item));
        }
        ended
    }

    /// Counts a failed attempt.
    pub fn failed(&mut self, item: &Name, last: Failed) {
        let before = self.failures.get(item);
        let attempts = before.map_or(0, |failure| failure.attempts) + 1;
        let failure = Failure { attempts, last };
        self.failures.insert(item.clone(), failure);
    }

    /// Returns the items of the living rounds.
    fn items(&self) -> BTreeSet<&Name> {
        self.living().flat_map(|round| &round.items).collect()
    }

    fn is_lost(&self, item: &Name) -> bool {
        let failure = self.failures.get(item);
        failure.is_some_and(|failure| failure.is_final() || failure.attempts > self.retries)
    }

    /// Returns those of the missing items that should be submitted.
    pub fn ready<'a>(&self, missing: impl Iterator<Item = &'a Name>) -> Vec<Name> {
        let living = self.items();
        let is_ready = |item: &&Name| !living.contains(item) && !self.is_lost(item);
        missing.filter(is_ready).cloned().collect()
    }

    /// Returns whether nothing can be done about the missing items.
    pub fn is_over<'a>(&self, mut missing: impl Iterator<Item = &'a Name>) -> bool {
        let living = self.items();
        missing.all(|item| self.is_lost(item) && !living.contains(item))
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
