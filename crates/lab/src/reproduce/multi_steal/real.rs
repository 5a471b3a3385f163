//! The experiment on this machine.

use tidegate::machine::Machine;
use tidegate_workloads::Size;

use super::findings::WELL_BELOW;
use super::{BOTTOMMOST, DYNAMIC, breakdown, rules, works};
use crate::reproduce::grid::{Grid, Load, Plan};
use crate::reproduce::page::{Finding, Page, Section, Setting};
use crate::reproduce::real;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, show_ratio, show_seconds};

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
    let time = dynamic.1 / bottommost.1;
    let processors = grid.plan().loads[0].name();
    Finding::new(
        "UTS A here: steals and time of dynamic by those of bottommost",
        format!(
            "fewer steals, time well below 1 (here: below {})",
            show_ratio(WELL_BELOW)
        ),
        format!(
            "{} of the steals, {} of the time",
            show_ratio(dynamic.0 / bottommost.0),
            show_ratio(time)
        ),
        dynamic.0 < bottommost.0 && time < WELL_BELOW,
        format!(
            "With {processors} processors bottommost steals {:.0} times in {}; on the source's 24 stealing was more than a quarter of the time. What differs beyond that here is not known.",
            bottommost.0,
            show_seconds(bottommost.1)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::observed::Observed;

    /// Whether it agrees if dynamic has so many steals and such a time, and every other strategy 100 and 1.
    fn agrees(steals: f64, seconds: f64) -> bool {
        let plan = Plan {
            rules: rules(),
            works: works(Size::Tiny),
            loads: vec![Load {
                processors: 2,
                instances: 1,
            }],
        };
        let observed = plan.cells().map(|(rule, ..)| {
            let (steals, seconds) = if rule.name == DYNAMIC {
                (steals, seconds)
            } else {
                (100.0, 1.0)
            };
            vec![Observed {
                seconds,
                steals,
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        finding(&Grid::new(plan, observed)).agrees
    }

    #[test]
    fn fewer_steals_and_less_time_agree_and_neither_does_alone() {
        assert!(agrees(50.0, 0.9));
        assert!(!agrees(100.0, 0.9));
        assert!(!agrees(50.0, 0.96));
        assert!(!agrees(f64::NAN, f64::NAN));
    }
}
