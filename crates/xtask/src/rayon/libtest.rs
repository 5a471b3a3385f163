//! The names in what test programs print.

/// The tests that an output names, in its order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tests<'a> {
    /// Those that passed.
    pub passed: Vec<&'a str>,
    /// Those that failed.
    pub failed: Vec<&'a str>,
    /// Those that were not run.
    pub ignored: Vec<&'a str>,
    /// Those that were called slow while they ran.
    slow: Vec<&'a str>,
}

impl<'a> Tests<'a> {
    /// Reads them from the output.
    pub fn read(output: &'a str) -> Tests<'a> {
        let mut tests = Tests::default();
        // What a test writes past libtest may stand between its name and its result.
        let mut open = None;
        for line in output.lines() {
            let named = line
                .strip_prefix("test ")
                .and_then(|rest| rest.split_once(" ... "));
            if let Some((name, _)) = named {
                open = Some(name_of(name));
            } else if let Some(name) = slow(line) {
                tests.slow.push(name);
            }
            let list = match named.map_or(line, |(_, result)| result) {
                "ok" => &mut tests.passed,
                "FAILED" => &mut tests.failed,
                result if result == "ignored" || result.starts_with("ignored, ") => {
                    &mut tests.ignored
                }
                _ => continue,
            };
            list.extend(open.take());
        }
        tests
    }

    /// How many have come to an end.
    pub fn ended(&self) -> usize {
        self.passed.len() + self.failed.len() + self.ignored.len()
    }

    /// Those that were called slow and have not come to an end.
    pub fn hanging(&self) -> Vec<&'a str> {
        let ended = |name: &&str| self.passed.contains(name) || self.failed.contains(name);
        let hanging = self.slow.iter().filter(|name| !ended(name));
        hanging.copied().collect()
    }
}

/// The name of a test without what libtest says about its kind.
fn name_of(shown: &str) -> &str {
    let kinds = [" - should panic", " - compile fail", " - compile"];
    let mut bare = kinds.iter().filter_map(|kind| shown.strip_suffix(kind));
    bare.next().unwrap_or(shown)
}

/// The test that the line calls slow.
fn slow(line: &str) -> Option<&str> {
    let named = line.strip_prefix("test ")?;
    let (name, _) = named.split_once(" has been running for over ")?;
    Some(name_of(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_is_read_with_its_name() {
        let output = "running 6 tests
test a::b ... ok
test c - should panic ... FAILED
test src/d.rs - d (line 3) - compile fail ... ok
test e ... ignored
test f ... ignored, needs a net
test g has been running for over 60 seconds
test result: FAILED. 2 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out";
        let tests = Tests::read(output);
        assert_eq!(tests.passed, ["a::b", "src/d.rs - d (line 3)"]);
        assert_eq!(tests.failed, ["c"]);
        assert_eq!(tests.ignored, ["e", "f"]);
        assert_eq!(tests.ended(), 5);
        assert_eq!(tests.hanging(), ["g"]);
    }

    #[test]
    fn what_a_test_prints_before_its_result_is_passed_over() {
        let tests =
            Tests::read("test a ... thread 'x' panicked at a.rs:1:1:\noh\nok\ntest b ... ok");
        assert_eq!(tests.passed, ["a", "b"]);
        assert_eq!(Tests::read("ok\nFAILED"), Tests::default());
    }

    #[test]
    fn a_slow_test_that_ends_does_not_hang() {
        let tests = Tests::read("test a has been running for over 60 seconds\ntest a ... ok");
        assert_eq!(tests.hanging(), [""; 0]);
    }
}
