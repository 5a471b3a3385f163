//! Runs named checks one after another. Each check prints one line, and the counts follow at the
//! end.

use std::time::Instant;

/// How many lines are shown from the end of a failed check's output. The log has all of them.
const SHOWN_LINES: usize = 200;

/// The result of a check: what it covered, or why it did not pass.
pub type Outcome = Result<String, Stop>;

#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The output of the failed check.
    Failed(String),
    /// The reason why the check could not run.
    Skipped(String),
}

impl<T: Into<String>> From<T> for Stop {
    fn from(trouble: T) -> Stop {
        Stop::Failed(trouble.into())
    }
}

#[derive(Default)]
pub struct Tally {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

impl Tally {
    /// Runs a check and prints its line.
    pub fn run(&mut self, name: &str, check: impl FnOnce() -> Outcome) {
        let start = Instant::now();
        let outcome = check();
        let seconds = start.elapsed().as_secs_f64();
        let (word, count, why) = match &outcome {
            Ok(detail) => ("ok", &mut self.passed, detail.as_str()),
            Err(Stop::Failed(_)) => ("FAILED", &mut self.failed, ""),
            Err(Stop::Skipped(why)) => ("skipped", &mut self.skipped, why.as_str()),
        };
        *count += 1;
        let line = format!("{word:<8}{name:<34}{seconds:>7.1} s  {why}");
        println!("{}", line.trim_end());
        if let Err(Stop::Failed(output)) = outcome {
            println!("{}", last_lines(&output, SHOWN_LINES));
        }
    }

    /// Prints the counts. Returns true if no check failed.
    pub fn close(&self) -> bool {
        let (passed, failed, skipped) = (self.passed, self.failed, self.skipped);
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        failed == 0
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines = text.trim_end().lines();
    let left_out = lines.clone().count().saturating_sub(count);
    let cut = format!("    ({left_out} lines before these are in the log)");
    let shown = lines.skip(left_out).map(|line| format!("    {line}"));
    let cut = (left_out > 0).then_some(cut).into_iter();
    cut.chain(shown).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_makes_the_whole_fail() {
        let mut tally = Tally::default();
        tally.run("good", || Ok(String::new()));
        tally.run("absent", || Err(Stop::Skipped("no toolchain".to_string())));
        assert!(tally.close());
        tally.run("bad", || Err("what it printed".into()));
        assert!(!tally.close());
        assert_eq!((tally.passed, tally.failed, tally.skipped), (1, 1, 1));
    }
}
