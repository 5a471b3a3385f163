//! Processors that go from job to job: the experiments of Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs", 2004, chapter 7.

mod arrival;
mod bound;
mod dags;
mod jobs;
mod late;
mod phases;
mod real;
mod startup;

use tidegate_workloads::Size;

use super::page::{Finding, Page, Section, Setting};
use crate::arguments::ReproduceArguments;
use tidegate_command::failure::Failure;
use tidegate_command::output::Progress;

/// What a part of the experiment adds to the page.
type Part = (Vec<Finding>, Vec<Section>);

/// A part, from the size of the programs and the number of runs.
type Add = fn(Size, u64, &Progress) -> Result<Part, Failure>;

const PARTS: [(&str, Add); 5] = [
    ("O1 and O2", startup::add),
    ("O3", late::add),
    ("P1", arrival::add),
    ("P2", phases::add),
    ("P3", bound::add),
];

/// The most runs; the thesis made as many.
const RUNS: u64 = 5;

/// Makes the page.
pub fn page(arguments: &ReproduceArguments) -> Result<Page, Failure> {
    let runs = arguments.runs.min(RUNS);
    let mut page = Page {
        experiment: "two-level".to_owned(),
        title: "Jobs that share the processors".to_owned(),
        source: "Sen, \"Dynamic processor allocation for adaptively parallel work-stealing jobs\", 2004, chapter 7".to_owned(),
        expected: false,
        made: vec![
            Setting::new("size", format!("{:?}", arguments.size).to_lowercase()),
            Setting::new("runs", runs),
        ],
        findings: vec![],
        sections: vec![],
    };
    if !arguments.real {
        simulated(&mut page, arguments.size.into(), runs)?;
    }
    if !arguments.sim {
        real::add(&mut page, arguments.size, runs)?;
    }
    Ok(page)
}

/// Adds what comes of it on the machine of the thesis.
fn simulated(page: &mut Page, size: Size, runs: u64) -> Result<(), Failure> {
    page.made.push(Setting::new(
        "simulated",
        "16 processors; tasks so long that the jobs take as long as published",
    ));
    let steps = [
        startup::steps,
        late::steps,
        arrival::steps,
        phases::steps,
        bound::steps,
    ];
    let progress = Progress::start(steps.iter().map(|steps| steps(runs)).sum());
    for (what, add) in PARTS {
        progress.say(what);
        let (findings, sections) = add(size, runs, &progress)?;
        page.findings.extend(findings);
        page.sections.extend(sections);
    }
    Ok(())
}
