//! What a run of `cargo test` says about itself.
//!
//! A filter that matches nothing exits with success, so an exit code alone proves nothing: every check that runs named
//! tests counts them.

use crate::command::{Cmd, Done};
use crate::step::Outcome;

/// How many tests were started, passed and failed, over all test programs of a run.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Tests that were started.
    pub started: usize,
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed, without those that took their whole program with them.
    pub failed: usize,
}

impl Counts {
    /// Reads them from the output.
    pub fn read(output: &str) -> Counts {
        let mut counts = Counts::default();
        for line in output.lines() {
            if let Some(rest) = line.strip_prefix("running ") {
                counts.started += number_before(rest, " test");
            } else if let Some(rest) = line.strip_prefix("test result: ") {
                counts.passed += number_before(rest, " passed");
                counts.failed += number_before(rest, " failed");
            }
        }
        counts
    }
}

/// The number that stands right before `word`, or 0.
fn number_before(text: &str, word: &str) -> usize {
    let before = text.split_once(word).map_or("", |(before, _)| before);
    before
        .rsplit(' ')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

/// Runs a test command that must start at least one test and pass.
pub fn pass(command: Cmd) -> Outcome {
    command.run().map(|done| judge(&done)).into()
}

/// What the run of a test command means that must start at least one test and pass.
pub fn judge(done: &Done) -> Outcome {
    judge_at_least(done, 1)
}

/// What the run of a test command means that must start at least `least` tests and pass.
pub fn judge_at_least(done: &Done, least: usize) -> Outcome {
    let counts = Counts::read(&done.text);
    match counts.passed {
        _ if !done.success() => Outcome::Failed(done.text.clone()),
        few if few < least => Outcome::Failed(format!(
            "{}\n{few} of at least {least} tests have such names: correct the table",
            done.text
        )),
        1 => Outcome::Passed("1 test".to_string()),
        many => Outcome::Passed(format!("{many} tests")),
    }
}

/// The names of the tests that failed.
pub fn failed_names(output: &str) -> Vec<&str> {
    let lines = output
        .lines()
        .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::End;

    const TWO_PROGRAMS: &str = "running 2 tests
test a ... ok
test b::c ... FAILED
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 8 filtered out; finished in 0.02s
running 1 test
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";

    fn done(end: End, text: &str) -> Outcome {
        judge(&Done {
            end,
            text: text.to_string(),
        })
    }

    #[test]
    fn counts_are_summed_over_the_test_programs() {
        assert_eq!(
            Counts::read(TWO_PROGRAMS),
            Counts {
                started: 3,
                passed: 2,
                failed: 1
            }
        );
        assert_eq!(failed_names(TWO_PROGRAMS), ["b::c"]);
    }

    #[test]
    fn success_without_a_test_is_a_failure() {
        let nothing = "running 0 tests\ntest result: ok. 0 passed; 0 failed; 0 ignored";
        assert!(matches!(done(End::Success, nothing), Outcome::Failed(_)));
        let one = "running 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored";
        assert_eq!(
            done(End::Success, one),
            Outcome::Passed("1 test".to_string())
        );
        assert!(matches!(done(End::TimeOut, one), Outcome::Failed(_)));
    }
}
