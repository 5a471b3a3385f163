//! Claims about how long and how often workers sleep under quanta, compared with the linear
//! backoff, on all processors of Mars (table 5.5).

use super::{Refuted, Results, Row};
use crate::reproduce::adaptive::medians::{Figure, View};

fn ratio(view: &View<'_, Results>, figure: Figure, work: &str) -> f64 {
    let at = |rule| view.mars().figure(figure, rule, work, "80");
    at("quanta") / at("linear")
}

const LENGTHS: &str = "How often a thief sleeps depends on how long it finds nothing, so on the lengths of \
    tasks, which the thesis does not print. Rows of failures are shorter here, and the \
    sleeps of the linear backoff begin shorter than those of quanta.";

// Each figure may differ from the published one by a factor of 1.37. In the table, the three
// programs sleep 0.33, 0.38 and 0.45 times as often, and 0.45 is 1.37 times 0.33.
pub const ROWS: &[Row<Results>] = &[
    Row::above(
        "nap-length",
        "A sleep takes 2.4 times as long under quanta as under the linear backoff, the mean \
         of LU and quicksort",
        "5.7, table 5.5",
        // The lower bound is sqrt(2.4). The upper bound, 3, is the ratio of the longest sleeps
        // under the two rules, 1.5 ms and 0.5 ms.
        1.55..=3.0,
        |view| {
            let length = |work| ratio(view, Figure::Asleep, work) / ratio(view, Figure::Naps, work);
            (length("lu") + length("quicksort")) / 2.0
        },
    )
    .published(2.40)
    .because(LENGTHS),
    Row::below(
        "naps-lu",
        "Workers of LU sleep 0.45 times as often under quanta",
        "5.7, table 5.5",
        0.33..=0.62,
        |view| ratio(view, Figure::Naps, "lu"),
    )
    .published(0.451)
    .because(LENGTHS),
    Row::below(
        "naps-quicksort",
        "Workers of quicksort sleep 0.33 times as often under quanta",
        "5.7, table 5.5",
        0.24..=0.45,
        |view| ratio(view, Figure::Naps, "quicksort"),
    )
    .published(0.329)
    .because(LENGTHS),
    Row::new(
        "asleep-lu",
        "Workers of LU sleep 1.08 times as long in all under quanta",
        "5.7, table 5.5",
        0.79..=1.48,
        Refuted::Outside(0.55, 2.0),
        |view| ratio(view, Figure::Asleep, "lu"),
    )
    .published(1.080)
    .because(LENGTHS),
    Row::new(
        "asleep-quicksort",
        "Workers of quicksort sleep 0.79 times as long in all under quanta",
        "5.7, table 5.5",
        0.58..=1.0,
        Refuted::AtLeast(1.08),
        |view| ratio(view, Figure::Asleep, "quicksort"),
    )
    .published(0.789)
    .because(LENGTHS),
];
