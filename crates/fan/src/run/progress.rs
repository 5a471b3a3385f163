//! The line that shows how far a run is, if standard error is a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use crate::folder::Survey;
use crate::phrases::span;

/// A run that ends sooner shows no progress.
const QUIET: Duration = Duration::from_secs(2);

pub struct Progress {
    is_terminal: bool,
    began: Instant,
    /// The weight that was published at the first survey.
    before: Option<u64>,
}

impl Progress {
    pub fn new() -> Self {
        Self {
            is_terminal: stderr().is_terminal(),
            began: Instant::now(),
            before: None,
        }
    }

    /// Replaces the line. `living` is how many pieces the engine has.
    pub fn show(&mut self, survey: &Survey, living: usize) {
        let (done, all) = survey.weight();
        let before = *self.before.get_or_insert(done);
        let elapsed = self.began.elapsed();
        if self.is_terminal && elapsed >= QUIET {
            let left = left(done.saturating_sub(before), all - done, elapsed);
            // Killed attempts have files as well.
            let running = survey.begun.len().min(living);
            let line = line(survey, done, all, running, left);
            let _ = write!(stderr(), "\r{line}\x1b[K");
        }
    }

    pub fn clear(&self) {
        if self.is_terminal {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }

    /// Writes text to standard error, in the place of the line.
    pub fn tell(&self, text: &str) {
        self.clear();
        let _ = writeln!(stderr(), "{text}");
    }
}

/// Returns the time that the remaining weight takes, if it is done as fast as that since the start.
fn left(done: u64, remaining: u64, elapsed: Duration) -> Option<Duration> {
    let each = elapsed.as_secs_f64() / done as f64;
    Duration::try_from_secs_f64(each * remaining as f64).ok()
}

fn line(survey: &Survey, done: u64, all: u64, running: usize, left: Option<Duration>) -> String {
    let percent = 100.0 * done as f64 / all.max(1) as f64;
    let (published, items) = (survey.published.len(), survey.weights.len());
    let mut line = format!("{percent:.0} %, {published} of {items} items, {running} running");
    if let Some(left) = left {
        line += &format!(", {} left", span(left.as_secs_f64()));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;
    use crate::result::Trailer;

    fn survey() -> Survey {
        let mut survey = Survey::default();
        let parent = Name::planned(0);
        survey.weights.insert(parent.child(0), 60);
        survey.weights.insert(parent.clone(), 100);
        survey.weights.insert(Name::planned(1), 100);
        let trailer = Trailer {
            plan: String::new(),
            item: parent.clone(),
            length: 0,
            sha256: String::new(),
            rest: vec![60],
            host: String::new(),
            pid: 1,
            began: 0.0,
            seconds: 0.0,
        };
        survey.published.insert(parent, trailer);
        survey
    }

    #[test]
    fn left_work_counts_once() {
        assert_eq!(survey().weight(), (40, 200));
    }

    #[test]
    fn time_left_follows_the_rate() {
        let second = Duration::from_secs(1);
        assert_eq!(left(40, 160, 20 * second), Some(80 * second));
        assert_eq!(left(0, 160, second), None);
        let line = |left| line(&survey(), 40, 200, 2, left);
        let start = "20 %, 1 of 3 items, 2 running";
        assert_eq!(line(None), start);
        assert_eq!(line(Some(9 * second)), format!("{start}, 9 s left"));
    }
}
