//! Program by program, but for LU.

use super::{MARS, Refuted, Results, Row, SATURN, SLIGHTLY, WORSE};
use crate::reproduce::adaptive::medians::{least, mean, most, spread};

const SHORT: &str = "A prefix sum takes a few milliseconds here, which is less than the 4 ms that a thread \
    keeps its processor while others wait. So instances run one after the other, and a thief \
    that does not sleep finishes its own first; where it sleeps, the instances take turns.";

const SERIAL: &str = "Quicksort waits for its first partitions, which are serial, and takes the same time on \
    20 processors as on 80. Thieves that look on slow nothing down meanwhile, so nothing is \
    gained by their sleep. The thesis does not say why quanta gain there.";

const TREES: &str = "A tree has tasks for all processors from beginning to end, so thieves rest in its first \
    and last milliseconds only. Those of small trees are a larger part of the time. Several \
    instances gain from yields, which leave the processor for a whole slice.";

pub fn rows() -> Vec<Row<Results>> {
    let mut rows = prefixsum();
    rows.extend(quicksort_on_mars());
    rows.extend(quicksort_scales_on_mars());
    rows.extend(quicksort_on_saturn());
    rows.extend(trees());
    rows.extend(hybrid_tree());
    rows.extend(binomial_tree());
    rows
}

const SIX: [&str; 6] = [
    "linear",
    "quanta",
    "long-quanta",
    "none",
    "pheet-original",
    "yield",
];

fn prefixsum() -> Vec<Row<Results>> {
    const PREFIX: &str = "prefixsum";
    vec![
        Row::above(
            [
                "prefix-80-abp",
                "A prefix sum alone on 80 processors takes significantly longer with a yield after \
                 each attempt than the mean of the other six",
                "6.3, fig. 6.5",
            ],
            WORSE,
            |view| {
                let on = view.mars();
                let six = mean(on.times(SIX, PREFIX, &["80"]).into_iter());
                on.time("abp-yield", PREFIX, &["80"]) / six
            },
        )
        .because(super::YIELDS),
        Row::close(
            [
                "prefix-80",
                "A prefix sum alone on 80 processors takes the same time under the other six \
                 schedulers (the slowest by the fastest)",
                "6.3, fig. 6.5",
            ],
            |view| spread(view.mars().times(SIX, PREFIX, &["80"])),
        )
        .because(SHORT),
        Row::above(
            [
                "prefix-80-4",
                "Four prefix sums on 80 processors take longer with the original backoff, long \
                 quanta and yields after each attempt than with the linear backoff and without any",
                "6.3, fig. 6.5",
            ],
            WORSE,
            |view| {
                let times = |rule| view.mars().time(rule, PREFIX, &["80-4"]);
                let bad = ["pheet-original", "long-quanta", "abp-yield"];
                least(bad.map(times)) / most(["linear", "none"].map(times))
            },
        )
        .because(SHORT),
        Row::above(
            [
                "prefix-48-4",
                "Four prefix sums on Saturn take longer with the original backoff, both quanta and \
                 without rest than with the linear backoff and yields",
                "6.3, fig. 6.6",
            ],
            SLIGHTLY,
            |view| {
                let times = |rule| view.saturn().time(rule, PREFIX, &["48-4"]);
                let bad = ["pheet-original", "quanta", "long-quanta", "none"];
                least(bad.map(times)) / most(["linear", "yield"].map(times))
            },
        )
        .because(SHORT),
    ]
}

const SORT: &str = "quicksort";

fn quicksort_on_mars() -> Vec<Row<Results>> {
    vec![
        Row::above(
            [
                "quicksort-80-quanta",
                "A quicksort alone on 80 processors takes less time with either quanta than with the \
                 other five schedulers",
                "6.4, fig. 6.7; 5.6, fig. 5.9b",
            ],
            SLIGHTLY,
            |view| {
                let times = |rule| view.mars().time(rule, SORT, &["80"]);
                let others = ["linear", "none", "pheet-original", "yield", "abp-yield"];
                least(others.map(times)) / most(["quanta", "long-quanta"].map(times))
            },
        )
        .because(SERIAL),
        Row::above(
            [
                "quicksort-several-quanta",
                "Two and four quicksorts on 80 processors take less time with quanta than with the \
                 linear backoff",
                "5.6, fig. 5.9b",
            ],
            SLIGHTLY,
            |view| {
                let [linear, quanta] =
                    view.mars()
                        .times(["linear", "quanta"], SORT, &["80-2", "80-4"]);
                linear / quanta
            },
        )
        .because(SERIAL),
    ]
}

fn quicksort_scales_on_mars() -> Vec<Row<Results>> {
    vec![
        // The text calls the original backoff both worse than linear and the same: it is left out.
        Row::above(
            [
                "quicksort-yield",
                "A quicksort on 40 and on 80 processors takes significantly longer with either yield \
                 than with the linear backoff and with quanta",
                "6.4, fig. 6.7",
            ],
            WORSE,
            |view| {
                let on = view.mars();
                least(["40", "80"].map(|load| {
                    let yields = least(on.times(["yield", "abp-yield"], SORT, &[load]));
                    yields / most(on.times(["linear", "quanta"], SORT, &[load]))
                }))
            },
        )
        .because(super::YIELDS),
        Row::new(
            [
                "quicksort-20",
                "A quicksort is no faster on 80 processors than on 20",
                "5.7, fig. 5.9b",
            ],
            0.91..=2.0,
            Refuted::AtMost(0.80),
            |view| {
                let at = |load| view.mars().time("linear", SORT, &[load]);
                at("80") / at("20")
            },
        )
        .because(SERIAL),
    ]
}

fn quicksort_on_saturn() -> Vec<Row<Results>> {
    vec![Row::above(
        [
            "quicksort-48-4",
            "Four quicksorts on Saturn take significantly longer with both quanta and the \
                 original backoff than with the linear backoff and yields",
            "6.4, fig. 6.8",
        ],
        WORSE,
        |view| {
            let times = |rule| view.saturn().time(rule, SORT, &["48-4"]);
            let bad = ["quanta", "long-quanta", "pheet-original"];
            least(bad.map(times)) / most(["linear", "yield"].map(times))
        },
    )]
}

fn trees() -> Vec<Row<Results>> {
    vec![
        Row::close(
            [
                "uts0-80",
                "UTS-0 alone on 80 processors takes the same time under all seven schedulers (the \
                 slowest by the fastest)",
                "6.6, fig. 6.11",
            ],
            |view| spread(view.mars().times(super::SEVEN, "UTS-0", &["80"])),
        )
        .because(TREES)
        .because(SERIAL),
        Row::above(
            [
                "uts0-80-several",
                "Two and four UTS-0 on 80 processors take less time with the linear backoff and \
                 without any than under the other five",
                "6.6, fig. 6.11",
            ],
            SLIGHTLY,
            |view| {
                let times = |rule| view.mars().time(rule, "UTS-0", &["80-2", "80-4"]);
                let others = [
                    "quanta",
                    "long-quanta",
                    "pheet-original",
                    "yield",
                    "abp-yield",
                ];
                least(others.map(times)) / most(["linear", "none"].map(times))
            },
        )
        .because(TREES),
        Row::above(
            [
                "uts0-48",
                "UTS-0 on Saturn takes a little longer with either quanta than the mean of the \
                 linear backoff, the original one and both yields",
                "6.6, fig. 6.12; 5.6, fig. 5.10a",
            ],
            SLIGHTLY,
            |view| {
                let times = |rule| view.saturn().time(rule, "UTS-0", &SATURN);
                let others = ["linear", "pheet-original", "yield", "abp-yield"];
                least(["quanta", "long-quanta"].map(times)) / mean(others.map(times).into_iter())
            },
        )
        .because(TREES),
    ]
}

fn hybrid_tree() -> Vec<Row<Results>> {
    vec![
        Row::above(
            [
                "uts4-80",
                "UTS-4 on 80 processors takes less time with the linear backoff, without any, and \
                 with yields after each attempt than under the other four",
                "6.6, fig. 6.13",
            ],
            SLIGHTLY,
            |view| {
                let times = |rule| view.mars().time(rule, "UTS-4", &MARS);
                let others = ["quanta", "long-quanta", "pheet-original", "yield"];
                least(others.map(times)) / most(["linear", "none", "abp-yield"].map(times))
            },
        )
        .because(TREES),
        Row::above(
            [
                "uts4-48",
                "UTS-4 on Saturn takes less time with the linear backoff and yields than under the \
                 other five",
                "6.6, fig. 6.14",
            ],
            SLIGHTLY,
            |view| {
                let times = |rule| view.saturn().time(rule, "UTS-4", &SATURN);
                let others = [
                    "quanta",
                    "long-quanta",
                    "none",
                    "pheet-original",
                    "abp-yield",
                ];
                least(others.map(times)) / most(["linear", "yield"].map(times))
            },
        )
        .because(TREES),
    ]
}

fn binomial_tree() -> Vec<Row<Results>> {
    const TREE: &str = "UTS-7";
    vec![
        Row::close(
            [
                "uts7",
                "UTS-7 takes the same time under the six schedulers but yields after each attempt, \
                 on both machines, alone and with several instances (the worst slowest by fastest)",
                "6.6, figs 6.15, 6.16",
            ],
            |view| {
                let (mars, saturn) = (view.mars_binomial(), view.saturn_binomial());
                let mars = most(MARS.map(|load| spread(mars.times(SIX, TREE, &[load]))));
                let saturn = SATURN.map(|load| spread(saturn.times(SIX, TREE, &[load])));
                most([mars, most(saturn)])
            },
        )
        .because(TREES),
        Row::new(
            [
                "uts7-40",
                "UTS-7 scales very well up to 40 processors of Mars (the speed-up by 40)",
                "6.6, fig. 6.15",
            ],
            // Nearer to 40 than to 20.
            0.70..=1.05,
            Refuted::AtMost(0.50),
            |view| {
                let at = |load| view.mars_binomial().time("linear", TREE, &[load]);
                at("1") / at("40") / 40.0
            },
        ),
        Row::new(
            [
                "uts7-48",
                "UTS-7 scales very well up to 48 processors of Saturn (the speed-up by 48)",
                "6.6, fig. 6.16",
            ],
            0.70..=1.05,
            Refuted::AtMost(0.50),
            |view| {
                let at = |load| view.saturn_binomial().time("linear", TREE, &[load]);
                at("1") / at("48") / 48.0
            },
        ),
    ]
}
