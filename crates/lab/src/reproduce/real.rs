//! Runs on this machine. Each instance of a program is a process, and all instances start together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tidegate_workloads::{Runtime, Tidegate, find};

use super::observed::Observed;
use super::plan::{Load, Rule};
use super::simulated::Workload;
use crate::bench::crew::{self, Done, Spec};
use tidegate_cli_support::failure::Failure;

/// Runs programs as processes that share a private job table, and checks that a program always
/// gives the same answer.
pub struct Processes {
    folder: TempDir,
    /// The first answer of each program with its parameters.
    answers: Mutex<BTreeMap<String, Value>>,
}

impl Processes {
    pub fn new() -> Result<Arc<Self>, Failure> {
        let (folder, answers) = (crew::folder()?, Mutex::default());
        Ok(Arc::new(Self { folder, answers }))
    }

    pub fn observe(
        &self,
        rule: &Rule,
        work: &Workload,
        load: Load,
        run: u64,
    ) -> Result<Observed, Failure> {
        let jobs = vec![(spec(work, rule, load, run)?, Duration::ZERO); load.instances];
        Ok(Observed::of_jobs(&self.run(&jobs)?))
    }

    /// Runs jobs, each of which starts after its delay.
    pub fn run(&self, jobs: &[(Spec, Duration)]) -> Result<Vec<Done>, Failure> {
        let done = crew::run(jobs, &self.folder.path().join("table.v1"))?;
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        for ((spec, _), Done { answer, .. }) in jobs.iter().zip(&done) {
            let program = format!("{} {:?}", spec.program, spec.parameters);
            let first = answers
                .entry(program.clone())
                .or_insert_with(|| answer.clone());
            if first != answer {
                return Err(Failure::Wrong(format!(
                    "{program} answered {answer} and before {first}"
                )));
            }
        }
        Ok(done)
    }
}

/// Returns the job of one instance of a program under a rule. Programs whose behaviour depends
/// strongly on their data get new data in each run.
pub fn spec(work: &Workload, rule: &Rule, load: Load, run: u64) -> Result<Spec, Failure> {
    let mut given = work.given();
    if work.reseeded {
        given
            .named
            .push(("seed".to_owned(), run.to_string().into()));
    }
    let parameters = Spec::spelled(&find(work.program, work.size, &given)?.parameters());
    Ok(Spec {
        idle: Some(rule.idle),
        steal: Some(rule.steal),
        memory: rule.memory,
        ..Spec::new(work.program, parameters, Tidegate::NAME, load.processors)
    })
}
