//! Runs on this machine: each instance of a program a process of its own, all of them started together.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tidegate_policy::Share;
use tidegate_workloads::{Program, Runtime, Tidegate, Visitor, visit};

use super::grid::{Load, Plan, Rule};
use super::observed::Observed;
use super::simulated::Work;
use crate::bench::crew::{self, Spec};
use tidegate_command::failure::Failure;
use tidegate_command::output::Progress;

/// What came of `runs` runs of each cell of the plan, the rules in turns so that all meet the same hours of the machine.
pub fn observe(plan: &Plan, runs: u64, progress: &Progress) -> Result<Vec<Vec<Observed>>, Failure> {
    let folder = crew::folder()?;
    let table = folder.path().join("table.v1");
    let mut answers = BTreeMap::new();
    let mut observed: Vec<Vec<Observed>> = plan.cells().map(|_| Vec::new()).collect();
    for run in 0..runs {
        for ((rule, work, load), observed) in plan.cells().zip(&mut observed) {
            let (name, idle, load_name) = (work.name, &rule.name, load.name());
            progress.say(&format!("{name} with {idle} on {load_name}"));
            let spec = spec(work, rule, load, run)?;
            let jobs = vec![(spec, Duration::ZERO); load.instances];
            let done = crew::run(&jobs, &table)?;
            for one in &done {
                let first = answers.entry((name, seed_of(work, run)));
                let first: &Value = first.or_insert_with(|| one.answer.clone());
                if *first != one.answer {
                    let answer = &one.answer;
                    let what = format!("{name} with {idle} answered {answer} and before {first}");
                    return Err(Failure::Wrong(what));
                }
            }
            observed.push(Observed::of_jobs(&done));
            progress.step();
        }
    }
    Ok(observed)
}

/// From what a run's data are made: programs whose course depends on them much have other ones in each run.
fn seed_of(work: &Work, run: u64) -> Option<u64> {
    work.reseeded.then_some(run)
}

fn spec(work: &Work, rule: &Rule, load: Load, run: u64) -> Result<Spec, Failure> {
    struct Parameters;
    impl Visitor for Parameters {
        type Out = Vec<(String, String)>;
        fn visit<P: Program>(self, program: P) -> Self::Out {
            Spec::parameters_of(&program)
        }
    }
    let mut given = work.given();
    if let Some(seed) = seed_of(work, run) {
        given
            .named
            .push(("seed".to_owned(), seed.to_string().into()));
    }
    Ok(Spec {
        program: work.program.to_owned(),
        parameters: visit(work.program, work.size, &given, Parameters)?,
        runtime: Tidegate::NAME.to_owned(),
        workers: load.processors,
        share: Share::Off,
        idle: Some(rule.idle),
        steal: Some(rule.steal),
        space: rule.space,
        processors: None,
    })
}
