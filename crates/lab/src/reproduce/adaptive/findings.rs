//! What the thesis found, beside what the simulated machines say.

use super::sweeps::{LENGTH, MAX, MIN, STEP};
use crate::reproduce::grid::Grid;
use crate::reproduce::page::Finding;
use crate::reproduce::sample::Mean;
use tidegate_command::output::show_ratio;

/// The grids of both machines and of all sweeps.
pub struct Results {
    pub mars: Grid,
    pub saturn: Grid,
    pub sweeps: Vec<Grid>,
}

/// How much more or less than one is still the same, for a ratio of times that the thesis calls equal.
const ALIKE: f64 = 0.1;

/// What the simulated machine does not have, and how it yields.
const NO_CACHES: &str = "The simulated machine has no caches and no memory bus: a thief that looks at victims slows nobody down who has a processor, so only \
                         what thieves take from workers without one is seen here. And a yield lets others go on at once, as on the Linux of today, and costs \
                         nothing where nobody waits; the thesis found it as good as the linear backoff on Saturn and far worse on Mars, and does not know why.";

/// All of them.
pub fn findings(results: &Results) -> Vec<Finding> {
    let Results { mars, saturn, .. } = results;
    let mut findings = vec![
        lu_with_four(mars),
        best_overall("Mars", mars, "80"),
        best_overall("Saturn", saturn, "48"),
        quanta_beat_original(mars),
        original_suffers(saturn),
        quicksort_likes_quanta(mars),
        all_backoffs_alike(mars),
    ];
    findings.extend(
        ["lu", "quicksort"]
            .iter()
            .filter_map(|work| naps(mars, work)),
    );
    findings.extend([
        step(&results.sweeps[STEP]),
        minimum(&results.sweeps[MIN]),
        maximum(&results.sweeps[MAX]),
        length(&results.sweeps[LENGTH]),
    ]);
    findings
}

/// How much longer `slow` takes than `fast`.
fn ratio(slow: Mean, fast: Mean) -> f64 {
    slow.value / fast.value
}

fn lu_with_four(mars: &Grid) -> Finding {
    let (work, load) = (mars.work("lu"), mars.load("80-4"));
    let times = |name| work.map(|work| mars.seconds(mars.rule(name), work, load));
    let both = times("pheet-original").zip(times("linear"));
    let ratio = both.map_or(f64::NAN, |(slow, fast)| ratio(slow, fast));
    Finding::new(
        "LU, four instances on Mars: the original backoff against the linear one",
        "up to 18 times as long (here: more than 1.10x)",
        format!("{} as long", show_ratio(ratio)),
        ratio > 1.0 + ALIKE,
        NO_CACHES,
    )
}

/// The thesis' seven.
const SEVEN: [&str; 7] = [
    "linear",
    "quanta",
    "long-quanta",
    "none",
    "pheet-original",
    "yield",
    "abp-yield",
];

/// The mean of a rule's aggregated results over all of the machine, for one, two and four instances.
fn full(grid: &Grid, rule: &str, all: &str) -> f64 {
    let loads = [all.to_owned(), format!("{all}-2"), format!("{all}-4")];
    let rule = grid.rule(rule);
    let sum: f64 = loads
        .iter()
        .map(|load| grid.aggregated(rule, grid.load(load)).value)
        .sum();
    sum / loads.len() as f64
}

fn best_overall(machine: &str, grid: &Grid, all: &str) -> Finding {
    let mut ranks: Vec<(f64, &str)> = SEVEN.map(|rule| (full(grid, rule, all), rule)).into();
    ranks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shown: Vec<String> = ranks
        .iter()
        .map(|(time, rule)| format!("{rule} {time:.2}"))
        .collect();
    let linear = full(grid, "linear", all);
    Finding::new(
        format!("{machine}, all processors, aggregated over one, two and four instances"),
        "linear is best (here: within 5 %)",
        shown.join(", "),
        linear <= ranks[0].0 * (1.0 + ALIKE / 2.0),
        NO_CACHES,
    )
}

fn quanta_beat_original(mars: &Grid) -> Finding {
    let (quanta, original) = (
        full(mars, "quanta", "80"),
        full(mars, "pheet-original", "80"),
    );
    Finding::new(
        "Mars, all processors: quanta against the original backoff",
        "quanta are better",
        format!("{quanta:.2} against {original:.2}"),
        quanta < original,
        NO_CACHES,
    )
}

fn original_suffers(saturn: &Grid) -> Finding {
    let load = saturn.load("48-4");
    let at = |name| saturn.aggregated(saturn.rule(name), load).value;
    let (original, linear) = (at("pheet-original"), at("linear"));
    Finding::new(
        "Saturn, four instances, aggregated: the original backoff against the linear one",
        "clearly worse (here: more than 1.10x)",
        show_ratio(original / linear),
        original > linear * (1.0 + ALIKE),
        NO_CACHES,
    )
}

fn quicksort_likes_quanta(mars: &Grid) -> Finding {
    let work = mars.work("quicksort").expect("a program of the plan");
    let at = |name| mars.seconds(mars.rule(name), work, mars.load("80")).value;
    let mut ranks = SEVEN.map(|rule| (at(rule) / at("quanta"), rule));
    ranks.sort_by(|a, b| a.0.total_cmp(&b.0));
    Finding::new(
        "quicksort on all of Mars: quanta against the other rules of the thesis",
        "quanta are best",
        format!("{} takes {}", ranks[0].1, show_ratio(ranks[0].0)),
        ranks[0].0 >= 1.0,
        "A quicksort waits for its first partitions, and thieves that look on find the tasks that follow first. In the thesis thieves \
         that sleep leave the memory to those who partition; there is no memory bus here.",
    )
}

fn all_backoffs_alike(mars: &Grid) -> Finding {
    let backoffs = [
        "linear",
        "exponential",
        "exponential-linear",
        "linear-exponential",
        "combination",
    ];
    let times = backoffs.map(|rule| full(mars, rule, "80"));
    let (least, most) = times
        .iter()
        .fold((f64::MAX, 0f64), |(l, m), t| (l.min(*t), m.max(*t)));
    Finding::new(
        "Mars: the five tuned backoffs against each other",
        "no big difference (here: within 10 %)",
        format!(
            "the slowest takes {} of the fastest",
            show_ratio(most / least)
        ),
        most < least * (1.0 + ALIKE),
        "Where programs take milliseconds, a thief that sleeps as long is missed.",
    )
}

/// Table 5.5: seconds asleep and how often, under quanta and under linear backoff.
const TABLE: [(&str, [f64; 4]); 2] = [
    ("lu", [121.26, 81_258.0, 112.23, 180_209.0]),
    ("quicksort", [14.48, 11_904.0, 18.35, 36_147.0]),
];

fn naps(mars: &Grid, name: &str) -> Option<Finding> {
    let (work, load) = (mars.work(name)?, mars.load("80"));
    let (_, [long, often, longer, oftener]) = TABLE.iter().find(|(other, _)| *other == name)?;
    let at = |rule: &str| {
        let cell = (mars.rule(rule), work, load);
        let naps = mars.mean(cell, |observed| observed.naps).value;
        (naps, mars.mean(cell, |observed| observed.asleep).value)
    };
    let ((naps, asleep), (linear_naps, linear_asleep)) = (at("quanta"), at("linear"));
    Some(Finding::new(
        format!("{name} on all of Mars: sleeps under quanta, by those under linear backoff"),
        format!(
            "{:.2} as often, {:.2} as long",
            often / oftener,
            long / longer
        ),
        format!(
            "{:.2} as often, {:.2} as long",
            naps / linear_naps,
            asleep / linear_asleep
        ),
        0.0 < naps && naps < linear_naps && (asleep < linear_asleep) == (long < longer),
        if naps == 0.0 {
            "The program is over before anybody has slept under quanta: it is too short for this."
        } else {
            "How often a thief sleeps depends on how long nothing is to be found, and so on the lengths of tasks; those of the thesis' kernels are not known."
        },
    ))
}

/// The aggregated time under a value of a parameter, by the best of all under this load.
fn by_best(sweep: &Grid, value: &str, load: &str) -> f64 {
    let load = sweep.load(load);
    let times = 0..sweep.plan().rules.len();
    let best = times.map(|rule| sweep.aggregated(rule, load).value);
    let best = best.fold(f64::MAX, f64::min);
    sweep.aggregated(sweep.rule(value), load).value / best
}

fn worst_of(sweep: &Grid, values: &[&str], loads: &[&str]) -> f64 {
    let each = values
        .iter()
        .flat_map(|value| loads.iter().map(|load| by_best(sweep, value, load)));
    each.fold(0.0, f64::max)
}

const LOADS: [&str; 3] = ["48", "48-2", "48-4"];

fn step(sweep: &Grid) -> Finding {
    let good = worst_of(sweep, &["10 us", "50 us", "0.1 ms"], &LOADS);
    let bad = worst_of(sweep, &["10 ms", "0.1 s"], &LOADS);
    Finding::new(
        "linear: steps from 10 us to 0.1 ms on Saturn",
        "reasonable (here: within 1.20 of the best), longer ones are not",
        format!("within {good:.3} of the best; from 10 ms on up to {bad:.2}"),
        good < bad && good < 1.0 + 2.0 * ALIKE,
        "A sleep grows by a step at a time: where programs are over in milliseconds, long steps are few and short ones are many wakes.",
    )
}

fn minimum(sweep: &Grid) -> Finding {
    let good = worst_of(sweep, &["0", "10 us", "0.1 ms", "1 ms"], &LOADS);
    let bad = worst_of(sweep, &["0.1 s"], &LOADS);
    Finding::new(
        "linear: shortest sleeps up to 1 ms on Saturn",
        "hardly any difference below 10 ms (here: within 1.20 of the best)",
        format!("within {good:.3} of the best; 0.1 s {bad:.2}"),
        good < bad && good < 1.0 + 2.0 * ALIKE,
        "Where programs are over in milliseconds, a thief that sleeps one is away for much of them.",
    )
}

fn maximum(sweep: &Grid) -> Finding {
    let small = by_best(sweep, "10 us", "48-4");
    let others = worst_of(sweep, &["0.5 ms", "1 ms", "10 ms", "1 s"], &["48-4"]);
    Finding::new(
        "linear: longest sleeps of 10 us against longer ones, four instances on Saturn",
        "too short a maximum is worse, all others are alike (here: within 1.20 of the best)",
        format!("10 us {small:.2} of the best, the others within {others:.3}"),
        small > others && others < 1.0 + 2.0 * ALIKE,
        NO_CACHES,
    )
}

fn length(sweep: &Grid) -> Finding {
    let loads = ["80", "80-2", "80-4"];
    let short = worst_of(sweep, &["75 us", "150 us"], &loads);
    let long = worst_of(sweep, &["300 us", "600 us"], &loads);
    Finding::new(
        "quanta: lengths of 75 and 150 us against 300 and 600 us on Mars",
        "shorter ones are slightly better",
        format!("within {short:.3} of the best against {long:.3}"),
        short <= long,
        "S1 and S2 shrink as quanta grow, so all of these sleep for the same times at first and short quanta only sooner: thieves that look for longer before \
         they sleep cost nobody anything here but where workers wait for a processor.",
    )
}

#[cfg(test)]
mod tests {
    use super::super::machines::{MARS, SATURN};
    use super::super::sweeps::{SWEEPS, Sweep};
    use super::super::{rules, work};
    use super::*;
    use crate::reproduce::grid::{Load, Plan, Rule};
    use crate::reproduce::observed::Observed;
    use tidegate_workloads::Size;

    /// What would have come of a plan if each run under a rule of this name had taken so long and slept so often.
    fn world(rules: Vec<Rule>, loads: Vec<Load>, told: impl Fn(&str) -> f64) -> Grid {
        let plan = Plan {
            rules,
            works: ["lu", "quicksort"]
                .map(|name| work(name, Size::Tiny))
                .into(),
            loads,
        };
        let observed = plan.cells().map(|(rule, work, _)| {
            let seconds = told(&rule.name);
            vec![Observed {
                seconds,
                naps: seconds,
                // Of lu the thesis tells of fewer sleeps that were longer all together.
                asleep: if work.name == "lu" {
                    1.0 / seconds
                } else {
                    seconds
                },
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        Grid::new(plan, observed)
    }

    fn results(whole: fn(&str) -> f64, swept: fn(&str, &str) -> f64) -> Results {
        let sweep = |sweep: &Sweep| {
            let told = |value: &str| swept(sweep.title, value);
            world(sweep.rules(), sweep.machine.full(), told)
        };
        Results {
            mars: world(rules(), MARS.loads(), whole),
            saturn: world(rules(), SATURN.loads(), whole),
            sweeps: SWEEPS.iter().map(sweep).collect(),
        }
    }

    fn agreeing(results: &Results) -> Vec<String> {
        let found = findings(results);
        let agrees = found.into_iter().filter(|finding| finding.agrees);
        agrees.map(|finding| finding.what).collect()
    }

    #[test]
    fn each_finding_agrees_with_what_was_published_and_none_with_the_contrary() {
        let published = results(
            |rule| match rule {
                "quanta" => 0.97,
                "pheet-original" | "none" => 9.0,
                _ => 1.0,
            },
            |parameter, value| match (parameter, value) {
                ("linear: step" | "linear: minimum", "10 ms" | "0.1 s") => 7.0,
                ("linear: maximum", "10 us") => 1.5,
                ("quanta: length", "300 us" | "600 us") => 1.2,
                _ => 1.0,
            },
        );
        let all = findings(&published).into_iter();
        assert_eq!(
            agreeing(&published),
            all.map(|finding| finding.what).collect::<Vec<_>>()
        );
        let contrary = results(
            |rule| match rule {
                "linear" => 2.0,
                "quanta" => 3.0,
                _ => 1.0,
            },
            |_, value| match value {
                "10 ms" | "0.1 s" | "10 us" | "300 us" | "600 us" => 1.0,
                _ => 2.0,
            },
        );
        assert_eq!(agreeing(&contrary), Vec::<String>::new());
    }
}
