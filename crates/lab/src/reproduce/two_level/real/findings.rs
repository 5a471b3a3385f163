//! Judges the claims of the thesis on the basis of runs on this machine.

use std::ops::RangeInclusive;

use super::Observed;
use super::jobs::Ran;
use crate::engine::ratios::{farthest, greatest, of_ratios};
use crate::engine::{Claim, Interval, Refuted, Sample, Verdict};
use crate::reproduce::page::Finding;
use crate::reproduce::two_level::show;

/// With fewer processors, the jobs' allotments can hardly differ, so some claims cannot be judged.
const SEVERAL: usize = 4;

const WORKS: [&str; 2] = ["fib", "loopy(4 P)"];

pub fn all(observed: &Observed) -> Vec<Finding> {
    let few = observed.processors < SEVERAL;
    let mut findings = vec![];
    if !observed.response("O2/P3/fib/fixed").is_empty() {
        findings.push(startup());
    }
    findings.extend(cycle(observed).map(|finding| finding.unless(few, Verdict::CannotTell)));
    findings.extend(late(observed));
    let several = [new_job(observed).into(), vec![complementary(observed)]].concat();
    findings.extend(
        several
            .into_iter()
            .map(|finding: Finding| finding.unless(few, Verdict::CannotTell)),
    );
    findings.push(fixed(observed));
    findings.push(bound(observed).unless(few, Verdict::CannotTell));
    findings
}

/// Returns an explanation of what a machine with only 2 or 3 processors cannot show; empty on
/// larger machines.
fn on_few(observed: &Observed, why: &str) -> String {
    match observed.processors {
        processors if processors < SEVERAL => format!("On {processors} processors: {why}"),
        _ => String::new(),
    }
}

fn startup() -> Finding {
    let claim = Claim::new(
        "real-O1",
        "Until all processors have work a job that begins with one takes much longer than its \
         doubling needs",
        "7.1.1, figure 7-2b",
        2.0..=8.0,
        Refuted::AtMost(1.1),
    );
    Finding {
        verdict: Verdict::CannotTell,
        ..claim.finding(Interval::exact(f64::NAN), show).because(
            "A pool of the runtime that is alone begins with all processors, not with one.",
        )
    }
}

fn cycle(observed: &Observed) -> [Finding; 2] {
    let pairs = |ways: [&str; 2]| {
        WORKS.map(|work| {
            ways.map(|way| {
                observed.response(&match way {
                    "fixed" => format!("O2/P3/{work}/{way}"),
                    _ => format!("O2/{work}/{way}"),
                })
            })
        })
    };
    let why = on_few(
        observed,
        "an estimate takes 20 us of one of them, 2 % of a cycle of 1 ms, and less than the system's \
         other programs.",
    );
    [
        Claim::new(
            "real-O2-slope",
            "Here a cycle of 1 ms costs at least 3 % more running time than one of 5 ms (the \
             larger of two programs)",
            "7.1.2, figure 7-5",
            1.03..=2.0,
            Refuted::AtMost(1.0),
        )
        .finding(of_ratios(&pairs(["1 ms", "5 ms"]), greatest), show)
        .because(why.clone()),
        Claim::new(
            "real-O2-none-at-5",
            "Here a job with a cycle of 5 ms takes no longer than with a fixed number of \
             processors (the larger ratio of two programs)",
            "7.1.2, figure 7-5",
            0.96..=1.04,
            Refuted::AtLeast(1.1),
        )
        .published(1.0)
        .finding(of_ratios(&pairs(["5 ms", "fixed"]), greatest), show)
        .because(why),
    ]
}

fn late(observed: &Observed) -> [Finding; 3] {
    let finding = |(rounds, published, agrees): (u32, f64, RangeInclusive<f64>)| {
        let work = format!("loopy({rounds} P)");
        let [ours, halves] =
            ["sharing", "halves"].map(|way| observed.response(&format!("O3/{work}/{way}")));
        Claim::new(
            format!("real-O3-{rounds}P"),
            format!(
                "Here two {work} on P processors, the second of which comes when the first has all, \
                 respond {:.0} % later than with half of the machine each",
                (published - 1.0) * 100.0
            ),
            "7.1.3, figure 7-6",
            agrees,
            Refuted::AtMost(1.0),
        )
        .published(published)
        .finding(ours.over(&halves), show)
        .because(
            "The published figures are those of 16 processors. The first job's workers leave at \
             the ends of their subtasks, and until then the system divides the processors' time \
             evenly among all workers: what the second job loses the first may gain.",
        )
    };
    [
        (1, 1.363, 1.195..=1.68),
        (2, 1.105, 1.065..=1.195),
        (4, 1.041, 1.025..=1.065),
    ]
    .map(finding)
}

/// Compares the power of three jobs that share the machine with their power on static halves and on
/// static thirds. With halves, the third job waits for another job, as in the thesis.
fn new_job(observed: &Observed) -> [Finding; 3] {
    let power = |way: &str| observed.sample(&format!("P1/fib/{way}"), Ran::power);
    let why = on_few(
        observed,
        "a static part is one processor, and three processes at once share two whatever they ask \
         for.",
    );
    let thirds = |way: &str| power(&format!("sharing{way}")).over(&power(&format!("thirds{way}")));
    let claim = |id: &str, what: &str, agrees, published: Option<f64>, ours| {
        let claim = Claim::new(
            id,
            what,
            "7.2.1, figures 7-7 and 7-8",
            agrees,
            Refuted::AtMost(0.95),
        );
        let claim = match published {
            Some(published) => claim.published(published),
            None => claim,
        };
        claim.finding(ours, show).because(why.clone())
    };
    [
        claim(
            "real-P1-halves",
            "Here three equal jobs at once have 1.239 times the power that they have on static \
             halves, where the third waits",
            1.12..=1.31,
            Some(1.239),
            by_queue(observed),
        ),
        claim(
            "real-P1-thirds",
            "Here three equal jobs at once have no less power than on static thirds",
            0.95..=1.31,
            None,
            thirds(""),
        ),
        claim(
            "real-P1-thirds-late",
            "Here three equal jobs, the third of which comes half-way, have more power than on \
             static thirds",
            1.0..=1.13,
            None,
            thirds(", third late"),
        ),
    ]
}

/// Returns the power of sharing, relative to static halves with a queue. If a job takes time T on
/// one half, the response with halves is 4T/3 and the throughput 3/(2T).
fn by_queue(observed: &Observed) -> Interval {
    let samples = [
        observed.sample("P1/fib/sharing", Ran::power),
        observed.response("P1/fib/halves"),
    ];
    Interval::of(&samples.each_ref(), |medians| {
        let alone = medians[1];
        medians[0] / (3.0 / (2.0 * alone) / (4.0 * alone / 3.0))
    })
}

fn complementary(observed: &Observed) -> Finding {
    let [ours, halves] =
        ["sharing", "halves"].map(|way| observed.response(&format!("P2/phases/{way}")));
    Claim::new(
        "real-P2",
        "Here two jobs with complementary phases respond in 0.71 of the time of static halves",
        "7.2.2, figure 7-9",
        0.6..=0.84,
        Refuted::AtLeast(1.0),
    )
    .published(0.706)
    .finding(ours.over(&halves), show)
    .because(on_few(
        observed,
        "a serial phase leaves one of them, which the other job has already.",
    ))
}

fn fixed(observed: &Observed) -> Finding {
    let pairs = WORKS.map(|work| {
        [format!("P3/{work}/sharing"), format!("O2/P3/{work}/fixed")]
            .map(|name| observed.response(&name))
    });
    Claim::new(
        "real-P3-fixed",
        "Here a job alone takes as long under WSAP as on a fixed number of processors, all of them \
         (the ratio of two that is farthest from 1)",
        "7.2.3, figure 7-10, last column",
        0.88..=1.07,
        Refuted::Outside(0.8, 1.25),
    )
    .published(0.883)
    .finding(of_ratios(&pairs, farthest), show)
    .because("fib and loopy can use all processors here, so ceil(Pbar) is their number.")
}

fn bound(observed: &Observed) -> Finding {
    let samples: Vec<Sample> = WORKS
        .into_iter()
        .flat_map(|work| {
            let sharing = format!("P3/{work}/sharing");
            [
                observed.response(&sharing),
                observed.sample(&sharing, Ran::usage),
                observed.response(&format!("P3/{work}/serial")),
            ]
        })
        .collect();
    let subtasks = 4 * observed.processors;
    let samples: Vec<&Sample> = samples.iter().collect();
    let ratio = Interval::of(&samples, |medians| {
        // The span of fib is a few calls, and the span of loopy is one subtask.
        let span = [0.0, medians[5] / subtasks as f64];
        let ratios = medians.chunks(3).zip(span).map(|(job, span)| {
            let bound = job[2] / job[1].max(1.0) + span;
            job[0] / bound
        });
        greatest(&ratios.collect::<Vec<f64>>())
    });
    Claim::new(
        "real-P3-bound",
        "Here the job that is farthest above the greedy bound T1/Pbar + Tinf takes up to 1.9 times \
         as long (the larger of two programs)",
        "7.2.3, figure 7-10",
        1.38..=2.0,
        Refuted::AtLeast(2.0),
    )
    .published(1.898)
    .finding(ratio, show)
    .because(
        "T1 is the time of the serial program, Pbar the processor time by the running time. fib is \
         farther from the bound than loopy, since its tasks are as short as a fork.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Returns the verdicts on this number of processors. Jobs take one second if they share
    /// processors or have a cycle of 5 ms, and `other` seconds otherwise.
    fn verdicts(processors: usize, other: f64) -> BTreeMap<String, Verdict> {
        let names = super::super::jobs::all(tidegate_workloads::Size::Tiny, processors);
        let ran = |name: &str| {
            let takes = if name.contains("sharing") || name.contains("5 ms") {
                1.0
            } else {
                other
            };
            Ran {
                seconds: vec![takes; 3],
                later: 0.0,
                cpu: takes,
            }
        };
        let runs = names
            .into_iter()
            .map(|jobs| (jobs.name.clone(), vec![ran(&jobs.name)]));
        let observed = Observed {
            processors,
            runs: runs.collect(),
        };
        let findings = all(&observed).into_iter();
        findings
            .map(|finding| (finding.id, finding.verdict))
            .collect()
    }

    #[test]
    fn findings_agree_and_contradict() {
        let slow_others = verdicts(16, 1.36);
        assert_eq!(slow_others["real-P2"], Verdict::Agrees);
        assert_eq!(slow_others["real-O2-slope"], Verdict::Agrees);
        assert_eq!(slow_others["real-O3-1P"], Verdict::Contradicts);
        assert_eq!(slow_others["real-P3-fixed"], Verdict::Contradicts);
        let quick_others = verdicts(16, 0.7);
        assert_eq!(quick_others["real-O3-1P"], Verdict::Agrees);
        for id in [
            "real-O2-slope",
            "real-O2-none-at-5",
            "real-P1-thirds",
            "real-P1-thirds-late",
            "real-P2",
        ] {
            assert_eq!(quick_others[id], Verdict::Contradicts, "{id}");
        }
        let quicker = verdicts(16, 0.4);
        assert_eq!(quicker["real-P3-bound"], Verdict::Contradicts);
        assert_eq!(quicker["real-P1-halves"], Verdict::Contradicts);
        assert!(
            quick_others
                .values()
                .all(|verdict| *verdict != Verdict::NotMeasured)
        );
    }

    #[test]
    fn two_processors_cannot_judge_sharing() {
        let few = verdicts(2, 1.0);
        for id in [
            "real-O1",
            "real-O2-slope",
            "real-P1-halves",
            "real-P2",
            "real-P3-bound",
        ] {
            assert_eq!(few[id], Verdict::CannotTell, "{id}");
        }
        assert_eq!(few["real-O3-1P"], Verdict::Contradicts);
        assert_eq!(few["real-P3-fixed"], Verdict::Agrees);
    }
}
