//! The line that shows how far a run is, if standard error is a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use crate::estimate;
use crate::files::now;
use crate::folder::Survey;
use crate::phrases::span;

/// A run that ends sooner shows no progress.
const QUIET: Duration = Duration::from_secs(2);

pub struct Progress {
    is_terminal: bool,
    began: Instant,
}

impl Progress {
    pub fn new() -> Self {
        Self {
            is_terminal: stderr().is_terminal(),
            began: Instant::now(),
        }
    }

    /// Replaces the line. `living` is how many pieces the engine has.
    pub fn show(&self, survey: &Survey, living: usize) {
        if self.is_terminal && self.began.elapsed() >= QUIET {
            let (done, all) = survey.weight();
            let left = estimate::of(survey, now());
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

fn line(survey: &Survey, done: u64, all: u64, running: usize, left: Option<f64>) -> String {
    let percent = 100.0 * done as f64 / all.max(1) as f64;
    let (published, items) = (survey.published.len(), survey.weights.len());
    let mut line = format!("{percent:.0} %, {published} of {items} items, {running} running");
    if let Some(left) = left {
        line += &format!(", {} left", span(left));
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
    fn line_has_the_time_left_if_it_is_known() {
        let line = |left| line(&survey(), 40, 200, 2, left);
        let start = "20 %, 1 of 3 items, 2 running";
        assert_eq!(line(None), start);
        assert_eq!(line(Some(9.0)), format!("{start}, 9 s left"));
    }
}
