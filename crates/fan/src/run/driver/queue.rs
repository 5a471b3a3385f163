//! Why pieces wait in the engine.

use std::time::Instant;

use super::Driver;
use crate::engine::Alive;
use crate::phrases::count;

/// What has happened since a piece has started.
pub struct Quiet {
    since: Instant,
    /// How many results there were then, and how many attempts.
    seen: (usize, usize),
    /// What the user was last told about pieces that wait, unless they have started.
    told: String,
}

impl Quiet {
    /// `told` is what an earlier `run` has noted for `status`.
    pub fn new(told: String) -> Self {
        Self {
            since: Instant::now(),
            seen: (0, 0),
            told,
        }
    }
}

impl Driver<'_> {
    /// Tells the user why the pieces of these rounds wait, if none has started for a while and none
    /// runs.
    pub(super) fn explain(&mut self, alive: &[Alive]) {
        let seen = (self.survey.published.len(), self.survey.begun.len());
        if alive.is_empty() || self.running > 0 || seen != self.quiet.seen {
            (self.quiet.seen, self.quiet.since) = (seen, Instant::now());
            return self.report_queue(String::new());
        }
        if self.quiet.since.elapsed() < self.patience {
            return;
        }
        self.quiet.since = Instant::now();
        let waiting: usize = alive.iter().map(|alive| alive.waiting).sum();
        if waiting == 0 {
            return self.report_queue(String::new());
        }
        if let Some(reason) = self.reason(alive) {
            let (pieces, engine) = (count(waiting, "piece"), self.book.engine);
            let verb = if waiting == 1 { "waits" } else { "wait" };
            self.report_queue(format!("{pieces} {verb} in {engine}: {reason}"));
        }
    }

    /// Returns why pieces of the first round wait that has any, and how to see more.
    fn reason(&mut self, alive: &[Alive]) -> Option<String> {
        let waiting = alive.iter().find(|alive| alive.waiting > 0)?;
        let round = self.schedule.living().find(|it| it.name == waiting.name)?;
        let reason = self.engine.reason(round);
        let reason = reason.unwrap_or_else(|error| format!("why is not known: {error}"));
        Some(match self.engine.details(round) {
            Some(details) => format!("{reason} (to see more: {details})"),
            None => reason,
        })
    }

    /// Tells the user and `status` why pieces wait, or `status` that they no longer do, if that is
    /// new.
    pub(super) fn report_queue(&mut self, text: String) {
        if text != self.quiet.told {
            if !text.is_empty() {
                self.progress.tell(&text);
            }
            // If that fails, only `status` misses it.
            let _ = self.book.note_queue(&text);
            self.quiet.told = text;
        }
    }
}
