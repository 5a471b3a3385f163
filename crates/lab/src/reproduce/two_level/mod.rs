//! Processors that move between jobs: the experiments of Siddhartha Sen, "Dynamic processor
//! allocation for adaptively parallel work-stealing jobs", 2004, chapter 7.
//!
//! Each part of the experiment lists its [`Case`]s and shows their results. Each case becomes a
//! cell.

mod arrival;
mod bound;
mod case;
mod cycle;
mod job;
mod late;
mod overhead;
mod phases;
mod real;
mod scale;
mod series;

use super::page::{Finding, Page, Section, Setting};
use crate::arguments::Size;
use crate::engine::{Cell, Session, Verdict};
use case::{Case, Observed, Seen};
use tidegate_command::failure::Failure;

/// A part of the experiment on the simulated machine.
trait Part {
    fn cases(&self) -> Vec<Case>;
    fn findings(&self, observed: &Observed) -> Vec<Finding>;
    fn sections(&self, observed: &Observed) -> Vec<Section>;
}

/// The maximum number of runs, as in the thesis.
const RUNS: u64 = 5;

fn parts(size: tidegate_workloads::Size) -> Vec<Box<dyn Part>> {
    vec![
        Box::new(overhead::Overhead::new(size)),
        Box::new(late::Late::new()),
        Box::new(arrival::NewJob::new(size)),
        Box::new(phases::Phases::new(size)),
        Box::new(bound::Greedy::new(size)),
        Box::new(scale::Scale::new(size)),
    ]
}

pub fn page(session: &Session, sim: bool, real: bool) -> Result<Page, Failure> {
    let runs = session.runs(RUNS);
    let parts = if sim {
        parts(session.size().into())
    } else {
        vec![]
    };
    let cases: Vec<Case> = parts.iter().flat_map(|part| part.cases()).collect();
    let cells: Vec<Cell<'_, Seen>> = cases.iter().map(Case::cell).collect();
    session.expect(&cells, runs);
    let here = real
        .then(|| real::Here::new(session.size().into()))
        .transpose()?;
    if let Some(here) = &here {
        here.expect(session, runs);
    }
    session.begin()?;
    let mut page = Page::new(
        "two-level",
        "Jobs that share the processors",
        "Siddhartha Sen, \"Dynamic processor allocation for adaptively parallel work-stealing \
         jobs\", 2004, chapter 7",
    );
    page.made.push(Setting::new("runs", runs));
    if sim {
        let machine = "16 processors where nothing else is said; tasks so long that jobs take as \
                       long as published; an estimate takes 20 us of a processor";
        page.made.push(Setting::new("simulated", machine));
        let observed = Observed::new(&cases, session.side_by_side(&cells, runs)?);
        for part in parts {
            page.findings.extend(part.findings(&observed));
            page.sections.extend(part.sections(&observed));
        }
    }
    if let Some(here) = here {
        here.add(&mut page, session, runs)?;
    }
    if session.size() == Size::Tiny {
        let findings = page.findings.into_iter();
        page.findings = findings
            .map(|finding| finding.unless(true, Verdict::TooSmall))
            .collect();
    }
    Ok(page)
}

/// Returns the estimator of the thesis, with this target efficiency.
fn wsap(efficiency: f64) -> tidegate_policy::DesirePolicy {
    let rule = format!("wsap:eta={efficiency}");
    rule.parse().expect("a rule of this program")
}

fn show(ratio: f64) -> String {
    match ratio {
        ratio if ratio.abs() < 20.0 => format!("{ratio:.3}x"),
        _ => format!("{ratio:.0}x"),
    }
}
