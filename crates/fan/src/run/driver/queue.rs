//! Why pieces wait in the engine.

use std::time::Instant;

use super::Driver;
use crate::engine::{Job, Queue};
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
    /// Tells the user why the pieces of these jobs wait, if none has started for a while and none
    /// runs.
    pub(super) fn explain(&mut self, jobs: &[Job]) {
        let seen = (self.survey.published.len(), self.survey.begun.len());
        if jobs.is_empty() || seen != self.quiet.seen {
            (self.quiet.seen, self.quiet.since) = (seen, Instant::now());
            return self.report_queue(String::new());
        }
        if self.quiet.since.elapsed() < self.patience {
            return;
        }
        self.quiet.since = Instant::now();
        let mut all = Queue::default();
        for job in jobs {
            if self.is_interrupted() {
                return;
            }
            // A fault is told when `ended` meets it.
            let Ok(queue) = self.engine.queue(job) else {
                return;
            };
            all.running += queue.running;
            if queue.waiting > 0 {
                all.waiting += queue.waiting;
                all.reason = queue.reason;
            }
        }
        let Queue {
            running,
            waiting,
            reason,
        } = all;
        if running > 0 || waiting == 0 {
            return self.report_queue(String::new());
        }
        let (pieces, engine) = (count(waiting, "piece"), self.book.engine);
        let verb = if waiting == 1 { "waits" } else { "wait" };
        self.report_queue(format!("{pieces} {verb} in {engine}: {reason}"));
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
