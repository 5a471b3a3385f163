//! Claims about the trees of UTS.

use super::super::programs::{UTS_A, UTS_B, UTS_PROCESSORS};
use super::super::results::{Figure, Results, not_busy, seconds, steal};
use super::super::{BOTTOMMOST, DYNAMIC, FIXED_20};
use super::{alike, from, up_to};
use crate::engine::{Claim, Interval, Refuted, Sample};
use crate::reproduce::observed::Observed;
use crate::reproduce::page::Finding;
use tidegate_command::output::{show_ratio, show_seconds};

const TIMES: &str = "table 2";

pub fn findings(source: &Results, own: &Results) -> Vec<Finding> {
    let mut all = times(source);
    all.extend(shares(source));
    all.extend(larger_tree(source));
    all.push(growth(source));
    all.push(two_workers("uts-a-two-workers", source));
    all.push(own_costs(own));
    all
}

fn by_bottommost(results: &Results, work: &str, strategy: &str, figure: Figure) -> Interval {
    results.ratio(work, [strategy, BOTTOMMOST], UTS_PROCESSORS, figure)
}

/// Creates a claim that a strategy saves time. The lower end of the range is 10 % below the
/// published ratio. The upper end is 15 % above 0.61, the ratio that follows from table 2 if
/// workers are busy equally long under both strategies and spend no time on managing frames.
fn saves(id: &str, what: &str, source: &str) -> Claim {
    Claim::new(id, what, source, 0.42..=0.70, Refuted::AtLeast(0.95))
}

fn times(results: &Results) -> Vec<Finding> {
    let why = "The source's workers are also busy for 30 % less time when they steal several tasks, \
               and spend 84 % less on stack frames. A simulated task always takes the same time, so \
               only stealing and resting can become shorter here. With equal busy times the \
               published shares of busy time, 63.5 % and 89 %, give 0.71x.";
    vec![
        saves(
            "uts-a-half",
            "On UTS A with 24 workers, stealing half takes 0.47 of the time of stealing the oldest \
             task.",
            TIMES,
        )
        .published(5_928_702.0 / 12_590_473.0)
        .finding(by_bottommost(results, UTS_A, DYNAMIC, seconds), show_ratio)
        .because(why),
        saves(
            "uts-a-twenty",
            "On UTS A with 24 workers, stealing 20 tasks takes 0.47 of the time of stealing the \
             oldest task.",
            TIMES,
        )
        .published(5_961_476.0 / 12_590_473.0)
        .finding(by_bottommost(results, UTS_A, FIXED_20, seconds), show_ratio)
        .because(why),
        alike(
            "uts-a-half-by-twenty",
            "On UTS A, stealing half is as fast as the hand-tuned 20 tasks a steal.",
            TIMES,
        )
        .published(5_928_702.0 / 5_961_476.0)
        .finding(
            results.ratio(UTS_A, [DYNAMIC, FIXED_20], UTS_PROCESSORS, seconds),
            show_ratio,
        )
        .because(
            "A victim has 20 tasks to spare often enough in this tree, and half of its tasks are \
             often about as many.",
        ),
    ]
}

/// Claims about how workers divide their time. The ranges allow a factor of two, because the source
/// does not state how many failures make a thief rest, or how long a failure takes.
fn shares(results: &Results) -> Vec<Finding> {
    let claim = |id: &str, what: &str, source: &str, published: f64| {
        let agrees = published / 2.0..=published * 2.0;
        Claim::new(id, what, source, agrees, Refuted::AtLeast(0.9)).published(published)
    };
    let busy = "The cost of a steal was chosen so that the bottommost first spends the published \
                share on stealing; what the other strategies spend then is measured.";
    let each: [(&str, &str, &str, f64, &str, Figure); 4] = [
        (
            "uts-a-half-not-busy",
            "Stealing half cuts the time that workers spend stealing or idle from 37 % to 10 % on \
             UTS A.",
            TIMES,
            0.1046 / 0.3652,
            DYNAMIC,
            not_busy,
        ),
        (
            "uts-a-twenty-not-busy",
            "Stealing 20 tasks cuts the time that workers spend stealing or idle from 37 % to 11 % \
             on UTS A.",
            TIMES,
            0.1125 / 0.3652,
            FIXED_20,
            not_busy,
        ),
        (
            "uts-a-half-steal-share",
            "Stealing half cuts the share of time spent stealing from 34 % to 7 % on UTS A.",
            "table 2, figure 10, section 5",
            0.212,
            DYNAMIC,
            steal,
        ),
        (
            "uts-a-twenty-steal-share",
            "Stealing 20 tasks cuts the share of time spent stealing from 34 % to 8 % on UTS A.",
            "table 2, figure 10, section 5",
            0.228,
            FIXED_20,
            steal,
        ),
    ];
    let finding = |(id, what, source, published, strategy, figure)| {
        let ours = by_bottommost(results, UTS_A, strategy, figure);
        let claim = claim(id, what, source, published);
        claim.finding(ours, show_ratio).because(busy)
    };
    each.map(finding).into()
}

fn larger_tree(results: &Results) -> Vec<Finding> {
    let saved = |id: &str, name: &str, strategy: &str| {
        Claim::new(
            id,
            format!(
                "On UTS B with 24 workers, {name} saves at least as much time, compared with the \
                 oldest task, as on UTS A."
            ),
            "figures 12 and 14, section 4.3.2",
            up_to(0.70),
            Refuted::AtLeast(0.95),
        )
        .finding(by_bottommost(results, UTS_B, strategy, seconds), show_ratio)
        .because("No number is published; 0.70x is where the range for UTS A ends.")
    };
    let why =
        "A deeper tree leaves more tasks waiting in each stack, so half of them is more work.";
    let cause = no_degradation(results);
    let section = "figures 9 and 12, section 4.3.2";
    let by_tree = |strategy| results.speedup_ratio([UTS_B, UTS_A], strategy, UTS_PROCESSORS);
    let times = [UTS_B, UTS_A].map(|work| {
        [DYNAMIC, BOTTOMMOST].map(|rule| results.sample(work, rule, UTS_PROCESSORS, seconds))
    });
    let times: Vec<&Sample> = times.iter().flatten().collect();
    let gap = Interval::of(&times, |medians| {
        (medians[0] / medians[1]) / (medians[2] / medians[3])
    });
    vec![
        saved("uts-b-half", "stealing half", DYNAMIC),
        saved("uts-b-twenty", "stealing 20 tasks", FIXED_20),
        Claim::new(
            "uts-b-gap",
            "Stealing half saves more time, compared with the oldest task, on tree B than on the \
             smaller tree A.",
            section,
            up_to(0.95),
            Refuted::AtLeast(1.0),
        )
        .finding(gap, show_ratio)
        .because(cause.clone()),
        Claim::new(
            "uts-b-half-speed-up",
            "From tree A to the larger tree B, the speed-up of stealing half rises.",
            section,
            from(1.02),
            Refuted::AtMost(0.98),
        )
        .finding(by_tree(DYNAMIC), show_ratio)
        .because(why),
        Claim::new(
            "uts-b-oldest-speed-up",
            "From tree A to the larger tree B, the speed-up of stealing the oldest task falls.",
            section,
            up_to(0.98),
            Refuted::AtLeast(1.02),
        )
        .finding(by_tree(BOTTOMMOST), show_ratio)
        .because(cause),
    ]
}

/// Explains why stealing the oldest task is no slower on the larger tree.
fn no_degradation(results: &Results) -> String {
    let work_of_a_steal = |work| {
        let sample = results.sample(work, BOTTOMMOST, UTS_PROCESSORS, busy_by_steal);
        show_seconds(sample.median())
    };
    format!(
        "A stolen oldest task keeps its thief busy for {} on A and for {} on B, at the same cost of \
         a steal. What became dearer in the source is that a victim unwinds its stack, which is \
         four times as deep on B; the simulated cost of a steal does not depend on the depth.",
        work_of_a_steal(UTS_A),
        work_of_a_steal(UTS_B)
    )
}

fn busy_by_steal(run: &Observed) -> f64 {
    run.busy / run.steals
}

/// We interpret "increased markedly" as at least doubled.
fn growth(results: &Results) -> Finding {
    let share = |processors| results.sample(UTS_A, BOTTOMMOST, processors, steal);
    Claim::new(
        "uts-a-steal-growth",
        "With stealing the oldest task on UTS A, the share of time spent stealing at least doubles \
         from 2 to 24 workers.",
        "figure 11, section 4.3.2",
        from(2.0),
        Refuted::AtMost(1.1),
    )
    .finding(share(UTS_PROCESSORS).over(&share(2)), show_ratio)
    .because("More thieves find fewer large subtrees, and each small one is soon done.")
}

/// Judges the claim about two workers, on simulated or on real runs.
pub fn two_workers(id: &str, results: &Results) -> Finding {
    Claim::new(
        id,
        "On two workers, stealing half and stealing the oldest task take the same time on UTS A.",
        "section 1, figure 11: the cost of steals grows with more than two processors",
        0.9..=1.1,
        Refuted::Outside(0.8, 1.25),
    )
    .finding(
        results.ratio(UTS_A, [DYNAMIC, BOTTOMMOST], 2, seconds),
        show_ratio,
    )
    .because(
        "A single thief has a victim that is almost always busy, so it seldom has to steal. The \
         source claims no gain for two.",
    )
}

fn own_costs(own: &Results) -> Finding {
    Claim::new(
        "uts-a-half-own-costs",
        "Also with the costs of this runtime's steals, stealing half is faster on UTS A with 24 \
         workers.",
        "expected, not published",
        up_to(0.95),
        Refuted::AtLeast(1.0),
    )
    .finding(by_bottommost(own, UTS_A, DYNAMIC, seconds), show_ratio)
    .because("A cheap steal leaves less to save.")
}
