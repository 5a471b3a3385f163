//! What the source found, beside what the simulated processors say.

use super::simulated::{FULL, Results};
use super::{BOTTOMMOST, DYNAMIC, FIXED_2, FIXED_16, FIXED_20, Shares, percent};
use crate::reproduce::grid::Grid;
use crate::reproduce::page::Finding;
use tidegate_command::output::show_ratio;

/// A ratio of times that is well below 1.
pub const WELL_BELOW: f64 = 0.95;

/// Why it may be slower to take half.
const HALF_OF_FEW: &str = "Of few tasks that wait half is often all but one, and who is robbed of them is the next to look for some.";

/// All of them.
pub fn findings(results: &Results) -> Vec<Finding> {
    let Results { ours, dear } = results;
    vec![
        stealing(dear),
        faster("UTS A", dear, "steals as dear as there"),
        faster("UTS B", dear, "steals as dear as there"),
        faster("UTS A", ours, "steals as dear as ours"),
        fib_alike(ours),
        fib_loses(dear),
        as_good("Strassen", dear),
        worse(
            "Strassen",
            dear,
            "lower performance than the bottommost first (section 4.3)",
        ),
        as_good("SparseLU", dear),
        worse("SparseLU", dear, "fails to scale (section 4.3)"),
        as_good("FFT", dear),
        worse(
            "FFT",
            dear,
            "lower performance, as in Strassen (section 4.3)",
        ),
    ]
}

fn work(grid: &Grid, name: &str) -> usize {
    grid.work(name).expect("a program of the plan")
}

fn shares(grid: &Grid, name: &str, rule: &str) -> Shares {
    Shares::of(grid, (grid.rule(rule), work(grid, name), FULL))
}

/// How long a program takes on all processors under a strategy, by the bottommost first.
fn by_bottommost(grid: &Grid, name: &str, rule: &str) -> f64 {
    let work = work(grid, name);
    let at = |rule| grid.seconds(grid.rule(rule), work, FULL).value;
    at(rule) / at(BOTTOMMOST)
}

fn stealing(dear: &Grid) -> Finding {
    let [one, fixed, dynamic] =
        [BOTTOMMOST, FIXED_20, DYNAMIC].map(|rule| shares(dear, "UTS A", rule).steal);
    Finding::new(
        "UTS A on 24 processors: the share of time that goes into stealing, bottommost, fixed (20), dynamic",
        "28.7 %, 6.7 %, 6.3 %",
        [one, fixed, dynamic].map(percent).join(", "),
        fixed.value < one.value && dynamic.value < one.value,
        "Where few tasks wait a fixed length of 20 finds no victim, and half of them is one: thieves look on, and the looks count.",
    )
}

fn faster(name: &str, grid: &Grid, how: &str) -> Finding {
    let ratio = by_bottommost(grid, name, DYNAMIC);
    Finding::new(
        format!("{name} on 24 processors, {how}: the time of dynamic by that of bottommost"),
        format!("well below 1 (here: below {})", show_ratio(WELL_BELOW)),
        show_ratio(ratio),
        ratio < WELL_BELOW,
        if ratio > 1.0 {
            HALF_OF_FEW
        } else {
            "Where a steal is cheap beside the subtree that it brings there is nothing to save: both keep all processors busy."
        },
    )
}

fn fib_alike(grid: &Grid) -> Finding {
    let ratio = by_bottommost(grid, "fib", DYNAMIC);
    Finding::new(
        "fib on 24 processors: the time of dynamic by that of bottommost, alike within 10 %",
        format!("{} (speed-up 1.86 against 1.90)", show_ratio(1.90 / 1.86)),
        show_ratio(ratio),
        (0.9..=1.1).contains(&ratio),
        if ratio < 1.0 {
            "Tasks of fib are short beside a steal, of which half of what waits saves some: the source's time went elsewhere, as its speed-up tells."
        } else {
            HALF_OF_FEW
        },
    )
}

fn fib_loses(dear: &Grid) -> Finding {
    let [fixed, two] = [FIXED_16, FIXED_2].map(|rule| shares(dear, "fib", rule));
    let ratio = by_bottommost(dear, "fib", FIXED_16) / by_bottommost(dear, "fib", FIXED_2);
    let [busy, steal, idle] = [fixed.busy, fixed.steal, fixed.idle].map(|share| share.value);
    Finding::new(
        "fib on 24 processors, 16 tasks a steal: busy, stealing, idle; time by that with two tasks",
        "0.158, 0.43, 0.40; longer",
        format!("{busy:.3}, {steal:.2}, {idle:.2}; {}", show_ratio(ratio)),
        busy < two.busy.value && ratio > 1.0,
        "A victim with sixteen waiting tasks is hard to find in a tree as deep as fib's; once found it gives the oldest, which are most of the work.",
    )
}

fn as_good(name: &str, grid: &Grid) -> Finding {
    let ratio = by_bottommost(grid, name, DYNAMIC);
    Finding::new(
        format!("{name} on 24 processors: the time of dynamic by that of bottommost"),
        "as good (here: at most 10 % more)",
        show_ratio(ratio),
        ratio < 1.1,
        HALF_OF_FEW,
    )
}

fn worse(name: &str, grid: &Grid, published: &str) -> Finding {
    let ratio = by_bottommost(grid, name, FIXED_2);
    Finding::new(
        format!("{name} on 24 processors: the time of fixed (2) by that of bottommost"),
        published,
        show_ratio(ratio),
        ratio > 1.0,
        "Where a victim often has two tasks or more, two are found as soon as one, and the second saves a steal.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::grid::{Load, Plan};
    use crate::reproduce::observed::Observed;
    use tidegate_workloads::Size;

    /// Runs of which each takes so long, and spends such a part of that on stealing.
    fn grid(told: fn(&str, &str) -> (f64, f64)) -> Grid {
        let loads = (0..=FULL).map(|number| Load {
            processors: number + 1,
            instances: 1,
        });
        let plan = Plan {
            rules: super::super::rules(),
            works: super::super::works(Size::Tiny),
            loads: loads.collect(),
        };
        let observed = plan.cells().map(|(rule, work, _)| {
            let (seconds, stealing) = told(work.name, &rule.name);
            vec![Observed {
                seconds,
                stealing,
                busy: 1.0 - stealing,
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        Grid::new(plan, observed)
    }

    fn agreeing(told: fn(&str, &str) -> (f64, f64)) -> usize {
        let results = Results {
            ours: grid(told),
            dear: grid(told),
        };
        let found = findings(&results);
        found.iter().filter(|finding| finding.agrees).count()
    }

    #[test]
    fn each_finding_agrees_with_what_was_published_and_none_with_the_contrary() {
        let published = agreeing(|work, rule| match (work, rule) {
            ("Strassen" | "SparseLU" | "FFT", FIXED_2) => (1.5, 0.1),
            ("Strassen" | "SparseLU" | "FFT", _) => (1.0, 0.1),
            ("fib", FIXED_16) => (5.0, 0.8),
            ("fib", _) => (1.0, 0.1),
            (_, BOTTOMMOST) => (2.0, 0.3),
            _ => (1.0, 0.1),
        });
        assert_eq!(published, 12);
        let contrary = agreeing(|work, rule| match (work, rule) {
            ("fib", DYNAMIC) => (2.0, 0.1),
            ("fib", FIXED_16) => (0.5, 0.1),
            ("Strassen" | "SparseLU" | "FFT", FIXED_2) => (0.9, 0.1),
            (_, BOTTOMMOST) => (1.0, 0.1),
            _ => (1.2, 0.3),
        });
        assert_eq!(contrary, 0);
    }
}
