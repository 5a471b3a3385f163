//! The experiment on this machine.

use tidegate::machine::Machine;
use tidegate_workloads::Size;

use super::{BOTTOMMOST, DYNAMIC, breakdown, rules, works};
use crate::failure::Failure;
use crate::output::{Progress, show_ratio};
use crate::reproduce::grid::{Grid, Load, Plan};
use crate::reproduce::page::{Finding, Page, Section, Setting};
use crate::reproduce::real;

/// Adds what comes of it to the page.
pub fn add(page: &mut Page, size: Size, runs: u64) -> Result<(), Failure> {
    let processors = Machine::read().usable().len();
    let load = Load {
        processors,
        instances: 1,
    };
    let plan = Plan {
        rules: rules(),
        works: works(size),
        loads: vec![load],
    };
    let progress = Progress::start(plan.cells().count() as u64 * runs);
    let observed = real::observe(&plan, runs, &progress)?;
    drop(progress);
    let grid = Grid::new(plan, observed);
    page.made.push(Setting::new("processors here", processors));
    page.findings.push(finding(&grid));
    page.sections.push(Section {
        title: "Here".to_owned(),
        text: "The same programs and strategies on this machine. On few processors a thief seldom finds much to take."
            .to_owned(),
        charts: vec![],
        tables: vec![breakdown(&grid, 0)],
    });
    Ok(())
}

fn finding(grid: &Grid) -> Finding {
    let work = grid.work("UTS A").expect("a program of the plan");
    let [dynamic, bottommost] = [DYNAMIC, BOTTOMMOST].map(|rule| {
        let cell = (grid.rule(rule), work, 0);
        let steals = grid.mean(cell, |observed| observed.steals).value;
        (steals, grid.seconds(cell.0, work, 0).value)
    });
    Finding {
        what: "UTS A here: steals and time of dynamic by those of bottommost".to_owned(),
        published: "fewer steals, well below 1".to_owned(),
        ours: format!(
            "{} of the steals, {} of the time",
            show_ratio(dynamic.0 / bottommost.0),
            show_ratio(dynamic.1 / bottommost.1)
        ),
        agrees: dynamic.0 < bottommost.0 && dynamic.1 < bottommost.1,
        why: String::new(),
    }
}
