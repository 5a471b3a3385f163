//! Runs a program on pools of this process, with an input that is prepared only once, and measures
//! each run.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tidegate::Counters;
use tidegate_workloads::{Given, On, Size, Tidegate, Trial, find};

use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::trial;

/// The figures of one run. The counters are sums over all workers.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
pub struct Ran {
    pub seconds: f64,
    pub parks: f64,
    pub wakes: f64,
    /// How often owners tried to take a task from their own queue. Alternative queues count this,
    /// but the split deque does not.
    pub takes: f64,
    pub failed_takes: f64,
    pub attempts: f64,
    pub steals: f64,
}

impl Ran {
    fn between(seconds: f64, before: &Counters, after: &Counters) -> Self {
        let since = |count: fn(&Counters) -> u64| (count(after) - count(before)) as f64;
        Self {
            seconds,
            parks: since(|counters| counters.sleeps),
            wakes: since(|counters| counters.wakes),
            takes: since(|counters| counters.takes),
            failed_takes: since(|counters| counters.failed_takes),
            attempts: since(|counters| counters.attempts),
            steals: since(|counters| counters.steals),
        }
    }

    pub fn failed_steals(&self) -> f64 {
        self.attempts - self.steals
    }

    /// Returns the fraction of tasks that were stolen, among all tasks that were taken from queues.
    pub fn stolen_share(&self) -> f64 {
        self.steals / self.tasks()
    }

    /// Like `stolen_share`, but counts at least one steal, so that the result can be a divisor.
    pub fn stolen_share_or_one(&self) -> f64 {
        self.steals.max(1.0) / self.tasks()
    }

    fn tasks(&self) -> f64 {
        self.takes - self.failed_takes + self.steals
    }
}

/// A program whose input is prepared before its first run.
pub struct Subject {
    program: &'static str,
    size: Size,
    given: Given,
    prepared: Mutex<Option<Box<dyn Trial>>>,
}

impl Subject {
    pub fn new(program: &'static str, size: Size, given: Given) -> Self {
        Self {
            program,
            size,
            given,
            prepared: Mutex::default(),
        }
    }

    /// Runs the program once and checks its answer.
    pub fn run(&self, pool: &Tidegate) -> Result<Ran, Failure> {
        self.prepared(|trial| {
            let on = On::Tidegate(pool);
            trial.fits(on)?;
            trial.reset();
            let counters = || pool.pool().stats().counters;
            let before = counters();
            let took = trial.run(on);
            let ran = Ran::between(took.as_secs_f64(), &before, &counters());
            trial::check_last(trial, on)?;
            Ok(ran)
        })
    }

    /// Runs the program several times, on a pool or serially, and returns the mean time in seconds.
    /// Checks the last answer.
    pub fn time(&self, pool: Option<&Tidegate>) -> Result<f64, Failure> {
        self.prepared(|trial| {
            let on = pool.map_or(On::Thread, On::Tidegate);
            let nanos = trial.sample(on);
            trial::check_last(trial, on)?;
            Ok(nanos / 1e9)
        })
    }

    fn prepared<T>(
        &self,
        work: impl FnOnce(&mut dyn Trial) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if prepared.is_none() {
            let mut trial = find(self.program, self.size, &self.given)?;
            trial::prepare(&mut *trial)?;
            trial.refer();
            *prepared = Some(trial);
        }
        work(&mut **prepared.as_mut().expect("made above"))
    }
}
