//! Tests each claim on made-up times that agree with the publication, and on times that contradict
//! it.

use super::*;
use crate::engine::Verdict;
use crate::reproduce::adaptive::simulated::plans;
use crate::reproduce::grid::{Grid, Load, Plan, Rule};
use crate::reproduce::observed::Observed;
use crate::reproduce::simulated::Work;
use tidegate_workloads::Size;

/// Describes the times of cells. A cell takes 1 s, unless a part sets another time. A part is
/// `RULE@WHERE=TIME`, where WHERE is a load or a program and may be omitted, and RULE may be `*`.
/// Parts are separated by `;`. If several parts match, the last one applies.
struct World<'a>(&'a str);

impl World<'_> {
    fn seconds(&self, rule: &Rule, work: &Work, load: Load) -> f64 {
        let mut seconds = 1.0;
        for part in self
            .0
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (name, time) = part.split_once('=').expect("a part with a time");
            let (name, place) = name.split_once('@').unwrap_or((name, "*"));
            let fits = [rule.name.as_str(), "*"].contains(&name)
                && [work.name, &load.name(), "*"].contains(&place);
            if fits {
                seconds = time.parse().expect("a time");
            }
        }
        seconds
    }

    /// Makes up results of a plan: a cell that takes s seconds has s sleeps of s seconds each, and
    /// s steals.
    fn grid(&self, plan: Plan) -> Grid {
        let observed = plan.cells().map(|(rule, work, load)| {
            let seconds = self.seconds(rule, work, load);
            vec![Observed {
                seconds,
                naps: seconds,
                asleep: seconds * seconds,
                steals: seconds,
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        Grid::new(plan, observed)
    }

    fn results(&self) -> Results {
        let (whole, sweeps) = plans(Size::Tiny);
        let mut whole = whole.into_iter().map(|plan| self.grid(plan));
        let mut next = || whole.next().expect("four plans");
        Results {
            mars: next(),
            saturn: next(),
            mars_binomial: next(),
            saturn_binomial: next(),
            sweeps: sweeps.into_iter().map(|plan| self.grid(plan)).collect(),
        }
    }
}

/// The name of each claim, with times that agree and times that contradict.
const WORLDS: &[(&str, &str, &str)] = &[
    ("lu-80-original", "pheet-original=3", "pheet-original=0.9"),
    ("lu-80-linear", "", "linear=1.4"),
    (
        "lu-80-yield",
        "yield=3;abp-yield=2",
        "yield=3;abp-yield=0.9",
    ),
    ("lu-steals", "none@40=1;none@80=1", "none@80=1.5"),
    (
        "lu-slowdown",
        "pheet-original@80=2",
        "pheet-original@80=0.7",
    ),
    (
        "lu-80-4-original",
        "pheet-original@80-4=18",
        "pheet-original@80-4=0.9",
    ),
    (
        "lu-80-none",
        "none@80-2=1.5;none@80-4=2",
        "none@80-2=1.5;none@80-4=0.9",
    ),
    ("lu-80-quanta", "quanta=1.05", "long-quanta@80-2=1.5"),
    (
        "lu-load-original",
        "*@80-4=2;pheet-original@80-4=12",
        "*@80-4=2",
    ),
    (
        "lu-48-original",
        "pheet-original@48-2=1.5;pheet-original@48-4=1.5",
        "pheet-original=0.9",
    ),
    ("lu-48-yield", "", "yield=1.5"),
    ("lu-48-none", "none@48-4=1.5", "none@48=1.5"),
    (
        "lu-48-4-quanta",
        "quanta=1.1;long-quanta=1.2",
        "quanta=1.1;long-quanta=0.9",
    ),
    ("lu-48-quanta", "quanta@48-4=9", "quanta@48=1.5"),
    (
        "untuned-mars",
        "none=2;pheet-original=2",
        "none=2;pheet-original=0.9",
    ),
    (
        "untuned-saturn",
        "none=2;pheet-original=2",
        "none=0.9;pheet-original=2",
    ),
    ("tuned-mars", "none=5", "exponential=1.5"),
    ("tuned-saturn", "none=5", "combination=1.5"),
    ("mars-linear", "linear=0.9", "linear=1.1"),
    ("mars-original", "pheet-original=2", "quanta=2"),
    ("mars-yield", "yield=2", "linear=2"),
    ("mars-none", "pheet-original=1.5;yield=1.5", "none=1.5"),
    ("saturn-best", "none=5", "yield=1.5"),
    ("saturn-alone", "none@80=2", "none@48=2"),
    ("saturn-original", "pheet-original=2", "yield=2"),
    ("saturn-4-quanta", "quanta@48-4=2", "quanta@48-4=0.9"),
    ("saturn-4-none", "none@48-4=2", "none@48-4=0.9"),
    ("saturn-4-long", "pheet-original=1.1", "pheet-original=2"),
    ("yield-abp", "abp-yield=1.1", "abp-yield=0.9"),
    ("quanta-long", "", "long-quanta=0.8"),
    ("overall-quanta", "quanta=1.1", "quanta=0.9"),
    ("overall-original", "pheet-original=2", "pheet-original=0.9"),
    ("prefix-80-abp", "abp-yield=1.5", "abp-yield=0.9"),
    ("prefix-80", "abp-yield=5", "yield=1.5"),
    (
        "prefix-80-4",
        "pheet-original=2;long-quanta=2;abp-yield=2",
        "none=1.5",
    ),
    (
        "prefix-48-4",
        "pheet-original=1.1;quanta=1.1;long-quanta=1.1;none=1.1",
        "yield=1.1",
    ),
    (
        "quicksort-80-quanta",
        "quanta=0.9;long-quanta=0.9",
        "quanta=0.9;long-quanta=1.2",
    ),
    ("quicksort-several-quanta", "linear=1.1", "quanta=1.1"),
    (
        "quicksort-yield",
        "yield=1.5;abp-yield=1.5",
        "yield=1.5;abp-yield@40=0.9",
    ),
    ("quicksort-20", "", "linear@80=0.5"),
    (
        "quicksort-48-4",
        "quanta=2;long-quanta=2;pheet-original=2",
        "linear=1.5",
    ),
    ("uts0-80", "", "abp-yield=1.5"),
    ("uts0-80-several", "linear=0.9;none=0.9", "linear=1.1"),
    ("uts0-48", "quanta=1.1;long-quanta=1.1", "quanta=0.9"),
    ("uts4-80", "linear=0.9;none=0.9;abp-yield=0.9", "none=1.1"),
    ("uts4-48", "linear=0.9;yield=0.9", "yield=1.1"),
    ("uts7", "abp-yield=5", "none@48-2=1.5"),
    ("uts7-40", "*@1=38", "*@1=10"),
    ("uts7-48", "*@1=40", "*@1=10"),
    ("step", "1 us=5", "0.1 ms@48-4=1.5"),
    ("step-short", "1 us@48-4=2", "1 us@48-4=0.9"),
    ("step-long", "10 ms=2;0.1 s=2", "10 ms=0.9;0.1 s=2"),
    ("min", "10 ms=2", "1 ms@48=1.5"),
    ("min-long", "0.1 s=2", "0.1 s=0.9"),
    ("max", "10 us=2", "10 us=0.9"),
    ("max-long", "10 us=2", "1 s=2"),
    ("rand-linear", "", "yield first=1.5"),
    ("factor", "1.1=2", "1.3=1.5"),
    ("exponential-min", "0.1 s=2", "10 ms=1.5"),
    ("exponential-max", "0.1 s=1.1;1 s=1.1", "0.1 s=1.1;1 s=0.9"),
    ("exponential-max-short", "1 s=2", "10 ms=1.5"),
    ("rand-exponential", "", "slow-reset=1.5"),
    ("threshold-exponential", "", "400 us=1.5"),
    ("threshold-linear", "", "50 us=1.5"),
    ("combination", "", "0.25@48-2=1.5"),
    ("combination-4", "0.1@48-4=1.1", "0.1@48-4=0.9"),
    ("s1", "0.003=2", "0.003=0.9"),
    ("s1-alike", "0.003=2", "0.3=1.5"),
    ("longest-sleep", "0.1 ms@80=2", "0.1 ms@80=0.9"),
    ("longest-sleep-several", "0.1 ms=2", "0.1 ms=0.9"),
    ("longest-sleep-alike", "0.1 ms=2", "none=1.5"),
    ("length", "300 us=1.1;600 us=1.1", "75 us=1.1"),
    ("length-alone", "300 us=1.1;600 us=1.1", "150 us@80=1.1"),
    ("threshold", "", "0.7@80-4=1.5"),
    ("c", "", "20=1.5"),
    ("long-condition", "short=1.2", "mean=1.6"),
    ("nap-length", "quanta=2.4", "quanta=0.9"),
    ("naps-lu", "quanta@lu=0.5", "quanta@lu=1.1"),
    (
        "naps-quicksort",
        "quanta@quicksort=0.3",
        "quanta@quicksort=1.1",
    ),
    ("asleep-lu", "quanta@lu=1.1", "quanta@lu=2"),
    (
        "asleep-quicksort",
        "quanta@quicksort=0.9",
        "quanta@quicksort=1.1",
    ),
];

#[test]
fn each_claim_can_agree_and_contradict() {
    let ids: Vec<&str> = rows().map(|row| row.id).collect();
    let told: Vec<&str> = WORLDS.iter().map(|(id, ..)| *id).collect();
    assert_eq!(ids, told);
    for (row, (id, agreeing, contradicting)) in rows().zip(WORLDS) {
        for (world, verdict) in [
            (agreeing, Verdict::Agrees),
            (contradicting, Verdict::Contradicts),
        ] {
            let finding = row.finding(&World(world).results(), Size::Paper);
            assert_eq!(
                finding.verdict, verdict,
                "{id} with {world:?}: {}",
                finding.ours
            );
        }
    }
}

#[test]
fn thesis_mean_excludes_our_rule() {
    let aggregated = |world| {
        let results = World(world).results();
        let row = rows().find(|row| row.id == "mars-linear");
        row.expect("a claim").finding(&results, Size::Paper).ours
    };
    assert_eq!(
        aggregated("linear=0.9"),
        aggregated("linear=0.9;elastic=99")
    );
}
