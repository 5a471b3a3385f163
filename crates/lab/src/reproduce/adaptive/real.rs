//! The experiment on this machine.

use tidegate::machine::Machine;
use tidegate_workloads::Size;

use crate::reproduce::grid::{Grid, Load, Plan};
use crate::reproduce::page::{Finding, Page, Setting};
use crate::reproduce::real;
use crate::reproduce::simulated::Work;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, show_ratio, show_seconds};

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

/// What takes less than so many times as long is alike.
const SLOWER: f64 = 1.02;

/// Of four instances each has processors that the others' idle thieves leave to it.
fn none_wastes(grid: &Grid, load: Load) -> Finding {
    let load = grid.load(&load.name());
    let at = |rule| grid.aggregated(grid.rule(rule), load).value;
    let slower = ["pheet-original", "none"].map(|rule| at(rule) / at("linear"));
    let works = 0..grid.plan().works.len();
    let times = works.map(|work| grid.seconds(grid.rule("linear"), work, load).value);
    Finding::new(
        "Here, four instances, aggregated: the original backoff and no rest against the linear one",
        format!(
            "both are significantly slower, above all with several programs (section 4.5; here: more than {})",
            show_ratio(SLOWER)
        ),
        slower.map(show_ratio).join(", "),
        slower.iter().all(|ratio| *ratio > SLOWER),
        format!(
            "A thief that looks on costs others what they wait for its processor, one that sleeps costs its own program what it wakes late: the longest program here takes {} with the linear backoff, and the \
             machine has few processors on which to look on.",
            show_seconds(times.fold(f64::NAN, f64::max))
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::observed::Observed;

    /// Whether it agrees where these take so long, and every other rule 1.
    fn agrees(original: f64, none: f64) -> bool {
        let load = Load {
            processors: 2,
            instances: 4,
        };
        let plan = Plan {
            rules: super::super::rules(),
            works: works(Size::Tiny),
            loads: vec![load],
        };
        let observed = plan.cells().map(|(rule, ..)| {
            let seconds = match rule.name.as_str() {
                "pheet-original" => original,
                "none" => none,
                _ => 1.0,
            };
            vec![Observed {
                seconds,
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        none_wastes(&Grid::new(plan, observed), load).agrees
    }

    #[test]
    fn both_that_waste_must_be_slower_to_agree() {
        assert!(agrees(1.5, 1.5));
        assert!(!agrees(1.5, 1.0));
        assert!(!agrees(1.0, 1.5));
        assert!(!agrees(f64::NAN, f64::NAN));
    }
}
