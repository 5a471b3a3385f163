//! Tests every claim on made-up runs that agree with the source, and on runs that contradict it.

use tidegate_workloads::Size;

use super::super::programs::{FIB, Figures, UTS_A, UTS_B, at_own_costs};
use super::super::results::Results;
use super::super::{BOTTOMMOST, DYNAMIC, FIXED_2, FIXED_4, FIXED_8, FIXED_16};
use super::findings;
use crate::engine::Verdict;
use crate::reproduce::grid::{Grid, Plan};
use crate::reproduce::observed::Observed;

/// Returns the seconds of a cell, the fraction of time spent stealing, and the number of steals.
type Made = fn(work: &str, strategy: &str, processors: usize) -> (f64, f64, f64);

fn grid(plan: Plan, made: Made) -> Grid {
    let observed = plan.cells().map(|(rule, work, load)| {
        let (seconds, stealing, steals) = made(work.name, &rule.name, load.processors);
        vec![Observed {
            seconds,
            stealing,
            busy: 1.0 - stealing,
            steals,
            ..Observed::default()
        }]
    });
    let observed = observed.collect();
    Grid::new(plan, observed)
}

fn verdicts(size: Size, made: Made) -> Vec<(String, Verdict)> {
    let figures = Figures::of(size).each().into_iter();
    let source = Results(figures.map(|(plan, _)| grid(plan, made)).collect());
    let own = at_own_costs(size).into_iter();
    let own = Results(own.map(|plan| grid(plan, made)).collect());
    let findings = findings(&source, &own, size);
    let verdicts = findings.into_iter().map(|one| (one.id, one.verdict));
    verdicts.collect()
}

/// Returns the size of a program, relative to the smallest program of the same kind.
fn size_of(work: &str) -> f64 {
    match work {
        "Strassen 2048" | "FFT 64 Mi" | UTS_B => 10.0,
        "Strassen 4096" => 100.0,
        _ => 1.0,
    }
}

fn published(work: &str, strategy: &str, processors: usize) -> (f64, f64, f64) {
    let size = size_of(work);
    if processors == 1 {
        return (20.0 * size, 0.0, 0.0);
    }
    let (seconds, stealing) = match (work, strategy) {
        (UTS_A | UTS_B, _) if processors == 2 => (10.0, 0.05),
        (UTS_A, BOTTOMMOST) => (2.0, 0.36),
        (UTS_B, BOTTOMMOST) => (2.2, 0.36),
        (UTS_B, _) => (0.9, 0.09),
        (UTS_A, _) => (1.0, 0.09),
        (FIB, FIXED_4) => (1.5, 0.3),
        (FIB, FIXED_8) => (2.0, 0.5),
        (FIB, FIXED_16) => (5.0, 0.83),
        ("SparseLU", FIXED_2) => (20.0, 0.9),
        (_, FIXED_2) => (1.5, 0.12),
        (_, _) => (1.0, 0.1),
    };
    // Larger programs scale better than smaller ones.
    let better = 1.0 - 0.02 * size.log10();
    let seconds = match (work, strategy) {
        (FIB, FIXED_2) => 1.0,
        (UTS_B, _) => seconds,
        _ => seconds * better,
    };
    let steals = if (work, strategy) == ("SparseLU", FIXED_2) {
        0.0
    } else {
        9.0
    };
    (seconds * size, stealing, steals)
}

fn contrary(work: &str, strategy: &str, processors: usize) -> (f64, f64, f64) {
    let size = size_of(work);
    if processors == 1 {
        return (20.0 * size, 0.0, 0.0);
    }
    let (seconds, stealing) = match (work, strategy) {
        (UTS_A, BOTTOMMOST) => (1.0, 0.1),
        (UTS_B, BOTTOMMOST) => (0.9, 0.1),
        (UTS_A, DYNAMIC) => (1.5, 0.2),
        (UTS_B, DYNAMIC) => (1.6, 0.2),
        (UTS_A | UTS_B, _) => (1.0, 0.2),
        (FIB, BOTTOMMOST) => (1.0, 0.1),
        (FIB, FIXED_16) => (1.5, 0.1),
        (FIB, _) => (1.5, 0.1),
        ("SparseLU", FIXED_2) => (1.0, 0.1),
        (_, DYNAMIC) => (1.5, 0.3),
        (_, FIXED_2) => (0.9, 0.1),
        (_, _) => (1.0, 0.1),
    };
    let worse = if work.starts_with("UTS") {
        1.0
    } else {
        1.0 + 0.02 * size.log10()
    };
    (seconds * worse * size, stealing, 9.0)
}

#[test]
fn published_runs_agree() {
    for (id, verdict) in verdicts(Size::Paper, published) {
        assert_eq!(verdict, Verdict::Agrees, "{id}");
    }
}

#[test]
fn contrary_runs_contradict() {
    for (id, verdict) in verdicts(Size::Paper, contrary) {
        assert_eq!(verdict, Verdict::Contradicts, "{id}");
    }
}

#[test]
fn small_programs_judge_nothing() {
    let verdict = |size, id: &str| {
        let all = verdicts(size, published);
        all.into_iter()
            .find(|(found, _)| found == id)
            .expect("a finding")
            .1
    };
    assert_eq!(verdict(Size::Tiny, "uts-a-half"), Verdict::TooSmall);
    assert_eq!(verdict(Size::Small, "uts-a-half"), Verdict::Agrees);
    assert_eq!(verdict(Size::Small, "fib-half"), Verdict::TooSmall);
}
