//! Claims about all programs together.

use super::{BACKOFFS, MARS, Refuted, Results, Row, SATURN, SEVEN, SLIGHTLY, TUNED, WORSE};
use crate::engine::ratios::{greatest, least};
use crate::reproduce::adaptive::medians::{On, View, mean, spread};

const NO_BUS: &str = "The simulated machine has no memory bus, and a look slows down its victim only. So the \
    original backoff and thieves without rest lose only what they take from threads that \
    wait for their processor.";

const QUANTA: &str = "Quanta sleep less often and longer than the linear backoff. They lose with LU, whose \
    tasks become ready a few at a time, and gain with trees and prefix sums.";

/// Returns the aggregated times under these rules of chapter 6.
fn seven<const N: usize>(on: &On<'_>, rules: [&str; N], loads: &[&str]) -> [f64; N] {
    rules.map(|rule| on.aggregated(rule, loads, &SEVEN))
}

/// Returns the aggregated times under these backoffs of chapter 4.
fn backoff<const N: usize>(on: &On<'_>, rules: [&str; N], loads: &[&str]) -> [f64; N] {
    rules.map(|rule| on.aggregated(rule, loads, &BACKOFFS))
}

/// Returns the aggregated times under these rules of chapter 6, each averaged over both machines.
fn both<const N: usize>(view: &View<'_, Results>, rules: [&str; N]) -> [f64; N] {
    rules.map(|rule| {
        let mars = view.mars().aggregated(rule, &MARS, &SEVEN);
        (mars + view.saturn().aggregated(rule, &SATURN, &SEVEN)) / 2.0
    })
}

fn untuned(on: &On<'_>, loads: &[&str]) -> f64 {
    let untuned = least(&backoff(on, ["pheet-original", "none"], loads));
    untuned / mean(backoff(on, TUNED, loads).into_iter())
}

/// Returns the time under a rule on Saturn, divided by the longer of the times under the two best
/// rules there: the linear backoff and yields.
fn slower(view: &View<'_, Results>, rule: &str, load: &str) -> f64 {
    let on = view.saturn();
    let [time] = seven(&on, [rule], &[load]);
    time / greatest(&seven(&on, ["linear", "yield"], &[load]))
}

pub const ROWS: &[Row<Results>] = &[
    Row::above(
        "untuned-mars",
        "Two and four instances on Mars take significantly longer without a backoff and with \
         the original one than with the tuned five",
        "4.5, fig. 4.20",
        WORSE,
        |view| untuned(&view.mars(), &["80-2", "80-4"]),
    )
    .because(NO_BUS),
    Row::above(
        "untuned-saturn",
        "Two and four instances on Saturn take significantly longer without a backoff and \
         with the original one than with the tuned five",
        "4.5, fig. 4.19",
        WORSE,
        |view| untuned(&view.saturn(), &["48-2", "48-4"]),
    )
    .because(NO_BUS),
    Row::close(
        "tuned-mars",
        "On Mars the five tuned backoffs take the same time (the slowest by the fastest)",
        "4.5, fig. 4.20; ch. 7",
        |view| spread(&backoff(&view.mars(), TUNED, &MARS)),
    ),
    Row::close(
        "tuned-saturn",
        "On Saturn the five tuned backoffs take the same time (the slowest by the fastest)",
        "4.5, fig. 4.19; ch. 7",
        |view| spread(&backoff(&view.saturn(), TUNED, &SATURN)),
    ),
    Row::new(
        "mars-linear",
        "On Mars the linear backoff takes less time than the other six schedulers",
        "6.7, fig. 6.17",
        // The text gives no number. Ratios between 0.98 and 1 count as a tie; smaller ratios
        // contradict the claim.
        1.0..=3.0,
        Refuted::AtMost(0.98),
        |view| {
            let [linear, others @ ..] = seven(&view.mars(), SEVEN, &MARS);
            least(&others) / linear
        },
    )
    .because(NO_BUS),
    Row::above(
        "mars-original",
        "On Mars the original backoff takes clearly longer than quanta",
        "6.7, fig. 6.17; 4.5, fig. 4.20",
        WORSE,
        |view| {
            let [original, quanta] = seven(&view.mars(), ["pheet-original", "quanta"], &MARS);
            original / quanta
        },
    )
    .because(NO_BUS),
    Row::above(
        "mars-yield",
        "On Mars yields take clearly longer than the linear backoff and than quanta",
        "6.7, fig. 6.17",
        WORSE,
        |view| {
            let on = view.mars();
            let [yields] = seven(&on, ["yield"], &MARS);
            yields / greatest(&seven(&on, ["linear", "quanta"], &MARS))
        },
    )
    .because(super::YIELDS),
    Row::new(
        "mars-none",
        "On Mars never resting takes no longer than the original backoff and than yields",
        "6.7, fig. 6.17",
        // The text says only "does not perform that bad", without a number.
        0.33..=1.10,
        Refuted::AtLeast(1.25),
        |view| {
            let on = view.mars();
            let [none] = seven(&on, ["none"], &MARS);
            none / least(&seven(&on, ["pheet-original", "yield"], &MARS))
        },
    )
    .because(NO_BUS),
    Row::alike(
        "saturn-best",
        "On Saturn yields take as long as the linear backoff",
        "6.7, fig. 6.18",
        |view| {
            let [yields, linear] = seven(&view.saturn(), ["yield", "linear"], &SATURN);
            yields / linear
        },
    )
    .because(super::YIELDS),
    Row::above(
        "saturn-alone",
        "The seven schedulers differ more for one instance on all of Mars than on all of \
         Saturn (slowest by fastest)",
        "6.7, fig. 6.18",
        WORSE,
        |view| {
            let mars = spread(&seven(&view.mars(), SEVEN, &["80"]));
            mars / spread(&seven(&view.saturn(), SEVEN, &["48"]))
        },
    )
    .because(NO_BUS),
    Row::above(
        "saturn-original",
        "Two and four instances on Saturn take clearly longer with the original backoff than \
         with the linear one and with yields",
        "6.7, fig. 6.18",
        WORSE,
        |view| least(&["48-2", "48-4"].map(|load| slower(view, "pheet-original", load))),
    )
    .because(NO_BUS),
    Row::above(
        "saturn-4-quanta",
        "Four instances on Saturn take significantly longer with quanta than with the linear \
         backoff and with yields",
        "6.7, fig. 6.18",
        WORSE,
        |view| slower(view, "quanta", "48-4"),
    )
    .because(QUANTA),
    Row::above(
        "saturn-4-none",
        "Four instances on Saturn take significantly longer without a backoff than with the \
         linear one and with yields",
        "6.7, fig. 6.18",
        WORSE,
        |view| slower(view, "none", "48-4"),
    )
    .because(NO_BUS),
    Row::new(
        "saturn-4-long",
        "Four instances on Saturn take nearly as long with long quanta as with the original \
         backoff",
        "6.7, fig. 6.18",
        // We take "nearly as bad" to mean at most a quarter better, and not worse.
        0.80..=1.0,
        Refuted::Outside(0.67, 1.10),
        |view| {
            let rules = ["long-quanta", "pheet-original"];
            let [long, original] = seven(&view.saturn(), rules, &["48-4"]);
            long / original
        },
    )
    .because(NO_BUS),
    Row::new(
        "yield-abp",
        "A yield after each failed attempt takes as long as one after each failed sweep, or \
         a bit longer",
        "6.7",
        1.0..=1.25,
        Refuted::AtMost(0.98),
        |view| {
            let [abp, yields] = both(view, ["abp-yield", "yield"]);
            abp / yields
        },
    )
    .because(super::YIELDS),
    Row::new(
        "quanta-long",
        "Long quanta are no better than quanta",
        "6.7; 5.5, 5.6",
        0.98..=1.25,
        Refuted::AtMost(0.91),
        |view| {
            let [long, quanta] = both(view, ["long-quanta", "quanta"]);
            long / quanta
        },
    )
    .because(QUANTA),
    Row::above(
        "overall-quanta",
        "On both machines together quanta take slightly longer than the linear backoff",
        "6.7; ch. 7",
        SLIGHTLY,
        |view| {
            let [quanta, linear] = both(view, ["quanta", "linear"]);
            quanta / linear
        },
    )
    .because(QUANTA),
    Row::above(
        "overall-original",
        "On both machines together the original backoff takes clearly longer than quanta",
        "6.7; ch. 7",
        WORSE,
        |view| {
            let [original, quanta] = both(view, ["pheet-original", "quanta"]);
            original / quanta
        },
    )
    .because(NO_BUS),
];
