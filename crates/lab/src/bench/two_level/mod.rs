//! `bench two-level`: runs several jobs at once under each scheme that divides the processors.
//!
//! Each repetition runs all schemes, so that changes in the machine's load affect all schemes
//! alike. The answer of each job is compared with the same program's answers in all other runs, so
//! that a scheme cannot appear faster by doing less work.

mod experiments;
mod row;

use std::collections::BTreeMap;
use std::time::Duration;

use clap::ValueEnum as _;
use serde_json::{Value, json};

use super::crew::{self, Done};
use crate::arguments::{Experiment, Size, TwoLevelArguments};
use crate::engine::Sample;
use experiments::{Case, Scheme, Work};
pub use row::Row;
use row::Trial;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, Table, Value as Cell, print_json};

/// Runs the experiments, and prints a row for each experiment and scheme.
pub fn bench(arguments: &TwoLevelArguments) -> Result<(), Failure> {
    let TwoLevelArguments {
        processors,
        repeat,
        only,
        size,
        format,
    } = arguments;
    let rows = measure(*processors, only, *size, *repeat)?;
    if format.json {
        return print_json(&json!(rows));
    }
    table(&rows).print(*format)
}

fn measure(
    confined: Option<usize>,
    only: &[Experiment],
    size: Size,
    repeat: u32,
) -> Result<Vec<Row>, Failure> {
    let processors = processors(confined)?;
    let folder = crew::folder()?;
    let works = Work::calibrated(size == Size::Tiny);
    let cases: Vec<Case> = experiments::cases(&works)
        .into_iter()
        .filter(|case| only.is_empty() || only.contains(&case.experiment))
        .collect();
    let mut bench = Bench {
        processors,
        confined,
        table: folder.path().join("table.v1"),
        answers: BTreeMap::new(),
        alone: BTreeMap::new(),
    };
    bench.measure(&cases, repeat)
}

/// Returns how many processors all jobs together may use.
fn processors(asked: Option<usize>) -> Result<usize, Failure> {
    let machine = tidegate::machine::Machine::read();
    let there = machine.usable().len();
    match asked {
        Some(asked) if asked > there => Err(Failure::Usage(format!(
            "invalid value {asked} for --processors: expected 1 to {there}, the processors that this process may use"
        ))),
        asked => Ok(asked.unwrap_or(there)),
    }
}

struct Bench {
    processors: usize,
    confined: Option<usize>,
    table: std::path::PathBuf,
    /// The first answer of each kind of work, keyed by the work's name.
    answers: BTreeMap<String, Value>,
    /// The runs in which each kind of work ran alone on Tidegate, keyed by the work's name.
    alone: BTreeMap<String, Vec<Done>>,
}

impl Bench {
    fn measure(&mut self, cases: &[Case], repeat: u32) -> Result<Vec<Row>, Failure> {
        let mut works: Vec<Work> = Vec::new();
        for work in cases
            .iter()
            .flat_map(|case| &case.jobs)
            .map(|job| &job.work)
        {
            if !works.contains(work) {
                works.push(work.clone());
            }
        }
        let lanes = cases.len() * Scheme::ALL.len();
        let progress = Progress::start(u64::from(repeat) * (works.len() + lanes) as u64);
        let mut trials: Vec<Vec<Vec<Trial>>> = cases
            .iter()
            .map(|_| vec![Vec::new(); Scheme::ALL.len()])
            .collect();
        for round in 1..=repeat {
            for work in &works {
                progress.say(&format!("round {round} of {repeat}: {} alone", work.name));
                self.measure_alone(work)?;
                progress.step();
            }
            for (case, trials) in cases.iter().zip(&mut trials) {
                for (scheme, trials) in Scheme::ALL.into_iter().zip(trials) {
                    progress.say(&format!(
                        "round {round} of {repeat}: {} on {}",
                        case.name(),
                        scheme.name()
                    ));
                    trials.push(self.trial(case, scheme)?);
                    progress.step();
                }
            }
        }
        let mut rows = Vec::new();
        for (case, trials) in cases.iter().zip(trials) {
            for (scheme, trials) in Scheme::ALL.into_iter().zip(trials) {
                rows.push(Row::of(case, scheme, self.processors, &trials, &self.alone));
            }
        }
        Ok(rows)
    }

    fn measure_alone(&mut self, work: &Work) -> Result<(), Failure> {
        let spec = work.spec(Scheme::Tidegate, self.processors, 1, self.confined);
        let done = self.run(&[(work, spec, Duration::ZERO)])?;
        self.alone
            .entry(work.name.clone())
            .or_default()
            .extend(done);
        Ok(())
    }

    fn trial(&mut self, case: &Case, scheme: Scheme) -> Result<Trial, Failure> {
        let specs: Vec<_> = case
            .jobs
            .iter()
            .map(|job| {
                let spec = job
                    .work
                    .spec(scheme, self.processors, case.jobs.len(), self.confined);
                // The delay is a fraction of the time that the first job takes alone.
                let alone = &self.alone[&case.jobs[0].work.name];
                let alone = Sample::new(alone.iter().map(|done| done.seconds)).median();
                (&job.work, spec, Duration::from_secs_f64(alone * job.delay))
            })
            .collect();
        let delays: Vec<f64> = specs
            .iter()
            .map(|(_, _, delay)| delay.as_secs_f64())
            .collect();
        let done = self.run(&specs)?;
        Ok(Trial { delays, done })
    }

    /// Runs jobs together, and compares their answers with those of earlier runs.
    fn run(&mut self, jobs: &[(&Work, crew::Spec, Duration)]) -> Result<Vec<Done>, Failure> {
        let specs: Vec<_> = jobs
            .iter()
            .map(|(_, spec, delay)| (spec.clone(), *delay))
            .collect();
        let done = crew::run(&specs, &self.table)?;
        for ((work, spec, _), done) in jobs.iter().zip(&done) {
            let first = self
                .answers
                .entry(work.name.clone())
                .or_insert_with(|| done.answer.clone());
            if *first != done.answer {
                let (name, runtime, answer) = (&work.name, &spec.runtime, &done.answer);
                let what = format!("{name} on {runtime} answered {answer} and before {first}");
                return Err(Failure::Wrong(what));
            }
        }
        Ok(done)
    }
}

/// Puts the most important columns first.
fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "experiment",
        "program",
        "scheme",
        "jobs",
        "response",
        "makespan",
        "of ideal",
        "worst",
        "power",
        "cpu",
        "switches",
        "slow-down ratio",
    ]);
    for row in rows {
        table.row([
            row.experiment.as_str().into(),
            row.program.as_str().into(),
            row.scheme.into(),
            row.jobs.into(),
            Cell::Seconds(row.mean_response),
            Cell::Seconds(row.makespan),
            Cell::Ratio(row.makespan / row.ideal_makespan),
            Cell::Seconds(row.worst_response),
            Cell::Number(row.power),
            Cell::Seconds(row.cpu_seconds),
            row.context_switches.into(),
            Cell::Ratio(row.slowdown_ratio),
        ]);
    }
    table
}

impl Experiment {
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
