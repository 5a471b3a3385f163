//! What a suite printed, beside what the table expects of it.

use std::fmt;

use super::table::{Excuse, Kind, Suite};
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

    fn count(&mut self, kind: Kind) -> &mut usize {
        match kind {
            Kind::LeftOut => &mut self.left_out,
            Kind::Ignored => &mut self.ignored,
            Kind::Differs => &mut self.differ,
        }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sum {
            passed,
            failed,
            left_out,
            ignored,
            differ,
        } = self;
        write!(
            f,
            "{passed} passed, {failed} failed, {left_out} left out, {ignored} ignored by rayon, {differ} differ as intended"
        )
    }
}

/// What became of a suite.
pub struct Report {
    /// Its tests in numbers.
    pub sum: Sum,
    /// A line for every test that does not pass and has a reason.
    excused: Vec<String>,
    /// A line for everything that is not as it must be.
    wrong: Vec<String>,
    /// What it printed about everything else than tests that passed.
    output: String,
}

impl Report {
    /// Compares what the suite printed with its excuses.
    pub fn new(suite: &Suite, done: &Done) -> Report {
        let tests = Tests::read(&done.text);
        let others = done.text.lines().filter(|line| !line.ends_with(" ... ok"));
        let mut report = Report {
            sum: Sum::default(),
            excused: Vec::new(),
            wrong: Vec::new(),
            output: others.collect::<Vec<_>>().join("\n"),
        };
        let excuses = || suite.excused.iter().copied().flatten();
        let excused = |name: &str, kind: Kind| {
            excuses().any(|excuse| excuse.test == name && excuse.kind == kind)
        };
        let complete = report.complete(&tests, done);
        for excuse in excuses() {
            report.apply(excuse, &tests, complete);
        }
        report.sum.passed = tests.passed.len();
        for name in &tests.failed {
            if !excused(name, Kind::Differs) {
                report.sum.failed += 1;
                report.wrong.push(format!("failed: {name}"));
            }
        }
        for name in &tests.ignored {
            if !excused(name, Kind::Ignored) {
                let advice = "say in the table why rayon does not run it";
                report.wrong.push(format!("ignored: {name}: {advice}"));
            }
        }
        report
    }

    /// Whether every test that was started has ended, and there were any. One that has not is counted as failed.
    fn complete(&mut self, tests: &Tests, done: &Done) -> bool {
        let started = tests.started;
        let trouble = match done.end {
            End::TimeOut => {
                let names = match tests.hanging() {
                    hanging if hanging.is_empty() => "see the end of the log".to_string(),
                    hanging => hanging.join(", "),
                };
                format!("stopped at the limit; what was running: {names}")
            }
            _ if started == 0 => "no test was started".to_string(),
            _ if tests.ended() != started => format!(
                "of {started} tests that were started {} came to an end: one took its program with it",
                tests.ended()
            ),
            End::Failure if tests.failed.is_empty() => {
                "cargo failed although no test did".to_string()
            }
            _ => return true,
        };
        self.wrong.push(trouble);
        self.sum.failed += started.saturating_sub(tests.ended()).max(1);
        false
    }

    /// Whether the excuse comes true. Of tests that had no chance to run that is not known.
    fn apply(&mut self, excuse: &Excuse, tests: &Tests, complete: bool) {
        let Excuse { test, kind, why } = excuse;
        let (true_now, line) = match kind {
            Kind::LeftOut => {
                let lists = [&tests.passed, &tests.failed, &tests.ignored];
                (
                    !lists.iter().any(|list| list.contains(test)),
                    format!("left out: {test}: {why} is private"),
                )
            }
            Kind::Ignored => (
                tests.ignored.contains(test),
                format!("ignored by rayon: {test}: {why}"),
            ),
            Kind::Differs => (
                tests.failed.contains(test),
                format!("differs as intended: {test}: {why}"),
            ),
        };
        if true_now {
            *self.sum.count(*kind) += 1;
            self.excused.push(line);
        } else if complete || tests.passed.contains(test) {
            self.wrong.push(format!(
                "take this row out of the table, it is not so: {line}"
            ));
        }
    }

    /// The same as the outcome of a check.
    pub fn outcome(&self) -> Outcome {
        let sum = self.sum.to_string();
        let lines = self.excused.iter().chain(&self.wrong);
        let lines: Vec<&str> = lines.map(String::as_str).collect();
        if self.wrong.is_empty() {
            let all = [&[sum.as_str()], lines.as_slice()].concat();
            return Outcome::Passed(all.join("\n    "));
        }
        Outcome::Failed(format!("{}\n{}\n{sum}", self.output, lines.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXCUSES: &[Excuse] = &[
        Excuse {
            test: "a",
            kind: Kind::LeftOut,
            why: "p",
        },
        Excuse {
            test: "b",
            kind: Kind::Ignored,
            why: "slow",
        },
        Excuse {
            test: "c",
            kind: Kind::Differs,
            why: "better",
        },
    ];

    const SUITE: Suite = Suite {
        name: "s",
        programs: "",
        setting: None,
        excused: &[EXCUSES],
    };

    fn report(end: End, text: &str) -> Report {
        let text = text.to_string();
        Report::new(&SUITE, &Done { end, text })
    }

    #[test]
    fn a_suite_passes_when_every_excuse_comes_true_and_everything_else_passes() {
        let good = report(
            End::Failure,
            "running 3 tests\ntest b ... ignored\ntest c ... FAILED\ntest d ... ok",
        );
        assert_eq!(good.wrong, [""; 0]);
        assert_eq!(
            good.outcome(),
            Outcome::Passed(
                "1 passed, 0 failed, 1 left out, 1 ignored by rayon, 1 differ as intended
    left out: a: p is private
    ignored by rayon: b: slow
    differs as intended: c: better"
                    .to_string()
            )
        );
    }

    #[test]
    fn an_excuse_that_is_not_needed_is_wrong() {
        let text = "running 3 tests\ntest a ... ok\ntest b ... ok\ntest c ... ok";
        let wrong = report(End::Success, text).wrong;
        assert_eq!(wrong.len(), 3);
        assert!(wrong.iter().all(|line| line.starts_with("take this row")));
    }

    #[test]
    fn a_test_that_fails_or_is_ignored_without_an_excuse_is_named() {
        let text = "running 4 tests\ntest b ... ignored\ntest c ... FAILED\ntest d ... FAILED\ntest e ... ignored";
        let report = report(End::Failure, text);
        assert!(report.wrong[0].starts_with("failed: d"));
        assert!(report.wrong[1].starts_with("ignored: e"));
        assert_eq!(report.wrong.len(), 2);
        assert_eq!((report.sum.failed, report.sum.differ), (1, 1));
    }

    #[test]
    fn a_suite_that_did_not_run_to_its_end_is_wrong_and_says_what_ran() {
        let hanging = report(
            End::TimeOut,
            "running 2 tests\ntest d ... ok\ntest e has been running for over 60 seconds",
        );
        assert_eq!(hanging.wrong, ["stopped at the limit; what was running: e"]);
        assert_eq!((hanging.sum.passed, hanging.sum.failed), (1, 1));
        let text = "running 2 tests\ntest d ... ok\nerror: test failed (signal: 6)";
        assert!(report(End::Failure, text).wrong[0].starts_with("of 2 tests"));
        assert_eq!(
            report(End::Failure, "error: no").wrong,
            ["no test was started"]
        );
    }
}
