//! The experiment on this machine, with as many workers as processors and with more.

use tidegate::machine::Machine;
use tidegate_workloads::Size;

use super::tables::Results;
use super::{HYBRID, STEALING, plan, serial, works};
use crate::reproduce::grid::Grid;
use crate::reproduce::page::{Finding, Page, Setting};
use crate::reproduce::real;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, show_ratio};

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

/// What is more by less than this is not more.
const NO_MORE: f64 = 1.02;

fn finding(results: &Results<'_>, load: usize) -> Finding {
    let [hybrid, stealing] = [HYBRID, STEALING].map(|rule| {
        let rule = results.grid.rule(rule);
        (
            results.peak(rule, load).value,
            results.seconds(rule, load).value,
        )
    });
    let workers = results.grid.plan().loads[load].name();
    let (memory, time) = (hybrid.0 / stealing.0, hybrid.1 / stealing.1);
    let no_more = memory <= NO_MORE;
    Finding::new(
        format!(
            "{} here, {workers} workers: most memory and time of hybrid by those of work stealing",
            results.name()
        ),
        format!(
            "1.00x on 4 processors (here: at most {}), 0.75x on 16; 1.3x of the time",
            show_ratio(NO_MORE)
        ),
        format!("{}, {} of the time", show_ratio(memory), show_ratio(time)),
        no_more && time > 1.0,
        if no_more {
            "Who sleeps for memory costs time only where its worker finds nothing else to do, or where what wakes it is slow: neither weighs with so few workers."
        } else {
            "Who sleeps keeps what the calls hold that wait for it, while its worker begins something else."
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::observed::Observed;

    /// Whether it agrees where the hybrid has so much memory and such a time, and every other scheduler 1 of each.
    fn agrees(peak: f64, seconds: f64) -> bool {
        let work = works(Size::Tiny).remove(0);
        let plan = plan(work, 100, &[WORKERS]);
        let observed = plan.cells().map(|(rule, ..)| {
            let (peak, seconds) = if rule.name == HYBRID {
                (peak, seconds)
            } else {
                (1.0, 1.0)
            };
            vec![Observed {
                seconds,
                peak,
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        let grid = Grid::new(plan, observed);
        finding(&Results { grid: &grid, s1: 1 }, 0).agrees
    }

    #[test]
    fn no_more_memory_in_more_time_agrees_and_more_memory_or_less_time_does_not() {
        assert!(agrees(1.0, 1.3));
        assert!(!agrees(1.1, 1.3));
        assert!(!agrees(1.0, 0.9));
        assert!(!agrees(f64::NAN, f64::NAN));
    }
}
