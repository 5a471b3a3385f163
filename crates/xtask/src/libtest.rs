//! Reads the output of test programs.
//!
//! If a filter matches no test, the test program still succeeds, so the exit code alone proves
//! nothing. So every check that runs tests by name counts the tests.

use anyhow::ensure;

use crate::command::Cmd;
use crate::step::Outcome;

/// Returns how many tests `passed` or `failed`, according to the programs' last lines. A program
/// that crashed has none.
pub fn count(output: &str, result: &str) -> usize {
    let lines = output
        .lines()
        .filter_map(|it| it.split_once("test result: "));
    let counts = lines.flat_map(|it| it.1.split([';', '.']));
    let counts =
        counts.filter_map(|it| it.trim().strip_suffix(result)?.trim().parse::<usize>().ok());
    counts.sum()
}

/// Runs a test command that must run at least one test and pass.
pub fn pass(command: Cmd) -> Outcome {
    judge(command.run()?, 1)
}

/// Returns the outcome of a test command. At least `least` tests must have run, and all must have
/// passed.
pub fn judge((success, text): (bool, String), least: usize) -> Outcome {
    let passed = count(&text, "passed");
    let advice = "tests have such names: correct the table";
    ensure!(success, "{text}");
    ensure!(
        passed >= least,
        "{text}\n{passed} of at least {least} {advice}"
    );
    Ok(format!("tests: {passed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_without_tests_is_failure() {
        let judged = |success, passed| {
            let text = format!("test result: ok. {passed} passed; 7 ignored; finished in 0.5s\n");
            judge((success, text.repeat(2)), 2).is_ok()
        };
        assert!(judged(true, 1));
        assert!(!judged(true, 0));
        assert!(!judged(false, 1));
    }
}
