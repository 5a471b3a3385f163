//! Places on this machine: what programs gain from hints, and what places cost programs without
//! hints.

use std::ops::RangeInclusive;

use tidegate_workloads::locality::Locality;

use super::{Contender, EXTRAS, HINTED, Measured, Ran, SUITE};
use crate::arguments::Size;
use crate::engine::ratios::{self, geometric_mean, of_ratios};
use crate::engine::{Claim, Refuted, Sample, Verdict};
use crate::reproduce::page::{Finding, Section};
use tidegate_command::output::{Table, Value, show_ratio};

/// A published time. The fields are the program, the locality, the table, the time relative to the
/// best locality, and the range that agrees.
type Published = (
    &'static str,
    Locality,
    &'static str,
    f64,
    RangeInclusive<f64>,
);

const LOCALITIES: [Published; 6] = [
    (
        "cachestress",
        Locality::Ignorant,
        "table 5.1",
        1.123,
        1.06..=1.25,
    ),
    (
        "cachestress",
        Locality::Random,
        "table 5.1",
        1.121,
        1.06..=1.24,
    ),
    (
        "cachestress",
        Locality::Worst,
        "table 5.1",
        1.107,
        1.05..=1.21,
    ),
    (
        "mergesort",
        Locality::Ignorant,
        "table 5.3",
        1.102,
        1.05..=1.20,
    ),
    (
        "mergesort",
        Locality::Worst,
        "table 5.3",
        1.079,
        1.04..=1.16,
    ),
    (
        "blockmatmul",
        Locality::Worst,
        "table 5.5",
        1.074,
        1.04..=1.15,
    ),
];

pub fn findings(measured: &Measured, several_caches: bool) -> Vec<Finding> {
    let hinted = LOCALITIES
        .iter()
        .map(|published| locality(measured, published, several_caches));
    hinted.chain([unhinted(measured)]).collect()
}

fn locality(
    measured: &Measured,
    (program, locality, source, published, agrees): &Published,
    several_caches: bool,
) -> Finding {
    let seconds = |locality| measured.seconds(program, Contender::Hinted(locality));
    let name = locality.name();
    Claim::new(
        format!("{program} time, {name}, this machine"),
        format!("{program} takes {published:.2} times as long with {name} locality as with the best"),
        *source,
        agrees.clone(),
        Refuted::AtMost(1.01),
    )
    .published(*published)
    .finding(seconds(*locality).over(&seconds(Locality::Best)), show_ratio)
    .because(if several_caches { "Each place has a last-level cache. How large it is compared with the data decides the size of the effect." } else {
            "The thesis has two packages with a cache each. All processors of this machine share \
             their last cache, so a difference here is not one of locality."
        })
    .unless(measured.size == Size::Tiny, Verdict::TooSmall)
    .unless(!several_caches, Verdict::CannotTell)
}

fn unhinted(measured: &Measured) -> Finding {
    let pair = |program| {
        [Contender::PlaceEach, Contender::OnePlace]
            .map(|contender| measured.seconds(program, contender))
    };
    Claim::new(
        "no hints, this machine",
        "Programs without hints take as long on a place for each worker as on one place (within \
         10 %), as the geometric mean of the seven Java Grande programs",
        "figure 5.1, section 5.2",
        0.9..=1.1,
        Refuted::Outside(0.8, 1.25),
    )
    .finding(of_ratios(&ratios::measured(SUITE.map(pair)), geometric_mean), show_ratio)
    .because(
        "The thesis calls the times comparable and prints no figures; 10 % is what the best three \
         of ten runs can tell apart. A thief looks at its own place first, once more in vain if the \
         place is itself. What caches are worth cannot be told where all share one.",
    )
    .unless(measured.size == Size::Tiny, Verdict::TooSmall)
    .unless(measured.has_few_runs(), Verdict::CannotTell)
}

pub fn sections(measured: &Measured) -> Vec<Section> {
    vec![Section {
        title: "Places on this machine".to_owned(),
        text: "Programs with hints in each locality, each place a last-level cache if there are \
               several and a worker if not, with workers bound to CPUs; and programs without hints \
               on a place for each worker and on one place."
            .to_owned(),
        charts: vec![],
        tables: vec![hinted_table(measured), unhinted_table(measured)],
    }]
}

fn hinted_table(measured: &Measured) -> Table {
    let columns = ["program", "locality", "time", "by best", "steals"];
    let mut table = Table::new(columns).titled("Programs with hints");
    for program in HINTED {
        for locality in Locality::ALL {
            let sample = |locality, figure: fn(&Ran) -> f64| {
                measured.sample(program, Contender::Hinted(locality), figure)
            };
            let seconds = |locality| sample(locality, |ran| ran.seconds);
            table.row([
                program.into(),
                locality.name().into(),
                median(&seconds(locality), Value::Seconds),
                ratio(&seconds(locality), &seconds(Locality::Best)),
                median(&sample(locality, |ran| ran.steals), Value::Number),
            ]);
        }
    }
    table
}

fn unhinted_table(measured: &Measured) -> Table {
    let columns = ["program", "one place", "a place for each worker", "ratio"];
    let mut table = Table::new(columns).titled("Programs without hints");
    for program in SUITE.into_iter().chain(EXTRAS) {
        let one = measured.seconds(program, Contender::OnePlace);
        let each = measured.seconds(program, Contender::PlaceEach);
        table.row([
            program.into(),
            median(&one, Value::Seconds),
            median(&each, Value::Seconds),
            ratio(&each, &one),
        ]);
    }
    table
}

/// Formats a sample's median as a table cell.
pub fn median(sample: &Sample, unit: fn(f64) -> Value) -> Value {
    Value::known(Some(sample.median()), unit)
}

fn ratio(sample: &Sample, other: &Sample) -> Value {
    Value::known(Some(sample.over(other).value), Value::Ratio)
}

#[cfg(test)]
mod tests {
    use super::super::tests::measured;
    use super::*;

    fn verdicts(factor: f64, several_caches: bool) -> Vec<Verdict> {
        let measured = measured(Size::Paper, |_, contender| Ran {
            seconds: match contender {
                Contender::Hinted(Locality::Best) | Contender::OnePlace => 1.0,
                _ => factor,
            },
            ..Ran::default()
        });
        let findings = findings(&measured, several_caches);
        findings.iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn judging_localities_needs_several_caches() {
        let verdicts = |factor, several| verdicts(factor, several)[..LOCALITIES.len()].to_vec();
        assert_eq!(verdicts(1.1, true), [Verdict::Agrees; 6]);
        assert_eq!(verdicts(1.0, true), [Verdict::Contradicts; 6]);
        assert_eq!(verdicts(1.1, false), [Verdict::CannotTell; 6]);
    }

    #[test]
    fn places_that_cost_time_contradict() {
        assert_eq!(verdicts(1.05, false).last(), Some(&Verdict::Agrees));
        assert_eq!(verdicts(1.3, false).last(), Some(&Verdict::Contradicts));
    }
}
