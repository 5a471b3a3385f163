//! The experiment on as many processors as the source had.

use tidegate_sim::Settings;
use tidegate_workloads::Size;

use super::findings::{findings, peaks};
use super::tables::Results;
use super::{plan, serial, sweep, works};
use crate::reproduce::grid::{Grid, Plan};
use crate::reproduce::page::{Page, Setting};
use crate::reproduce::simulated;
use tidegate_command::failure::Failure;
use tidegate_command::output::Progress;

/// Those of the source.
pub const PROCESSORS: [usize; 5] = [4, 8, 12, 16, 32];

/// Adds what comes of it to the page.
pub fn add(page: &mut Page, size: Size, runs: u64) -> Result<(), Failure> {
    let works = works(size);
    let mut plans = Vec::new();
    for work in &works {
        let s1 = serial(work)?.peak_bytes;
        plans.push((plan(work.clone(), s1, &PROCESSORS), s1));
    }
    let swept = [0, 2].map(|work| sweep::plan(works[work].clone(), plans[work].1));
    let all = plans.iter().map(|(plan, _)| plan).chain(&swept);
    let cells: usize = all.map(|plan| plan.cells().count()).sum();
    let progress = Progress::start(cells as u64 * runs);
    let observe = |plan: Plan| {
        let cases = plan.cases(Settings::new);
        let observed = simulated::observe(&cases, runs, &progress)?;
        Ok::<_, Failure>(Grid::new(plan, observed))
    };
    let mut grids = Vec::new();
    for (plan, s1) in plans {
        grids.push((observe(plan)?, s1));
    }
    let swept = swept.map(observe);
    drop(progress);
    let results: Vec<Results<'_>> = grids
        .iter()
        .map(|(grid, s1)| Results { grid, s1: *s1 })
        .collect();
    page.made.push(Setting::new(
        "parameters",
        "of what the serial run declares, k and alpha 1/64, beta a quarter of alpha, budget 1.1 times",
    ));
    page.findings.extend(findings(&results));
    let mut sections: Vec<_> = results
        .iter()
        .map(|results| results.section("Simulated"))
        .collect();
    sections[0].tables.insert(0, peaks(&results[0]));
    page.sections.extend(sections);
    let swept = swept.into_iter().collect::<Result<Vec<_>, _>>()?;
    page.sections.push(sweep::section(&swept));
    Ok(())
}
