//! Runs on this machine. Each instance of a program is a process, and all instances start together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tidegate_workloads::{Runtime, Tidegate, find};

use super::observed::Observed;
use super::plan::{Load, Rule};
use super::simulated::Work;
use crate::bench::crew::{self, Done, Spec};
use tidegate_cli_support::failure::Failure;

/// Runs programs as processes that share a private job table, and checks that a program always
/// gives the same answer.
#[derive(Clone)]
pub struct Processes(Arc<Shared>);

struct Shared {
    folder: TempDir,
    answers: Mutex<BTreeMap<(&'static str, Option<u64>), Value>>,
}

impl Processes {
    pub fn new() -> Result<Self, Failure> {
        Ok(Self(Arc::new(Shared {
            folder: crew::folder()?,
            answers: Mutex::default(),
        })))
    }

    /// Runs a program once under a rule and a load.
    pub fn observe(
        &self,
        rule: &Rule,
        work: &Work,
        load: Load,
        run: u64,
    ) -> Result<Observed, Failure> {
        let jobs = vec![(spec(work, rule, load, run)?, Duration::ZERO); load.instances];
        let done = self.run(&jobs)?;
        done.iter()
            .try_for_each(|one| self.check(rule, work, run, &one.answer))?;
        Ok(Observed::of_jobs(&done))
    }

    /// Runs jobs, each of which starts after its delay.
    pub fn run(&self, jobs: &[(Spec, Duration)]) -> Result<Vec<Done>, Failure> {
        crew::run(jobs, &self.0.folder.path().join("table.v1"))
    }

    fn check(&self, rule: &Rule, work: &Work, run: u64, answer: &Value) -> Result<(), Failure> {
        let mut answers = self
            .0
            .answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let first = answers.entry((work.name, seed_of(work, run)));
        let first = first.or_insert_with(|| answer.clone());
        if first == answer {
            Ok(())
        } else {
            Err(Failure::Wrong(format!(
                "{} with {} answered {answer} and before {first}",
                work.name, rule.name
            )))
        }
    }
}

/// Returns the seed of the data in a run. Programs whose behaviour depends strongly on their data
/// get new data in each run.
fn seed_of(work: &Work, run: u64) -> Option<u64> {
    work.reseeded.then_some(run)
}

/// Returns the job of one instance of a program under a rule.
pub fn spec(work: &Work, rule: &Rule, load: Load, run: u64) -> Result<Spec, Failure> {
    let mut given = work.given();
    if let Some(seed) = seed_of(work, run) {
        given
            .named
            .push(("seed".to_owned(), seed.to_string().into()));
    }
    let parameters = Spec::spelled(&find(work.program, work.size, &given)?.parameters());
    Ok(Spec {
        idle: Some(rule.idle),
        steal: Some(rule.steal),
        memory: rule.memory,
        ..Spec::new(work.program, parameters, Tidegate::NAME, load.processors)
    })
}
