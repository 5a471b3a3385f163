//! Tests the findings on made-up runs.

use super::*;
use crate::reproduce::grid::Grid;
use crate::reproduce::memory::batch::Subject;
use crate::reproduce::memory::{sweep, works};
use tidegate_workloads::Size as Sizes;

/// Returns the verdicts on the sleep functions if `told` gives the peak and the time of each of two
/// programs under a rule.
fn verdicts(size: Size, told: impl Fn(&str, usize) -> (f64, f64)) -> Vec<Verdict> {
    let two = works(Sizes::Tiny).into_iter().take(2).enumerate();
    let swept = two.map(|(program, work)| {
        let subject = Subject::new(work).unwrap();
        let plan = sweep::plan(&subject);
        let observed = plan.cells().map(|(rule, _, _)| {
            let (peak, seconds) = told(&rule.name, program);
            vec![Observed {
                seconds,
                peak,
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        let grid = Grid::new(plan, observed);
        let extent = subject.extent;
        Results { grid, extent }
    });
    let swept: Vec<Results> = swept.collect();
    findings(&swept, size)
        .map(|finding| finding.verdict)
        .collect()
}

#[test]
fn function_must_win_every_program() {
    let found = verdicts(Size::Small, |rule, program| match rule {
        // This function is better on both programs.
        "hybrid, sqrt at 64" => (0.5, 1.9),
        // This function is better only on the first program.
        "hybrid, square at 64" => [(0.5, 1.0), (0.5, 2.4)][program],
        _ => (1.0, 1.0),
    });
    assert_eq!(found, [Verdict::Contradicts, Verdict::Agrees]);
}

#[test]
fn other_parameters_are_not_judged() {
    let found = verdicts(Size::Small, |rule, _| match rule {
        "hybrid, sqrt at 256" => (9.0, 9.0),
        _ => (1.0, 1.0),
    });
    assert_eq!(found, [Verdict::Contradicts; 2]);
}

#[test]
fn tiny_programs_are_too_small() {
    let found = verdicts(Size::Tiny, |_, _| (1.0, 1.0));
    assert_eq!(found, [Verdict::TooSmall; 2]);
}
