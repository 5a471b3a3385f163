//! The experiment on this machine.

use tidegate::machine::Machine;
use tidegate_workloads::Size;

use crate::failure::Failure;
use crate::output::{Progress, show_ratio};
use crate::reproduce::grid::{Grid, Load, Plan};
use crate::reproduce::page::{Finding, Page, Setting};
use crate::reproduce::real;
use crate::reproduce::simulated::Work;

/// All programs of the thesis, two of which have another graph in each run.
fn works(size: Size) -> Vec<Work> {
    let [geometric, hybrid] = super::trees(size);
    let [lu, prefixsum] = ["lu", "prefixsum"].map(|program| super::work(program, size));
    let [bipartition, sssp] = ["bipartition", "sssp"].map(|program| Work {
        reseeded: true,
        ..super::work(program, size)
    });
    vec![
        bipartition,
        lu,
        prefixsum,
        super::quicksort(size),
        sssp,
        geometric,
        hybrid,
    ]
}

/// Adds what comes of it to the page.
pub fn add(page: &mut Page, size: Size, runs: u64) -> Result<(), Failure> {
    let processors = Machine::read().usable().len();
    let load = |instances| Load {
        processors,
        instances,
    };
    let plan = Plan {
        rules: super::rules(),
        works: works(size),
        loads: [1, 2, 4].map(load).into(),
    };
    let progress = Progress::start(plan.cells().count() as u64 * runs);
    let observed = real::observe(&plan, runs, &progress)?;
    drop(progress);
    let grid = Grid::new(plan, observed);
    page.made.push(Setting::new("processors here", processors));
    page.findings.push(none_wastes(&grid, load(4)));
    page.sections.extend([
        super::overall("Here: aggregated", &[("this machine", &grid)]),
        super::by_program("here", &grid),
        super::sleeps("here, one instance", &grid, &load(1).name()),
    ]);
    Ok(())
}

/// Of four instances each has processors that the others' idle thieves leave to it.
fn none_wastes(grid: &Grid, load: Load) -> Finding {
    let load = grid.load(&load.name());
    let at = |rule| grid.aggregated(grid.rule(rule), load).value;
    let ratio = at("none") / at("linear");
    Finding {
        what: "Here, four instances, aggregated: no rest against linear backoff".to_owned(),
        published: "the original backoff and none are significantly slower, above all with several programs (section 4.5)".to_owned(),
        ours: format!("none takes {}", show_ratio(ratio)),
        agrees: ratio > 1.0,
        why: String::new(),
    }
}
