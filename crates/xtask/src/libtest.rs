//! Reads the output of test programs.
//!
//! If a filter matches no test, the test program still succeeds, so the exit code alone proves
//! nothing. So every check that runs tests by name counts the tests.

use std::ops::RangeBounds;

use anyhow::ensure;

use crate::step::Outcome;

/// Returns the outcome of a test command: so many tests must have passed and failed, according to
/// the programs' last lines, and the command must have succeeded if none had to fail.
pub fn judge(
    (success, text): (bool, String),
    passed: impl RangeBounds<usize>,
    failed: usize,
) -> Outcome {
    let results = text.lines().filter(|it| it.contains("test result: "));
    let parts: Vec<&str> = results.flat_map(|it| it.split([';', '.'])).collect();
    let found = [" passed", " failed"].map(|result| {
        let counts = parts.iter().filter_map(|it| it.strip_suffix(result));
        counts.flat_map(|it| it.trim().parse::<usize>()).sum()
    });
    ensure!(success == (failed == 0), "{text}");
    let fits = passed.contains(&found[0]) && found[1] == failed;
    ensure!(
        fits,
        "{text}\n{found:?} tests passed and failed: correct the table"
    );
    Ok(format!("tests: {}", found[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_expected_tests_pass() {
        let judged = |success, text: &str| {
            let text = format!("test result: FAILED. 2 passed; 7 ignored\ntest result: ok. {text}");
            [(2, 0), (2, 1)]
                .map(|(least, failed)| judge((success, text.clone()), least..9, failed).is_ok())
        };
        assert_eq!(judged(true, "0 passed; 0 failed; in 0.5s"), [true, false]);
        assert_eq!(judged(true, "7 passed; 0 failed; in 0.5s"), [false, false]);
        assert_eq!(
            judged(false, "1 passed; 1 failed; 2 ignored"),
            [false, true]
        );
        assert_eq!(judged(false, "1 passed; 0 failed"), [false, false]);
    }
}
