//! The experiments on this machine: each job is a process with its own pool.

mod findings;
mod jobs;

use std::collections::BTreeMap;

use super::super::page::{Page, Section, Setting};
use crate::engine::{Cell, Sample, Session};
use jobs::{Jobs, Ran, Runner};
use tidegate_command::failure::Failure;
use tidegate_command::output::{Table, Value};
use tidegate_workloads::Size;

/// The experiments that are possible with this machine's number of processors.
pub struct Here {
    processors: usize,
    cases: Vec<Jobs>,
    runner: Runner,
}

struct Observed {
    processors: usize,
    runs: BTreeMap<String, Vec<Ran>>,
}

impl Here {
    pub fn new(size: Size) -> Result<Self, Failure> {
        let processors = tidegate::machine::Machine::read().usable().len();
        Ok(Self {
            processors,
            cases: jobs::all(size, processors),
            runner: Runner::new()?,
        })
    }

    fn cells(&self) -> Vec<Cell<'_, Ran>> {
        let mut cells = Vec::new();
        for jobs in &self.cases {
            let Jobs { name, in_full, .. } = jobs;
            let name = format!("real/{name}/{in_full} processors={}", self.processors);
            cells.push(Cell::new(name, move |_| self.runner.run(jobs)));
        }
        cells
    }

    pub fn expect(&self, session: &Session, runs: u64) {
        session.expect(&self.cells(), runs);
    }

    /// Runs the cells and adds the results to the page.
    pub fn add(&self, page: &mut Page, session: &Session, runs: u64) -> Result<(), Failure> {
        let runs = session.in_turns(&self.cells(), runs)?;
        let names = self.cases.iter().map(|jobs| jobs.name.clone());
        let observed = Observed {
            processors: self.processors,
            runs: names.zip(runs).collect(),
        };
        page.made
            .push(Setting::new("processors here", self.processors));
        page.findings.extend(findings::all(&observed));
        page.sections.push(self.section(&observed));
        Ok(())
    }

    fn section(&self, observed: &Observed) -> Section {
        let mut table = Table::new(["jobs", "response", "makespan", "power", "processors"])
            .titled("Jobs on this machine");
        for Jobs { name, .. } in &self.cases {
            let known = |figure: fn(&Ran) -> f64, unit| {
                Value::known(Some(observed.sample(name, figure).median()), unit)
            };
            let rounded = |figure: f64| Value::Number((figure * 1e3).round() / 1e3);
            table.row([
                Value::from(name.clone()),
                known(Ran::response, Value::Seconds),
                known(Ran::end, Value::Seconds),
                known(Ran::power, rounded),
                known(Ran::usage, rounded),
            ]);
        }
        Section {
            title: "On this machine".to_owned(),
            text: "Each job is a process. Under \"sharing\" its pool asks for processors by the \
                   rule of the thesis every 5 ms; halves and thirds are pools of a fixed size \
                   that do not share. Processors are processor time by response, of the first \
                   job. A pool of the runtime that is alone begins with all processors and not \
                   with one, so O1 cannot be made here."
                .to_owned(),
            charts: vec![],
            tables: vec![table],
        }
    }
}

impl Observed {
    fn sample(&self, name: &str, figure: impl Fn(&Ran) -> f64) -> Sample {
        let runs = self.runs.get(name).map_or(&[][..], Vec::as_slice);
        Sample::new(runs.iter().map(figure))
    }

    fn response(&self, name: &str) -> Sample {
        self.sample(name, Ran::response)
    }
}
