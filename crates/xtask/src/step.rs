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

/// How many checks passed, failed and were skipped.
#[derive(Default)]
pub struct Tally([usize; 3]);

impl Tally {
    /// Runs a check and prints its line. Returns whether it passed.
    pub fn run(&mut self, name: &str, check: impl FnOnce() -> Outcome) -> bool {
        let start = Instant::now();
        let (result, word, why) = match check() {
            Ok(detail) => (0, "ok", detail),
            Err(why) if why.is::<Skipped>() => (2, "skipped", why.to_string()),
            Err(why) => (1, "FAILED", last_lines(&format!("{why:#}"))),
        };
        self.0[result] += 1;
        let seconds = start.elapsed().as_secs_f64();
        let line = format!("{word:<8}{name:<34}{seconds:>7.1} s  {why}");
        println!("{}", line.trim_end());
        result == 0
    }

    /// Prints the counts. Returns true if no check failed.
    pub fn close(&self) -> bool {
        let [passed, failed, skipped] = self.0;
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        failed == 0
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
    shown.iter().map(|line| format!("\n    {line}")).collect()
}
