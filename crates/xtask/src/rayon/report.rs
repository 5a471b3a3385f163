//! What a suite printed, compared with what the table expects of it.

use std::fmt;

use super::table::{Excuse, Kind};
use crate::command::{Done, End};
use crate::libtest::Tests;
use crate::step::Outcome;

/// How many tests came to what.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sum {
    passed: usize,
    failed: usize,
    left_out: usize,
    ignored: usize,
    differ: usize,
}

impl Sum {
    /// Adds the tests of another suite.
    pub fn add(&mut self, other: &Sum) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.left_out += other.left_out;
        self.ignored += other.ignored;
        self.differ += other.differ;
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} left out, {} ignored by rayon, {} differ as intended",
            self.passed, self.failed, self.left_out, self.ignored, self.differ
        )
    }
}

impl fmt::Display for Excuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::LeftOut => "left out",
            Kind::Ignored => "ignored by rayon",
            Kind::Differs => "differs as intended",
        };
        write!(f, "{kind}: {}: {}", self.test, self.why)
    }
}

/// Compares the output of a suite with its excuses.
pub fn judge(excuses: &[Excuse], done: &Done) -> (Sum, Outcome) {
    let tests = Tests::read(&done.text);
    let trouble = trouble(&tests, done);
    let (excused, unneeded): (Vec<&Excuse>, Vec<&Excuse>) = excuses
        .iter()
        .partition(|excuse| comes_true(excuse, &tests));
    // Of tests that had no chance to run it is not known.
    let unneeded = unneeded
        .into_iter()
        .filter(|excuse| trouble.is_none() || tests.passed.contains(&excuse.test));
    let unneeded = unneeded.map(|excuse| format!("this is not so, change the table: {excuse}"));
    let unexcused = |names: &[&str], kind: Kind| -> Vec<String> {
        let excused = |name: &str| excuses.iter().any(|e| e.test == name && e.kind == kind);
        let names = names.iter().filter(|name| !excused(name));
        names.map(|name| name.to_string()).collect()
    };
    let failed = unexcused(&tests.failed, Kind::Differs);
    let ignored = unexcused(&tests.ignored, Kind::Ignored);

    let count = |kind| excused.iter().filter(|excuse| excuse.kind == kind).count();
    let lost = tests.started.saturating_sub(tests.ended()).max(1);
    let sum = Sum {
        passed: tests.passed.len(),
        failed: failed.len() + trouble.as_ref().map_or(0, |_| lost),
        left_out: count(Kind::LeftOut),
        ignored: count(Kind::Ignored),
        differ: count(Kind::Differs),
    };
    let failed = failed.iter().map(|name| format!("failed: {name}"));
    let ignored = ignored
        .iter()
        .map(|name| format!("ignored without a row: {name}"));
    let wrong = trouble
        .clone()
        .into_iter()
        .chain(unneeded)
        .chain(failed)
        .chain(ignored);
    let wrong: Vec<String> = wrong.collect();
    let lines = |lines: Vec<String>| lines.join("\n    ");
    if wrong.is_empty() {
        let excused = excused.iter().map(ToString::to_string);
        let passed = lines([sum.to_string()].into_iter().chain(excused).collect());
        return (sum, Outcome::Passed(passed));
    }
    let others = done.text.lines().filter(|line| !line.ends_with(" ... ok"));
    let others: Vec<&str> = others.collect();
    let failed = format!("{}\n{}\n{sum}", others.join("\n"), wrong.join("\n"));
    (sum, Outcome::Failed(failed))
}

fn comes_true(excuse: &Excuse, tests: &Tests) -> bool {
    let lists = [&tests.passed, &tests.failed, &tests.ignored];
    let [_, failed, ignored] = lists.map(|list| list.contains(&excuse.test));
    match excuse.kind {
        Kind::LeftOut => !lists.iter().any(|list| list.contains(&excuse.test)),
        Kind::Ignored => ignored,
        Kind::Differs => failed,
    }
}

/// Why it is not known of every test how it ended.
fn trouble(tests: &Tests, done: &Done) -> Option<String> {
    let (started, ended) = (tests.started, tests.ended());
    match done.end {
        End::TimeOut => Some(format!(
            "stopped at the limit: {}",
            tests.hanging().join(", ")
        )),
        _ if started == 0 => Some("no test was started".to_string()),
        _ if ended != started => Some(format!("only {ended} of {started} tests ended")),
        End::Failure if tests.failed.is_empty() => Some("cargo failed, but no test".to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXCUSES: [Excuse; 3] = [
        excuse("a", Kind::LeftOut),
        excuse("b", Kind::Ignored),
        excuse("c", Kind::Differs),
    ];

    const fn excuse(test: &'static str, kind: Kind) -> Excuse {
        let why = "so";
        Excuse { test, kind, why }
    }

    /// The numbers of tests that passed and failed, and the report.
    fn report(end: End, text: &str) -> ([usize; 2], Outcome) {
        let text = text.to_string();
        let (sum, outcome) = judge(&EXCUSES, &Done { end, text });
        ([sum.passed, sum.failed], outcome)
    }

    fn fails(end: End, text: &str, with: &[&str]) -> [usize; 2] {
        let (counts, Outcome::Failed(report)) = report(end, text) else {
            panic!("passes: {text}");
        };
        for line in with {
            assert!(report.contains(line), "{report}");
        }
        counts
    }

    const GOOD: &str = "running 3 tests\ntest b ... ignored\ntest c ... FAILED\ntest d ... ok\n";

    #[test]
    fn a_suite_passes_if_every_excuse_comes_true() {
        let expected = "1 passed, 0 failed, 1 left out, 1 ignored by rayon, 1 differ as intended
    left out: a: so
    ignored by rayon: b: so
    differs as intended: c: so";
        let expected = Outcome::Passed(expected.to_string());
        assert_eq!(report(End::Failure, GOOD), ([1, 0], expected));
    }

    #[test]
    fn an_excuse_that_is_not_needed_is_wrong() {
        let text = "running 3 tests\ntest a ... ok\ntest b ... ok\ntest c ... ok";
        let wrong = [
            "not so, change the table: left out: a",
            "by rayon: b",
            "intended: c",
        ];
        assert_eq!(fails(End::Success, text, &wrong), [3, 0]);
    }

    #[test]
    fn failed_and_ignored_tests_without_an_excuse_are_named() {
        let text = format!("{GOOD}running 2 tests\ntest e ... FAILED\ntest f ... ignored");
        let wrong = ["failed: e", "ignored without a row: f"];
        assert_eq!(fails(End::Failure, &text, &wrong), [1, 1]);
    }

    #[test]
    fn a_suite_that_did_not_run_to_its_end_is_wrong() {
        let text = "running 2 tests\ntest d ... ok\ntest e has been running for over 60 seconds";
        assert_eq!(fails(End::TimeOut, text, &["the limit: e"]), [1, 1]);
        let text = "running 2 tests\ntest d ... ok\nerror: test failed (signal: 6)";
        assert_eq!(fails(End::Failure, text, &["only 1 of 2"]), [1, 1]);
        fails(End::Failure, "error: no", &["no test was started"]);
    }
}
