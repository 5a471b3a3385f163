//! Findings on whether each default is as good as its alternatives.

use super::DEFAULTS;
use crate::engine::ratios::{geometric_mean, measured, of_ratios};
use crate::engine::{Claim, Interval, Refuted};
use crate::reproduce::grid::Grid;
use crate::reproduce::page::Finding;
use tidegate_command::output::show_ratio;

/// An alternative counts as better than the default if its relative time lies below this.
const BETTER: f64 = 0.95;

/// Returns the findings for each alternative and number of processors.
pub fn findings(grid: &Grid) -> Vec<Finding> {
    let rules = grid.plan().rules.iter().enumerate();
    let others = rules.filter(|(_, rule)| rule.name != DEFAULTS);
    let loads = 0..grid.plan().loads.len();
    let several = loads.filter(|load| grid.plan().loads[*load].processors > 1);
    others
        .flat_map(|(rule, _)| several.clone().map(move |load| finding(grid, rule, load)))
        .collect()
}

fn finding(grid: &Grid, rule: usize, load: usize) -> Finding {
    let name = &grid.plan().rules[rule].name;
    let processors = grid.plan().loads[load].name();
    Claim::new(
        format!("{name} on {processors}"),
        format!(
            "With {name}, {processors} processors take at least {} of the time of the defaults, as \
             the geometric mean of all programs",
            show_ratio(BETTER)
        ),
        "expected",
        BETTER..=f64::INFINITY,
        Refuted::Outside(BETTER, f64::INFINITY),
    )
    .finding(
        mean_ratio(grid, [rule, grid.rule(DEFAULTS)], load),
        show_ratio,
    )
}

/// Returns the ratio of the times under two rules: the geometric mean over all measured programs.
fn mean_ratio(grid: &Grid, [rule, other]: [usize; 2], load: usize) -> Interval {
    let works = 0..grid.plan().works.len();
    let pairs = works.map(|work| [rule, other].map(|rule| grid.seconds(rule, work, load)));
    of_ratios(&measured(pairs), geometric_mean)
}

#[cfg(test)]
mod tests {
    use super::super::{PROCESSORS, rules, works};
    use super::*;
    use crate::engine::Verdict;
    use crate::reproduce::grid::{Load, Plan};
    use crate::reproduce::observed::Observed;
    use tidegate_workloads::Size;

    #[test]
    fn a_choice_that_saves_time_contradicts() {
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
        for finding in findings(&Grid::new(plan, observed)) {
            let expected = match finding.id.as_str() {
                "steal half on 4096" => Verdict::Contradicts,
                _ => Verdict::Agrees,
            };
            assert_eq!(finding.verdict, expected, "{}", finding.id);
        }
    }
}
