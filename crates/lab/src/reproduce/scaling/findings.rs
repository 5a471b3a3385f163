//! Whether a default is what the data say.

use super::DEFAULTS;
use crate::reproduce::grid::Grid;
use crate::reproduce::page::Finding;
use tidegate_command::output::show_ratio;

/// A choice is better than the default if it saves more than this.
const BETTER: f64 = 0.95;

/// One for each choice.
pub fn findings(grid: &Grid) -> Vec<Finding> {
    let rules = grid.plan().rules.iter().enumerate();
    let others = rules.filter(|(_, rule)| rule.name != DEFAULTS);
    others.map(|(rule, _)| finding(grid, rule)).collect()
}

fn finding(grid: &Grid, rule: usize) -> Finding {
    let loads = &grid.plan().loads;
    let usual = grid.rule(DEFAULTS);
    let several = (0..loads.len()).filter(|load| loads[*load].processors > 1);
    let ratios: Vec<f64> = several
        .clone()
        .map(|load| mean_ratio(grid, [rule, usual], load))
        .collect();
    let names: Vec<String> = several.map(|load| loads[load].name()).collect();
    Finding::new(
        format!(
            "{}: time by that of the defaults, the geometric mean of all programs, on {} processors",
            grid.plan().rules[rule].name,
            names.join(", ")
        ),
        format!("more than {} each", show_ratio(BETTER)),
        ratios
            .iter()
            .map(|ratio| show_ratio(*ratio))
            .collect::<Vec<_>>()
            .join(", "),
        ratios.iter().all(|ratio| *ratio > BETTER),
        "The tables below tell for which programs it is better, docs/choosing.md what follows.",
    )
}

/// The time under a rule by that under another, the geometric mean of all programs.
fn mean_ratio(grid: &Grid, [rule, other]: [usize; 2], load: usize) -> f64 {
    let works = grid.plan().works.len();
    let seconds = |rule, work| grid.seconds(rule, work, load).value;
    let logs = (0..works).map(|work| (seconds(rule, work) / seconds(other, work)).ln());
    (logs.sum::<f64>() / works as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::super::{PROCESSORS, rules, works};
    use super::*;
    use crate::reproduce::grid::{Load, Plan};
    use crate::reproduce::observed::Observed;
    use tidegate_workloads::Size;

    #[test]
    fn a_choice_that_saves_time_anywhere_is_told_and_one_that_does_not_agrees() {
        let plan = Plan {
            rules: rules(),
            works: works(Size::Tiny),
            loads: PROCESSORS
                .map(|processors| Load {
                    processors,
                    instances: 1,
                })
                .into(),
        };
        let observed = plan.cells().map(|(rule, _, load)| {
            let better = rule.name == "steal half" && load.processors == 4_096;
            vec![Observed {
                seconds: if better { 0.5 } else { 1.0 },
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        let found = findings(&Grid::new(plan, observed));
        assert_eq!(found.len(), rules().len() - 1);
        for finding in found {
            let half = finding.what.starts_with("steal half: ");
            assert_eq!(finding.agrees, !half, "{}", finding.what);
        }
    }
}
