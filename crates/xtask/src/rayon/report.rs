//! Compares the output of a suite with what the table expects.

use super::table::{Excuse, Suite};
use crate::command::{Done, End};
use crate::libtest::Tests;
use crate::step::Outcome;

/// Passes if exactly the tests in the table were ignored or failed, and all others passed.
pub fn judge(suite: &Suite, done: &Done) -> Outcome {
    let tests = Tests::read(&done.text);
    let mut wrong: Vec<String> = incomplete(&tests, done).into_iter().collect();
    wrong.extend(compare("ignored", &tests.ignored, suite.ignored));
    wrong.extend(compare("failed", &tests.failed, suite.differ));
    let passed = tests.passed.len();
    if !wrong.is_empty() {
        let others = done.text.lines().filter(|line| !line.ends_with(" ... ok"));
        let others: Vec<&str> = others.collect();
        return Err(format!("{}\n{}", others.join("\n"), wrong.join("\n")).into());
    }
    let kinds = [
        ("ignored by rayon", suite.ignored),
        ("differs as intended", suite.differ),
    ];
    let excused = kinds.iter().flat_map(|(kind, excuses)| {
        let excused = excuses.iter();
        excused.map(move |(test, why)| format!("\n    {kind}: {test}: {why}"))
    });
    Ok(format!("tests: {passed}{}", excused.collect::<String>()))
}

/// Returns the reason if the output does not show how every test ended.
fn incomplete(tests: &Tests, done: &Done) -> Option<String> {
    let (started, ended) = (tests.started, tests.ended());
    match done.end {
        End::TimeOut => Some("stopped at the limit".to_string()),
        _ if started == 0 => Some("no test was started".to_string()),
        _ if ended != started => Some(format!("only {ended} of {started} tests ended")),
        End::Failure if tests.failed.is_empty() => Some("cargo failed, but no test".to_string()),
        _ => None,
    }
}

/// Returns the names that are in only one of the lists.
fn compare(what: &str, found: &[&str], expected: &[Excuse]) -> Vec<String> {
    let is_expected = |name: &&&str| expected.iter().any(|(test, _)| *test == **name);
    let more = found.iter().filter(|name| !is_expected(name));
    let more = more.map(|name| format!("{what}, and the table does not say why: {name}"));
    let fewer = expected.iter().filter(|(test, _)| !found.contains(test));
    let fewer = fewer.map(|(test, _)| format!("not {what}, so take it out of the table: {test}"));
    more.chain(fewer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Stop;

    #[rustfmt::skip]
    const SUITE: Suite = Suite {
        ignored: &[("b", "slow")], differ: &[("c", "better")], name: "", programs: "", help_any: false,
    };

    const GOOD: &str = "running 3 tests\ntest b ... ignored\ntest c ... FAILED\ntest d ... ok\n";

    fn report(end: End, text: &str) -> Outcome {
        let text = text.to_string();
        judge(&SUITE, &Done { end, text })
    }

    fn fails(end: End, text: &str, with: &[&str]) {
        let Err(Stop::Failed(report)) = report(end, text) else {
            panic!("passes: {text}");
        };
        for line in with {
            assert!(report.contains(line), "{report}");
        }
    }

    #[test]
    fn suite_passes_if_excuses_apply() {
        let expected =
            "tests: 1\n    ignored by rayon: b: slow\n    differs as intended: c: better";
        assert_eq!(report(End::Failure, GOOD).as_deref(), Ok(expected));
    }

    #[test]
    fn unneeded_excuse_is_an_error() {
        let text = "running 2 tests\ntest b ... ok\ntest c ... ok";
        let wrong = ["not ignored, so take it out of the table: b", "not failed"];
        fails(End::Success, text, &wrong);
    }

    #[test]
    fn unexcused_tests_are_named() {
        let text = format!("{GOOD}running 2 tests\ntest e ... FAILED\ntest f ... ignored");
        let wrong = ["failed, and the table does not say why: e", "why: f"];
        fails(End::Failure, &text, &wrong);
    }

    #[test]
    fn unfinished_suite_is_an_error() {
        let text = "running 2 tests\ntest e has been running for over 60 seconds";
        fails(
            End::TimeOut,
            text,
            &["test e has been running", "stopped at the limit"],
        );
        let text = "running 2 tests\ntest d ... ok\nerror: test failed (signal: 6)";
        fails(End::Failure, text, &["only 1 of 2 tests ended"]);
        fails(End::Failure, "error: no", &["no test was started"]);
    }
}
