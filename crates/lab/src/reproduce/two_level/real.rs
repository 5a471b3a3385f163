//! The experiments of several jobs on this machine, as `bench two-level` makes them.

use crate::arguments::{Experiment, Size};
use crate::bench::two_level::{Row, rows};
use crate::reproduce::page::{Finding, Page, Section, Setting, Sheet};
use tidegate_command::failure::Failure;
use tidegate_command::output::{show_ratio, show_seconds};

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
        thirds(
            &rows,
            "equal",
            "P1 here: three equal jobs at once, power by that of static thirds",
            "1.239 (by static halves, for which the third job waits)",
        ),
        thirds(
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

fn thirds(rows: &[Row], experiment: &str, what: &str, published: &str) -> Finding {
    let both = both(rows, experiment, "fib", 3);
    let reason = reason(
        both,
        "With two processors a static part is one processor for each of three jobs at once, which nobody waits for: the system divides the time, and there is nothing to gain by sharing.",
    );
    power(what, published, both.map(|row| row.power), reason)
}

/// Ours and that of static parts.
fn power(what: &str, published: &str, [ours, fixed]: [f64; 2], reason: String) -> Finding {
    let ratio = ours / fixed;
    Finding::new(
        what,
        format!("{published}; here: more than {}", show_ratio(MORE)),
        format!("{ratio:.3}"),
        ratio > MORE,
        reason,
    )
}

fn complementary(rows: &[Row]) -> Finding {
    let both = both(rows, "complementary", "phases + phases reversed", 2);
    let reason = reason(
        both,
        "With two processors a serial phase leaves one to the other job, which has that one already under static halves: there is nothing to gain by sharing.",
    );
    response(both.map(|row| row.mean_response), reason)
}

/// Ours and that of static halves, in seconds.
fn response([ours, fixed]: [f64; 2], reason: String) -> Finding {
    let ratio = ours / fixed;
    Finding::new(
        "P2 here: two jobs with complementary phases, mean response by that of static halves",
        format!(
            "{:.3}; here: less than {}",
            22.12 / 31.33,
            show_ratio(1.0 / MORE)
        ),
        format!("{ratio:.3}"),
        ratio < 1.0 / MORE,
        reason,
    )
}

/// So many seconds take jobs at least for which it matters how they share: the system lets a process run on for some milliseconds before it lets another.
const LONG: f64 = 0.1;

/// Why there is no gain: on two processors this, if the jobs are long enough and there is no loss either.
fn reason([ours, fixed]: [&Row; 2], on_two: &str) -> String {
    let responses = [ours.mean_response, fixed.mean_response];
    if responses[1] < LONG {
        return format!(
            "These jobs end after {}: which of their processes the system lets run first, and how soon it wakes a worker, is all that is seen.",
            responses.map(show_seconds).join(" and ")
        );
    }
    let loss = responses[0] > LOSS * responses[1];
    match (fixed.processors, loss) {
        (2, false) => on_two.to_owned(),
        (processors, _) => format!(
            "Not known. On {processors} processors the mean response is {} with sharing, {} with static parts; the table below has the other schemes.",
            show_seconds(responses[0]),
            show_seconds(responses[1])
        ),
    }
}

/// A mean response so many times as long is more than no gain.
const LOSS: f64 = 1.1;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_above_that_of_static_parts_agrees_and_as_much_does_not() {
        let agrees = |ours| power("what", "1.2", [ours, 2.0], String::new()).agrees;
        assert!(agrees(2.1));
        assert!(!agrees(2.0 * (1.0 + MORE) / 2.0));
        assert!(!agrees(f64::NAN));
    }

    #[test]
    fn a_response_below_that_of_static_halves_agrees_and_as_long_a_one_does_not() {
        let agrees = |ours| response([ours, 2.0], String::new()).agrees;
        assert!(agrees(1.9));
        assert!(!agrees(2.0 * (1.0 + 1.0 / MORE) / 2.0));
        assert!(!agrees(f64::NAN));
    }
}
