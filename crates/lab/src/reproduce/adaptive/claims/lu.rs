//! Claims about LU, the program on which the simulator's model and the thesis differ most.

use super::{AWFUL, MARS, Results, Row, SATURN, SLIGHTLY, WORSE};
use crate::engine::Refuted;
use crate::engine::ratios::{farthest, least};
use crate::reproduce::adaptive::medians::Figure;

const LU: &str = "lu";

const SEVERAL: [&str; 2] = ["48-2", "48-4"];

const NO_BUS: &str = "The simulated machine has no memory bus, and a look slows down its victim only. So \
    thieves that look on cost LU nothing while no other thread waits for their processor. \
    Longer looks do not change that: see the table of looks that slow their victims down.";

const LATE: &str = "Tasks of LU become ready a few at a time. A thief that sleeps then comes up to its \
    longest sleep late, 0.5 ms under the linear backoff and 1.5 ms under quanta, and 70 us \
    more until the system wakes it; the thieves that look on in the meantime slow down no \
    task here.";

const STEALS: &str = "Thieves on 80 processors find work on more victims than on 40: LU is not out of tasks \
    here, and 80 processors take less time than 40. The thesis does not print the size of \
    its blocks; smaller blocks make more tasks.";

pub const ROWS: &[Row<Results>] = &[
    Row::above(
        "lu-80-original",
        "LU alone on 80 processors takes more than 3 times as long with the original \
         backoff as without any",
        "4.3, fig. 4.1b; 4.17, 6.3",
        // The published factor is 3. The lower bound is the geometric mean of 1 (no effect) and 3,
        // the upper bound that of 3 and 18, the factor with four instances.
        1.73..=7.35,
        |view| {
            view.mars()
                .slower(&["pheet-original"], &["none"], LU, &["80"])
        },
    )
    .published(3.0)
    .because(NO_BUS),
    Row::new(
        "lu-80-linear",
        "LU alone on 80 processors takes no longer with the linear backoff than without any",
        "4.5, fig. 4.17; 6.2, fig. 6.3",
        0.91..=1.10,
        Refuted::AtLeast(1.25),
        |view| view.mars().slower(&["linear"], &["none"], LU, &["80"]),
    )
    .because(LATE),
    Row::above(
        "lu-80-yield",
        "LU alone on 80 processors takes far longer with either yield than with the linear \
         backoff",
        "4.5, fig. 4.17; 6.2, fig. 6.3",
        AWFUL,
        |view| {
            view.mars()
                .slower(&["yield", "abp-yield"], &["linear"], LU, &["80"])
        },
    )
    .because(super::YIELDS),
    Row::new(
        "lu-steals",
        "Without a backoff LU has no more successful steals on 80 processors than on 40",
        "4.3, fig. 4.2",
        0.91..=1.10,
        Refuted::AtLeast(1.25),
        |view| {
            let at = |load| view.mars().figure(Figure::Steals, "none", LU, load);
            at("80") / at("40")
        },
    )
    .because(STEALS),
    Row::new(
        "lu-slowdown",
        "LU with the original backoff takes longer on 80 processors than on 40",
        "4.3, fig. 4.1b",
        1.02..=3.0,
        Refuted::AtMost(1.0),
        |view| {
            let at = |load| view.mars().time("pheet-original", LU, &[load]);
            at("80") / at("40")
        },
    )
    .because(NO_BUS),
    Row::above(
        "lu-80-4-original",
        "Four LUs on 80 processors take 18 times as long with the original backoff as with \
         the linear one",
        "6.2, fig. 6.3; ch. 7",
        // The published factor is 18. The lower bound is sqrt(3 * 18). On a logarithmic scale, the
        // upper bound is equally far above 18.
        7.35..=44.0,
        |view| {
            view.mars()
                .slower(&["pheet-original"], &["linear"], LU, &["80-4"])
        },
    )
    .published(18.0)
    .because(NO_BUS),
    Row::above(
        "lu-80-none",
        "Two and four LUs on 80 processors take longer without a backoff than with the \
         linear one and with both quanta",
        "6.2, fig. 6.3",
        WORSE,
        |view| {
            let on = view.mars();
            let others = ["linear", "quanta", "long-quanta"];
            let slower = |load| on.slower(&["none"], &others, LU, &[load]);
            least(&["80-2", "80-4"].map(slower))
        },
    )
    .because(NO_BUS),
    Row::alike(
        "lu-80-quanta",
        "One, two and four LUs on 80 processors take as long with either quanta as with the \
         linear backoff (the ratio farthest from 1)",
        "6.2, fig. 6.3",
        |view| {
            let on = view.mars();
            farthest(&MARS.map(|load| {
                let quanta = on.times(["quanta", "long-quanta"], LU, &[load]);
                let linear = on.time("linear", LU, &[load]);
                farthest(&quanta.map(|quanta| quanta / linear))
            }))
        },
    )
    .because(LATE),
    Row::above(
        "lu-load-original",
        "Of four LUs on 80 processors each takes longer than one alone, and under the \
         original backoff 6 times as much longer as under the linear one",
        "4.3, fig. 4.4b",
        // The published ratio is 18 / 3 = 6. The range extends by a factor of sqrt(6) in each
        // direction.
        2.45..=14.7,
        |view| {
            let on = view.mars();
            let longer = |rule| on.time(rule, LU, &["80-4"]) / on.time(rule, LU, &["80"]);
            longer("pheet-original") / longer("linear")
        },
    )
    .because(NO_BUS),
    Row::above(
        "lu-48-original",
        "Two and four LUs on Saturn take significantly longer with the original backoff than \
         with the linear one",
        "6.2, fig. 6.4; 4.5, fig. 4.18",
        WORSE,
        |view| {
            let on = view.saturn();
            on.time("pheet-original", LU, &SEVERAL) / on.time("linear", LU, &SEVERAL)
        },
    )
    .because(NO_BUS),
    Row::alike(
        "lu-48-yield",
        "One, two and four LUs on Saturn take as long with yields as with the linear backoff",
        "6.2, fig. 6.4; 4.5, fig. 4.18",
        |view| view.saturn().slower(&["yield"], &["linear"], LU, &SATURN),
    )
    .because(super::YIELDS),
    Row::above(
        "lu-48-none",
        "Without a backoff four LUs on Saturn lose more against the linear backoff than one",
        "6.2, fig. 6.4",
        WORSE,
        |view| {
            let on = view.saturn();
            let slower = |load| on.time("none", LU, &[load]) / on.time("linear", LU, &[load]);
            slower("48-4") / slower("48")
        },
    )
    .because(NO_BUS),
    Row::above(
        "lu-48-4-quanta",
        "Four LUs on Saturn take longer with either quanta than with the linear backoff",
        "6.2, fig. 6.4",
        SLIGHTLY,
        |view| {
            let on = view.saturn();
            let quanta = on.times(["quanta", "long-quanta"], LU, &["48-4"]);
            least(&quanta) / on.time("linear", LU, &["48-4"])
        },
    )
    .because(LATE),
    Row::alike(
        "lu-48-quanta",
        "LU alone on Saturn takes as long with either quanta as with the linear backoff (the \
         ratio farthest from 1)",
        "6.2, fig. 6.4",
        |view| {
            let on = view.saturn();
            let linear = on.time("linear", LU, &["48"]);
            let quanta = on.times(["quanta", "long-quanta"], LU, &["48"]);
            farthest(&quanta.map(|quanta| quanta / linear))
        },
    )
    .because(LATE),
];
