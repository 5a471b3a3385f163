//! The experiments of several jobs on this machine, as `bench two-level` makes them.

use crate::arguments::{Experiment, Size};
use crate::bench::two_level::{Row, rows};
use crate::failure::Failure;
use crate::output::{show_ratio, show_seconds};
use crate::reproduce::page::{Finding, Page, Section, Setting, Sheet};

/// What differs less is alike.
const MORE: f64 = 1.02;

/// Adds what comes of it to the page.
pub fn add(page: &mut Page, size: Size, runs: u64) -> Result<(), Failure> {
    let only = [
        Experiment::Equal,
        Experiment::Late,
        Experiment::Complementary,
    ];
    let rows = rows(&only, size, runs as u32)?;
    let processors = rows.first().map_or(0, |row| row.processors);
    page.made.push(Setting::new("processors here", processors));
    page.findings.extend([
        finding(
            &rows,
            "equal",
            "P1 here: three equal jobs at once, power by that of static thirds",
            "1.239 (by static halves, for which the third job waits)",
        ),
        finding(
            &rows,
            "late",
            "P1 here: the third of three equal jobs comes half-way, power by that of static thirds",
            "1.012 (by static halves, for which the third job waits)",
        ),
        complementary(&rows),
    ]);
    page.sections.push(section(&rows));
    Ok(())
}

/// The rows of a case of fib with three jobs under two schemes, or of complementary phases.
fn both<'a>(rows: &'a [Row], experiment: &str, program: &str, jobs: usize) -> [&'a Row; 2] {
    ["tidegate", "static"].map(|scheme| {
        let row = rows.iter().find(|row| {
            row.experiment == experiment
                && row.scheme == scheme
                && row.jobs == jobs
                && row.program == program
        });
        row.expect("a row for each scheme of each case")
    })
}

fn finding(rows: &[Row], experiment: &str, what: &str, published: &str) -> Finding {
    let [ours, fixed] = both(rows, experiment, "fib", 3);
    let ratio = ours.power / fixed.power;
    Finding {
        what: what.to_owned(),
        published: published.to_owned(),
        ours: format!("{ratio:.3}"),
        agrees: ratio > MORE,
        why: "With two processors a static part is one processor for each of three jobs at once, which nobody waits for: the system divides the time, and there is nothing to gain by sharing."
            .to_owned(),
    }
}

fn complementary(rows: &[Row]) -> Finding {
    let [ours, fixed] = both(rows, "complementary", "phases + phases reversed", 2);
    let ratio = ours.mean_response / fixed.mean_response;
    Finding {
        what: "P2 here: two jobs with complementary phases, mean response by that of static halves".to_owned(),
        published: format!("{:.3}", 22.12 / 31.33),
        ours: format!("{ratio:.3}"),
        agrees: ratio < 1.0 / MORE,
        why: "With two processors a serial phase leaves one to the other job, which has that one already under static halves: there is nothing to gain by sharing.".to_owned(),
    }
}

fn section(rows: &[Row]) -> Section {
    let row = |row: &Row| {
        vec![
            format!("{} {}", row.experiment, row.jobs),
            row.program.clone(),
            row.scheme.to_owned(),
            show_seconds(row.mean_response),
            show_seconds(row.makespan),
            format!("{:.3}", row.power),
            show_ratio(row.makespan / row.ideal_makespan),
        ]
    };
    let columns = [
        "jobs",
        "program",
        "scheme",
        "mean response",
        "makespan",
        "power",
        "makespan by ideal",
    ];
    Section {
        title: "Here".to_owned(),
        text: "Each job a process. Static is an equal part of the processors each; off is all processors each, oversubscribed.".to_owned(),
        charts: vec![],
        tables: vec![Sheet {
            title: "Several jobs on this machine".to_owned(),
            columns: columns.map(str::to_owned).into(),
            rows: rows.iter().map(row).collect(),
        }],
    }
}
