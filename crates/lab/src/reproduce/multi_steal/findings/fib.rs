//! Claims about fib.

use tidegate_workloads::Size;

use super::super::programs::{FIB, SWEEP};
use super::super::results::{Figure, Results, busy, not_busy, seconds};
use super::super::{BOTTOMMOST, DYNAMIC, FIXED_2, FIXED_16};
use super::{alike, up_to};
use crate::engine::{Claim, Interval, Refuted, Sample, Verdict};
use crate::reproduce::page::Finding;
use tidegate_command::output::show_ratio;

const PROCESSORS: usize = 24;

/// Runs with a small n cannot decide these claims. With this runtime's costs, stealing half took
/// longer than stealing the oldest task: 1.42 times as long for n = 27, 1.25 times for 33, 1.18
/// times for 36 and 1.10 times for 40.
pub fn findings(source: &Results, own: &Results, size: Size) -> Vec<Finding> {
    let sixteen = |figure: Figure| source.sample(FIB, FIXED_16, PROCESSORS, figure).interval();
    let shares = "Sixteen waiting tasks are rare in a stack as deep as fib's, so thieves find few \
                  victims. How the rest divides into stealing and idle depends on after how many \
                  failures a thief rests, which the source does not print.";
    let mut all = alike_times(source, own);
    all.extend([
        Claim::new(
            "fib-sixteen-busy",
            "At 16 tasks a steal on fib(40), workers are busy 16 % of the time.",
            "figure 15, section 4.3.2",
            0.08..=0.32,
            Refuted::AtLeast(0.5),
        )
        .published(0.158)
        .finding(sixteen(busy), percent)
        .because(shares),
        Claim::new(
            "fib-sixteen-not-busy",
            "At 16 tasks a steal on fib(40), workers steal or are idle 83 % of the time.",
            "figure 15, section 4.3.2",
            0.68..=0.92,
            Refuted::AtMost(0.5),
        )
        .published(0.83)
        .finding(sixteen(not_busy), percent)
        .because(shares),
        falling(source),
        longer(source),
    ]);
    let too_small = |finding: Finding| finding.unless(size != Size::Paper, Verdict::TooSmall);
    all.into_iter().map(too_small).collect()
}

fn alike_times(source: &Results, own: &Results) -> Vec<Finding> {
    let by_oldest = |results: &Results, strategy| {
        results.ratio(FIB, [strategy, BOTTOMMOST], PROCESSORS, seconds)
    };
    let half = "On fib(40) with 24 workers, stealing half takes 1.02 of the time of stealing the \
                oldest task";
    let section = "figure 16, section 4.3.2";
    let why = "The oldest task of fib is worth more than all others of a stack together. A thief \
               that takes half leaves its victim little, and either one soon steals again; the \
               larger n, the less that counts.";
    vec![
        alike("fib-half", &format!("{half}."), section)
            .published(1.90 / 1.86)
            .finding(by_oldest(source, DYNAMIC), show_ratio)
            .because(why),
        alike(
            "fib-half-own-costs",
            &format!("{half}; here with the costs of this runtime's steals."),
            section,
        )
        .published(1.90 / 1.86)
        .finding(by_oldest(own, DYNAMIC), show_ratio)
        .because(why),
        alike(
            "fib-two",
            "On fib(40), stealing two tasks at a time takes as long as stealing one.",
            section,
        )
        .finding(by_oldest(source, FIXED_2), show_ratio)
        .because("Two tasks wait about as often as one."),
    ]
}

/// Checks that the fraction of busy time falls at every step of the sweep. The figure is the
/// largest ratio of a fraction to the previous fraction.
fn falling(source: &Results) -> Finding {
    let shares = SWEEP.map(|(_, strategy)| source.sample(FIB, strategy, PROCESSORS, busy));
    let samples: Vec<&Sample> = shares.iter().collect();
    let least = Interval::of(&samples, |medians| {
        let steps = medians.windows(2).map(|pair| pair[1] / pair[0]);
        steps.fold(f64::NAN, f64::max)
    });
    Claim::new(
        "fib-sweep-busy",
        "On fib(40) the share of busy time falls with every doubling of the number of tasks a \
         steal takes, from 2 to 16; the figure is the ratio of the smallest fall.",
        "figure 15",
        up_to(1.0),
        Refuted::AtLeast(1.0),
    )
    .finding(least, show_ratio)
    .because("The more tasks a thief wants, the fewer victims have them.")
}

/// Checks that the program takes longer if thieves take 16 tasks at a time instead of two. For
/// equal work, the ratio of the times is the inverse ratio of the busy fractions, so it is at most
/// 1 / 0.158.
fn longer(source: &Results) -> Finding {
    Claim::new(
        "fib-sweep-time",
        "On fib(40), 16 tasks a steal take several times as long as two.",
        "figure 15",
        1.5..=6.5,
        Refuted::AtMost(1.05),
    )
    .finding(
        source.ratio(FIB, [FIXED_16, FIXED_2], PROCESSORS, seconds),
        show_ratio,
    )
    .because(
        "No time is published; a busy share of 16 % bounds it by 6.3x. In the source, workers are \
         slow with two tasks as well: its speed-up is 1.9 on 24 processors.",
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
