//! Tests the findings on made-up runs.

use super::*;
use crate::reproduce::grid::Grid;
use crate::reproduce::memory::batch::Subject;
use crate::reproduce::memory::published::PROCESSORS;
use crate::reproduce::memory::{plan, works};
use crate::reproduce::observed::Observed;
use tidegate_workloads::Size as Sizes;

/// Returns all findings except those on modified fib. For a scheduler and a number of processors,
/// `told` returns the peak of every program in units of S1.
fn found(size: Size, told: impl Fn(&str, f64) -> f64) -> Vec<Finding> {
    let results = works(Sizes::Tiny).into_iter().map(|work| {
        let subject = Subject::new(work).unwrap();
        let plan = plan(&subject, &PROCESSORS);
        let observed = plan.cells().map(|(rule, _, load)| {
            let by_s1 = told(&rule.name, load.processors as f64);
            vec![Observed {
                seconds: 1.0,
                peak: by_s1 * subject.extent.peak_bytes as f64,
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        let grid = Grid::new(plan, observed);
        let extent = subject.extent;
        Results { grid, extent }
    });
    let results: Vec<Results> = results.collect();
    let fib = modified_fib::findings(&results[0], size).len();
    findings(&results, size).split_off(fib)
}

#[test]
fn what_theory_promises_agrees() {
    let findings = found(Size::Small, |scheduler, processors| match scheduler {
        STEALING => processors,
        HYBRID => 1.2 * processors,
        _ => 1.0,
    });
    assert_eq!(findings.len(), 7);
    for finding in findings {
        assert_eq!(finding.verdict, Verdict::Agrees, "{finding:?}");
    }
}

#[test]
fn the_contrary_contradicts() {
    let findings = found(Size::Small, |scheduler, processors| match scheduler {
        STEALING => 40.0 + processors / 100.0,
        HYBRID => 1.0,
        NARLIKAR => 1e9 * processors,
        _ => 2.0,
    });
    for finding in findings {
        assert_eq!(finding.verdict, Verdict::Contradicts, "{finding:?}");
    }
}

#[test]
fn tiny_programs_judge_only_bounds() {
    let findings = found(Size::Tiny, |_, _| 1.0);
    for finding in findings {
        let expected = if finding.id.starts_with("bound") {
            Verdict::Agrees
        } else {
            Verdict::TooSmall
        };
        assert_eq!(finding.verdict, expected, "{finding:?}");
    }
}
