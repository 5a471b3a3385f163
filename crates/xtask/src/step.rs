//! Runs named checks one after another. Each check prints one line, and the counts follow at the
//! end.

use std::fmt;
use std::time::Instant;

/// How many lines are shown from the end of a failed check's output. The log has all of them.
const SHOWN_LINES: usize = 200;

/// The result of a check: what it covered, or why it did not pass.
pub type Outcome = anyhow::Result<String>;

/// The error of a check that cannot run on this machine, with the reason.
#[derive(Debug)]
pub struct Skipped(pub String);

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Default)]
pub struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Tally {
    /// Runs a check and prints its line. Returns whether it passed.
    pub fn run(&mut self, name: &str, check: impl FnOnce() -> Outcome) -> bool {
        let start = Instant::now();
        let outcome = check();
        let seconds = start.elapsed().as_secs_f64();
        let passed = outcome.is_ok();
        let (word, count, why) = match outcome {
            Ok(detail) => ("ok", &mut self.passed, detail),
            Err(why) if why.is::<Skipped>() => ("skipped", &mut self.skipped, why.to_string()),
            Err(why) => ("FAILED", &mut self.failed, last_lines(&format!("{why:#}"))),
        };
        *count += 1;
        let line = format!("{word:<8}{name:<34}{seconds:>7.1} s  {why}");
        println!("{}", line.trim_end());
        passed
    }

    /// Prints the counts. Returns true if no check failed.
    pub fn close(&self) -> bool {
        let (passed, failed, skipped) = (self.passed, self.failed, self.skipped);
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        failed == 0
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let left_out = lines.len().saturating_sub(SHOWN_LINES);
    let head = format!("\n({left_out} lines before these are in the log)");
    let shown = lines[left_out..].iter().map(|line| format!("\n    {line}"));
    let shown: String = shown.collect();
    if left_out == 0 { shown } else { head + &shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn one_failure_makes_the_whole_fail() {
        let mut tally = Tally::default();
        assert!(tally.run("good", || Ok(String::new())));
        tally.run("absent", || bail!(Skipped("no toolchain".into())));
        assert!(tally.close());
        assert!(!tally.run("bad", || bail!("what it printed")));
        assert!(!tally.close());
        assert_eq!((tally.passed, tally.failed, tally.skipped), (1, 1, 1));
    }
}
