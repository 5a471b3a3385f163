//! Parses the output of test programs.
//!
//! If a filter matches no test, the test program still succeeds, so the exit code alone proves
//! nothing. So every check that runs tests by name counts the tests.

use crate::command::{Cmd, Done};
use crate::step::Outcome;

/// The tests named in a test program's output, in order. A test that crashed the program counts
/// only as started.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tests<'a> {
    pub started: usize,
    pub passed: Vec<&'a str>,
    pub failed: Vec<&'a str>,
    pub ignored: Vec<&'a str>,
}

impl<'a> Tests<'a> {
    pub fn read(output: &'a str) -> Tests<'a> {
        let mut tests = Tests::default();
        // Between a test's name and its result, the test may print output that libtest doesn't
        // capture.
        let mut open = None;
        for line in output.lines() {
            if let Some(rest) = line.strip_prefix("running ") {
                let number = rest.split(" test").next().map(str::parse);
                tests.started += number.and_then(Result::ok).unwrap_or(0);
            }
            let test = line.strip_prefix("test ").unwrap_or_default();
            let named = test.split_once(" ... ");
            if let Some((name, _)) = named {
                open = Some(name_of(name));
            }
            let result = named.map_or(line, |(_, result)| result);
            let list = match result.split_once(", ").map_or(result, |(word, _)| word) {
                "ok" => &mut tests.passed,
                "FAILED" => &mut tests.failed,
                "ignored" => &mut tests.ignored,
                _ => continue,
            };
            list.extend(open.take());
        }
        tests
    }

    pub fn ended(&self) -> usize {
        self.passed.len() + self.failed.len() + self.ignored.len()
    }
}

fn name_of(shown: &str) -> &str {
    let kinds = [" - should panic", " - compile fail", " - compile"];
    let mut bare = kinds.iter().filter_map(|kind| shown.strip_suffix(kind));
    bare.next().unwrap_or(shown)
}

/// Runs a test command that must start at least one test and pass.
pub fn pass(command: Cmd) -> Outcome {
    judge(&command.run()?, 1)
}

/// Returns the outcome of a test command. At least `least` tests must have run, and all must have
/// passed.
pub fn judge(done: &Done, least: usize) -> Outcome {
    let passed = Tests::read(&done.text).passed.len();
    if !done.success() {
        return Err(done.text.clone().into());
    }
    if passed < least {
        let advice = format!("{passed} of at least {least} tests have such names");
        return Err(format!("{}\n{advice}: correct the table", done.text).into());
    }
    Ok(format!("tests: {passed}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::End;

    #[test]
    fn every_result_has_its_name() {
        let output = "running 5 tests
test a::b ... ok
test c - should panic ... FAILED
test src/d.rs - d (line 3) - compile fail ... ok
test e ... ignored
running 1 test
test f ... ignored, needs a net
test result: FAILED. 2 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out";
        let tests = Tests::read(output);
        assert_eq!(tests.passed, ["a::b", "src/d.rs - d (line 3)"]);
        assert_eq!(tests.failed, ["c"]);
        assert_eq!(tests.ignored, ["e", "f"]);
        assert_eq!((tests.started, tests.ended()), (6, 5));
    }

    #[test]
    fn test_output_may_precede_its_result() {
        let output = "test a ... thread 'x' panicked at a.rs:1:1:\noh\nok\ntest b ... ok";
        assert_eq!(Tests::read(output).passed, ["a", "b"]);
        assert_eq!(Tests::read("ok\nFAILED"), Tests::default());
    }

    #[test]
    fn success_without_tests_is_failure() {
        let judged = |end, text: &str| {
            let text = text.to_string();
            judge(&Done { end, text }, 1).is_ok()
        };
        assert!(!judged(End::Success, "running 0 tests"));
        assert!(judged(End::Success, "test a ... ok"));
        assert!(!judged(End::TimeOut, "test a ... ok"));
    }
}
