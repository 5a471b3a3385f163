//! Claims about individual programs, except LU.

use super::{MARS, Refuted, Results, Row, SATURN, SLIGHTLY, WORSE};
use crate::engine::ratios::{greatest, least};
use crate::reproduce::adaptive::medians::{mean, spread};

const SHORT: &str = "A prefix sum takes a few milliseconds here, which is less than the 4 ms that a thread \
    keeps its processor while others wait. So instances run one after the other, and a thief \
    that does not sleep finishes its own first; where it sleeps, the instances take turns.";

const SERIAL: &str = "Quicksort waits for its first partitions, which are serial, and takes the same time on \
    20 processors as on 80. Thieves that look on slow nothing down meanwhile, so nothing is \
    gained by their sleep. The thesis does not say why quanta gain there.";

const TREES: &str = "A tree has tasks for all processors from beginning to end, so thieves rest in its first \
    and last milliseconds only. Those of small trees are a larger part of the time. Several \
    instances gain from yields, which leave the processor for a whole slice.";

const SIX: [&str; 6] = [
    "linear",
    "quanta",
    "long-quanta",
    "none",
    "pheet-original",
    "yield",
];

const SORT: &str = "quicksort";

const PREFIX: &str = "prefixsum";
const TREE: &str = "UTS-7";

pub const ROWS: &[Row<Results>] = &[
    Row::above(
        "prefix-80-abp",
        "A prefix sum alone on 80 processors takes significantly longer with a yield after \
         each attempt than the mean of the other six",
        "6.3, fig. 6.5",
        WORSE,
        |view| {
            let on = view.mars();
            let six = mean(on.times(SIX, PREFIX, &["80"]).into_iter());
            on.time("abp-yield", PREFIX, &["80"]) / six
        },
    )
    .because(super::YIELDS),
    Row::close(
        "prefix-80",
        "A prefix sum alone on 80 processors takes the same time under the other six \
         schedulers (the slowest by the fastest)",
        "6.3, fig. 6.5",
        |view| spread(&view.mars().times(SIX, PREFIX, &["80"])),
    )
    .because(SHORT),
    Row::above(
        "prefix-80-4",
        "Four prefix sums on 80 processors take longer with the original backoff, long \
         quanta and yields after each attempt than with the linear backoff and without any",
        "6.3, fig. 6.5",
        WORSE,
        |view| {
            view.mars().slower(
                &["pheet-original", "long-quanta", "abp-yield"],
                &["linear", "none"],
                PREFIX,
                &["80-4"],
            )
        },
    )
    .because(SHORT),
    Row::above(
        "prefix-48-4",
        "Four prefix sums on Saturn take longer with the original backoff, both quanta and \
         without rest than with the linear backoff and yields",
        "6.3, fig. 6.6",
        SLIGHTLY,
        |view| {
            view.saturn().slower(
                &["pheet-original", "quanta", "long-quanta", "none"],
                &["linear", "yield"],
                PREFIX,
                &["48-4"],
            )
        },
    )
    .because(SHORT),
    Row::above(
        "quicksort-80-quanta",
        "A quicksort alone on 80 processors takes less time with either quanta than with the \
         other five schedulers",
        "6.4, fig. 6.7; 5.6, fig. 5.9b",
        SLIGHTLY,
        |view| {
            view.mars().slower(
                &["linear", "none", "pheet-original", "yield", "abp-yield"],
                &["quanta", "long-quanta"],
                SORT,
                &["80"],
            )
        },
    )
    .because(SERIAL),
    Row::above(
        "quicksort-several-quanta",
        "Two and four quicksorts on 80 processors take less time with quanta than with the \
         linear backoff",
        "5.6, fig. 5.9b",
        SLIGHTLY,
        |view| {
            view.mars()
                .slower(&["linear"], &["quanta"], SORT, &["80-2", "80-4"])
        },
    )
    .because(SERIAL),
    // The original backoff is left out, because the text contradicts itself: it calls this backoff
    // worse than the linear one in one place, and equal to it in another.
    Row::above(
        "quicksort-yield",
        "A quicksort on 40 and on 80 processors takes significantly longer with either yield \
         than with the linear backoff and with quanta",
        "6.4, fig. 6.7",
        WORSE,
        |view| {
            let on = view.mars();
            least(&["40", "80"].map(|load| {
                let yields = least(&on.times(["yield", "abp-yield"], SORT, &[load]));
                yields / greatest(&on.times(["linear", "quanta"], SORT, &[load]))
            }))
        },
    )
    .because(super::YIELDS),
    Row::new(
        "quicksort-20",
        "A quicksort is no faster on 80 processors than on 20",
        "5.7, fig. 5.9b",
        0.91..=2.0,
        Refuted::AtMost(0.80),
        |view| {
            let at = |load| view.mars().time("linear", SORT, &[load]);
            at("80") / at("20")
        },
    )
    .because(SERIAL),
    Row::above(
        "quicksort-48-4",
        "Four quicksorts on Saturn take significantly longer with both quanta and the \
         original backoff than with the linear backoff and yields",
        "6.4, fig. 6.8",
        WORSE,
        |view| {
            view.saturn().slower(
                &["quanta", "long-quanta", "pheet-original"],
                &["linear", "yield"],
                SORT,
                &["48-4"],
            )
        },
    ),
    Row::close(
        "uts0-80",
        "UTS-0 alone on 80 processors takes the same time under all seven schedulers (the \
         slowest by the fastest)",
        "6.6, fig. 6.11",
        |view| spread(&view.mars().times(super::SEVEN, "UTS-0", &["80"])),
    )
    .because(TREES)
    .because(SERIAL),
    Row::above(
        "uts0-80-several",
        "Two and four UTS-0 on 80 processors take less time with the linear backoff and \
         without any than under the other five",
        "6.6, fig. 6.11",
        SLIGHTLY,
        |view| {
            view.mars().slower(
                &[
                    "quanta",
                    "long-quanta",
                    "pheet-original",
                    "yield",
                    "abp-yield",
                ],
                &["linear", "none"],
                "UTS-0",
                &["80-2", "80-4"],
            )
        },
    )
    .because(TREES),
    Row::above(
        "uts0-48",
        "UTS-0 on Saturn takes a little longer with either quanta than the mean of the \
         linear backoff, the original one and both yields",
        "6.6, fig. 6.12; 5.6, fig. 5.10a",
        SLIGHTLY,
        |view| {
            let times = |rule| view.saturn().time(rule, "UTS-0", &SATURN);
            let others = ["linear", "pheet-original", "yield", "abp-yield"];
            least(&["quanta", "long-quanta"].map(times)) / mean(others.map(times).into_iter())
        },
    )
    .because(TREES),
    Row::above(
        "uts4-80",
        "UTS-4 on 80 processors takes less time with the linear backoff, without any, and \
         with yields after each attempt than under the other four",
        "6.6, fig. 6.13",
        SLIGHTLY,
        |view| {
            view.mars().slower(
                &["quanta", "long-quanta", "pheet-original", "yield"],
                &["linear", "none", "abp-yield"],
                "UTS-4",
                &MARS,
            )
        },
    )
    .because(TREES),
    Row::above(
        "uts4-48",
        "UTS-4 on Saturn takes less time with the linear backoff and yields than under the \
         other five",
        "6.6, fig. 6.14",
        SLIGHTLY,
        |view| {
            view.saturn().slower(
                &[
                    "quanta",
                    "long-quanta",
                    "none",
                    "pheet-original",
                    "abp-yield",
                ],
                &["linear", "yield"],
                "UTS-4",
                &SATURN,
            )
        },
    )
    .because(TREES),
    Row::close(
        "uts7",
        "UTS-7 takes the same time under the six schedulers but yields after each attempt, \
         on both machines, alone and with several instances (the worst slowest by fastest)",
        "6.6, figs 6.15, 6.16",
        |view| {
            let (mars, saturn) = (view.mars_binomial(), view.saturn_binomial());
            let mars = greatest(&MARS.map(|load| spread(&mars.times(SIX, TREE, &[load]))));
            let saturn = SATURN.map(|load| spread(&saturn.times(SIX, TREE, &[load])));
            greatest(&[mars, greatest(&saturn)])
        },
    )
    .because(TREES),
    Row::new(
        "uts7-40",
        "UTS-7 scales very well up to 40 processors of Mars (the speed-up by 40)",
        "6.6, fig. 6.15",
        // At the lower bound, the speed-up is 28: halfway between 20 and 40 on a logarithmic scale.
        0.70..=1.05,
        Refuted::AtMost(0.50),
        |view| {
            let at = |load| view.mars_binomial().time("linear", TREE, &[load]);
            at("1") / at("40") / 40.0
        },
    ),
    Row::new(
        "uts7-48",
        "UTS-7 scales very well up to 48 processors of Saturn (the speed-up by 48)",
        "6.6, fig. 6.16",
        0.70..=1.05,
        Refuted::AtMost(0.50),
        |view| {
            let at = |load| view.saturn_binomial().time("linear", TREE, &[load]);
            at("1") / at("48") / 48.0
        },
    ),
];
