//! Tests the findings on made-up runs.

use super::*;
use crate::reproduce::grid::Grid;
use crate::reproduce::memory::batch::Subject;
use crate::reproduce::memory::{plan, works};
use crate::reproduce::observed::Observed;
use tidegate_workloads::Size as Sizes;

/// Returns the findings on made-up runs. `told` returns how many blocks a scheduler holds and how
/// many seconds it takes.
fn found(size: Size, told: impl Fn(&str, usize) -> (f64, f64)) -> Vec<Finding> {
    let subject = Subject::new(works(Sizes::Tiny).remove(0)).unwrap();
    let plan = plan(&subject, &PROCESSORS);
    let observed = plan.cells().map(|(rule, _, load)| {
        let (blocks, seconds) = told(&rule.name, load.processors);
        let peak = blocks * subject.extent.peak_bytes as f64;
        vec![Observed {
            seconds,
            peak,
            ..Observed::default()
        }]
    });
    let observed = observed.collect();
    let grid = Grid::new(plan, observed);
    let extent = subject.extent;
    findings(&Results { grid, extent }, size)
}

/// Returns the source's figures, which omit Narlikar's scheduler on 32 processors.
fn published(scheduler: &str, processors: usize) -> (f64, f64) {
    let seconds = match scheduler {
        HYBRID => 2.3,
        NARLIKAR => 837.0,
        _ => 1.8,
    };
    (blocks(scheduler, processors).unwrap_or(5.0), seconds)
}

fn verdict(findings: &[Finding], id: &str) -> Verdict {
    let found = findings.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no finding {id}")).verdict
}

#[test]
fn published_figures_agree() {
    for finding in found(Size::Small, published) {
        let expected = match finding.id.as_str() {
            "time of Narlikar on 16" => Verdict::CannotTell,
            _ => Verdict::Agrees,
        };
        assert_eq!(finding.verdict, expected, "{finding:?}");
    }
}

/// In the made-up runs, the hybrid holds more memory than work stealing and takes no longer, and
/// Narlikar's scheduler holds at least as much as the hybrid.
#[test]
fn contrary_figures_contradict() {
    let findings = found(Size::Small, |scheduler, processors| {
        let (held, _) = published(STEALING, processors);
        match scheduler {
            HYBRID => (held * 1.5, 1.0),
            NARLIKAR if processors == 4 => (1.5 * held, 1.0),
            NARLIKAR => (2.0 * held, 1.0),
            _ => (held, 1.0),
        }
    });
    for finding in findings {
        let id = finding.id.as_str();
        let expected = match id {
            "time of Narlikar on 16" => Verdict::CannotTell,
            // These claims are about our program and work stealing, whose figures here are as
            // published.
            _ if id.contains("work stealing") => Verdict::Agrees,
            // Both schedulers need more memory than work stealing, so neither of them saves any;
            // see the next test.
            "saved share" => continue,
            _ => Verdict::Contradicts,
        };
        assert_eq!(finding.verdict, expected, "{finding:?}");
    }
}

#[test]
fn flat_work_stealing_contradicts_its_growth() {
    let findings = found(Size::Small, |_, _| (4.0, 1.0));
    let id = "growth of work stealing, 16 to 32";
    // Our program does not resemble the source's in this case, so nothing is judged.
    assert_eq!(verdict(&findings, id), Verdict::CannotTell);
    assert_eq!(
        verdict(&findings, "work stealing on 16"),
        Verdict::CannotTell
    );
    let findings = found(Size::Small, |_, processors| match processors {
        4 | 8 => (10.0, 1.0),
        _ => (11.5, 1.0),
    });
    for id in [
        "growth of work stealing, 4 to 16",
        "growth of work stealing, 16 to 32",
    ] {
        assert_eq!(verdict(&findings, id), Verdict::Contradicts);
    }
}

#[test]
fn smaller_savings_are_weaker() {
    let findings = found(Size::Small, |scheduler, processors| {
        let (held, seconds) = published(scheduler, processors);
        match (scheduler, processors) {
            (HYBRID | NARLIKAR, 16) => (11.0, 1.9),
            _ => (held, seconds),
        }
    });
    for id in ["hybrid on 16", "Narlikar on 16", "time of hybrid on 16"] {
        assert_eq!(verdict(&findings, id), Verdict::Weaker, "{id}");
    }
}

#[test]
fn hybrid_must_not_beat_narlikar() {
    for (hybrid, expected) in [
        (12.0, Verdict::Contradicts),
        (9.0, Verdict::Agrees),
        (4.0, Verdict::Contradicts),
    ] {
        let findings = found(Size::Small, |scheduler, processors| {
            let (held, seconds) = published(scheduler, processors);
            match (scheduler, processors) {
                (HYBRID, 16) => (hybrid, seconds),
                _ => (held, seconds),
            }
        });
        assert_eq!(verdict(&findings, "saved share"), expected, "{hybrid}");
    }
}

#[test]
fn tiny_programs_are_too_small() {
    let findings = found(Size::Tiny, published);
    assert!(
        findings
            .iter()
            .all(|finding| finding.verdict == Verdict::TooSmall)
    );
}
