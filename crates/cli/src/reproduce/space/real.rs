//! The experiment on this machine, with as many workers as processors and with more.

use tidegate::machine::Machine;
use tidegate_workloads::Size;

use super::tables::Results;
use super::{HYBRID, STEALING, plan, serial, works};
use crate::failure::Failure;
use crate::output::{Progress, show_ratio};
use crate::reproduce::grid::Grid;
use crate::reproduce::page::{Finding, Page, Setting};
use crate::reproduce::real;

/// So many workers at least, as the source had.
const WORKERS: usize = 4;

/// Adds what comes of it to the page.
pub fn add(page: &mut Page, size: Size, runs: u64) -> Result<(), Failure> {
    let processors = Machine::read().usable().len();
    let mut workers = vec![processors];
    if processors < WORKERS {
        workers.push(WORKERS);
    }
    let mut plans = Vec::new();
    for work in works(size) {
        let s1 = serial(&work)?.peak_bytes;
        plans.push((plan(work, s1, &workers), s1));
    }
    let cells = plans.iter().map(|(plan, _)| plan.cells().count());
    let progress = Progress::start(cells.sum::<usize>() as u64 * runs);
    page.made.push(Setting::new("processors here", processors));
    for (plan, s1) in plans {
        let observed = real::observe(&plan, runs, &progress)?;
        let grid = Grid::new(plan, observed);
        let results = Results { grid: &grid, s1 };
        page.findings.push(finding(&results, workers.len() - 1));
        page.sections.push(results.section("Here"));
    }
    Ok(())
}

fn finding(results: &Results<'_>, load: usize) -> Finding {
    let [hybrid, stealing] = [HYBRID, STEALING].map(|rule| {
        let rule = results.grid.rule(rule);
        (
            results.peak(rule, load).value,
            results.seconds(rule, load).value,
        )
    });
    let workers = results.grid.plan().loads[load].name();
    Finding {
        what: format!(
            "{} here, {workers} workers: most memory and time of hybrid by those of work stealing",
            results.name()
        ),
        published: "1.00 on 4 processors, 0.75 on 16; 1.3 of the time".to_owned(),
        ours: format!(
            "{}, {} of the time",
            show_ratio(hybrid.0 / stealing.0),
            show_ratio(hybrid.1 / stealing.1)
        ),
        agrees: hybrid.0 <= stealing.0 * 1.02,
        why: "Who sleeps keeps what the calls hold that wait for it, while its worker begins something else.".to_owned(),
    }
}
