//! What hints of where tasks run are worth: section 5.3 of the thesis, and 5.2 on what places cost without them.

use tidegate::PlaceBy;
use tidegate_workloads::Size;
use tidegate_workloads::locality::Locality;

use crate::bench::places::{Row, rows};
use crate::reproduce::page::{Finding, Page, Section, Sheet};
use tidegate_command::failure::Failure;
use tidegate_command::output::{show_ratio, show_seconds};

/// Programs of the thesis, and how much longer they took in other localities than in the best.
pub(super) const PUBLISHED: [(&str, &[(Locality, f64)]); 3] = [
    (
        "cachestress",
        &[
            (Locality::Ignorant, 4.038 / 3.596),
            (Locality::Random, 4.030 / 3.596),
            (Locality::Worst, 3.982 / 3.596),
        ],
    ),
    (
        "mergesort",
        &[
            (Locality::Ignorant, 741.333 / 672.667),
            (Locality::Worst, 726.0 / 672.667),
        ],
    ),
    ("blockmatmul", &[(Locality::Worst, 5.075 / 4.724)]),
];

/// How much longer a program may take on several places that gives no hints: what its times differ by anyway.
const COMPARABLE: f64 = 1.1;

/// Adds what comes of it.
pub fn add(page: &mut Page, size: Size, runs: u32) -> Result<(), Failure> {
    let (rows, refusal) = rows(size, runs)?;
    page.findings.extend(findings(&rows));
    page.sections.push(section(&rows, refusal));
    Ok(())
}

/// The time of a program in a locality, by that in the best, with workers bound as in the thesis.
fn by_best(rows: &[Row], program: &str, locality: Locality) -> f64 {
    let seconds = |locality| {
        let mut rows = rows.iter().filter(|row| row.bound);
        let row = rows.find(|row| (row.program, row.locality) == (program, Some(locality)));
        row.and_then(Row::seconds).unwrap_or(f64::NAN)
    };
    seconds(locality) / seconds(Locality::Best)
}

/// The time of a program without hints on several places, by that on one.
fn by_one_place(rows: &[Row], program: &str) -> f64 {
    let seconds = |one: bool| {
        let mut rows = rows
            .iter()
            .filter(|row| row.bound && row.program == program);
        let row = rows.find(|row| (row.places == PlaceBy::Machine) == one);
        row.and_then(Row::seconds).unwrap_or(f64::NAN)
    };
    seconds(false) / seconds(true)
}

fn findings(rows: &[Row]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (program, published) in PUBLISHED {
        for &(locality, published) in published {
            findings.push(slower(
                program,
                locality,
                published,
                by_best(rows, program, locality),
            ));
        }
    }
    findings
        .extend(["fib", "quicksort"].map(|program| unhinted(program, by_one_place(rows, program))));
    findings
}

fn slower(program: &str, locality: Locality, published: f64, ratio: f64) -> Finding {
    Finding::new(
        format!(
            "{program}: the time in {} locality by that in the best",
            locality.name()
        ),
        show_ratio(published),
        show_ratio(ratio),
        ratio > 1.01,
        "Two packages with a cache each in the thesis. Where the processors share their last cache a place is worth what its own cache of the second level holds, which is small beside these data.",
    )
}

fn unhinted(program: &str, ratio: f64) -> Finding {
    Finding::new(
        format!(
            "{program}, which gives no hints: the time on a place for each worker by that on one place"
        ),
        format!(
            "comparable (here: {} to {})",
            show_ratio(1.0 / COMPARABLE),
            show_ratio(COMPARABLE)
        ),
        show_ratio(ratio),
        (1.0 / COMPARABLE..COMPARABLE).contains(&ratio),
        "A thief that looks at its own place first looks once more in vain where its place is itself. A larger difference in either direction is not explained by that.",
    )
}

fn section(rows: &[Row], refusal: Option<String>) -> Section {
    let unknown = || "-".to_owned();
    let row = |row: &Row| {
        let ratio = row
            .locality
            .filter(|_| row.bound)
            .map(|locality| show_ratio(by_best(rows, row.program, locality)));
        let [references, misses] = row
            .counts()
            .map(|count| count.map_or_else(unknown, |count| format!("{count:.0}")));
        vec![
            row.program.to_owned(),
            row.locality.map_or("no hints", Locality::name).to_owned(),
            row.places.to_string(),
            if row.bound { "yes" } else { "no" }.to_owned(),
            row.seconds().map_or_else(unknown, show_seconds),
            ratio.unwrap_or_else(unknown),
            references,
            misses,
        ]
    };
    let columns = [
        "program",
        "locality",
        "places",
        "bound",
        "time",
        "by best",
        "cache references",
        "last-level misses",
    ];
    let counters = refusal.map(|refusal| format!(" Nothing could be counted: {refusal}."));
    Section {
        title: "Localities".to_owned(),
        text: format!(
            "In the best locality a task runs where those before it touched its data, in the worst always elsewhere. A place for each worker, bound to a processor or not.{}",
            counters.unwrap_or_default()
        ),
        charts: vec![],
        tables: vec![Sheet {
            title: "Programs with hints and without".to_owned(),
            columns: columns.map(str::to_owned).into(),
            rows: rows.iter().map(row).collect(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_longer_elsewhere_agrees_and_what_does_not_does_not() {
        assert!(slower("mergesort", Locality::Worst, 1.08, 1.07).agrees);
        assert!(!slower("mergesort", Locality::Worst, 1.08, 0.98).agrees);
        assert!(!slower("mergesort", Locality::Worst, 1.08, f64::NAN).agrees);
        assert!(unhinted("fib", 1.02).agrees);
        assert!(!unhinted("fib", 1.3).agrees);
    }
}
