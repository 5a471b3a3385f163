//! The state of a thief under dynamic quanta: its current quantum, and how much of it the thief
//! spent on steal attempts.

use super::backoff_curve::round;
use super::quanta::{Inefficient, LongQuanta, Quanta};
use crate::Nanos;

#[derive(Clone, Copy, Debug, Default)]
struct Quantum {
    start: Nanos,
    /// The earliest time at which the quantum may end.
    end: Nanos,
    /// When the current series of failed attempts began, or when the quantum began if that is
    /// later.
    failing_since: Nanos,
    /// The time spent on steal attempts before `failing_since`.
    stealing: Nanos,
}

impl Quantum {
    fn begin(&mut self, now: Nanos, length: Nanos) {
        *self = Self {
            start: now,
            end: now.saturating_add(length),
            failing_since: now,
            stealing: 0,
        };
    }

    /// Returns the minimum length of the quantum.
    fn length(&self) -> Nanos {
        self.end.saturating_sub(self.start)
    }

    /// Adds the time from `failing_since` to `now` to the time spent on steal attempts.
    fn add_failures(&mut self, now: Nanos) {
        self.stealing = self
            .stealing
            .saturating_add(now.saturating_sub(self.failing_since));
        self.failing_since = now;
    }

    /// Returns the share of the time until `now` that was spent on steal attempts; 0 if no time has
    /// passed.
    fn share(&self, now: Nanos) -> f64 {
        let length = now.saturating_sub(self.start);
        if length == 0 {
            0.0
        } else {
            self.stealing as f64 / length as f64
        }
    }
}

/// The long quantum. It dampens the decisions that are made at the end of short quanta.
#[derive(Clone, Copy, Debug)]
struct Long {
    quantum: Quantum,
    length: Nanos,
    condition: Inefficient,
    /// The share of the previous long quantum that was spent on steal attempts.
    share_before: f64,
}

impl Long {
    /// Runs algorithm 5.8, which begins a new long quantum if the minimum length has passed.
    fn end_if_over(&mut self, now: Nanos) {
        if self.quantum.end < now {
            self.share_before = self.quantum.share(now);
            self.quantum.begin(now, self.length);
        }
    }

    /// Returns the mean of the shares of this long quantum and the previous one.
    fn share(&self, now: Nanos) -> f64 {
        f64::midpoint(self.quantum.share(now), self.share_before)
    }
}

/// The state of one thief under dynamic quanta, with or without long quanta.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuantumState {
    rules: Quanta,
    long: Option<Long>,
    short: Quantum,
    begun: bool,
    /// Whether the last attempt failed.
    failing: bool,
    /// The number of consecutive inefficient quanta.
    inefficient: usize,
    /// Whether the current quantum has the normal length because it was inserted among short ones.
    inserted: bool,
    /// When the current sleep began; `None` once [`wake`](Self::wake) has accounted for it.
    asleep_since: Option<Nanos>,
}

impl QuantumState {
    pub(super) fn new(rules: Quanta) -> Self {
        Self {
            rules,
            long: None,
            short: Quantum::default(),
            begun: false,
            failing: false,
            inefficient: 0,
            inserted: false,
            asleep_since: None,
        }
    }

    pub(super) fn with_long(p: LongQuanta) -> Self {
        let LongQuanta {
            length,
            long,
            threshold,
            inefficient,
            s1,
            s2,
            c,
            max,
            insert,
        } = p;
        let long = Long {
            quantum: Quantum::default(),
            length: long,
            condition: inefficient,
            share_before: 0.0,
        };
        Self {
            long: Some(long),
            ..Self::new(Quanta {
                length,
                threshold,
                s1,
                s2,
                c,
                max,
                insert,
            })
        }
    }

    /// Runs algorithm 5.2 (5.6 with a long quantum) after a successful steal. Reads the clock only
    /// after a failure.
    pub(super) fn steal_succeeded(&mut self, now: impl FnOnce() -> Nanos) {
        if self.failing {
            let now = now();
            self.wake(now);
            self.add_failures(now);
            self.failing = false;
        }
    }

    /// Runs algorithm 5.4 (5.5 with a long quantum) after a failed attempt. If an inefficient
    /// quantum has ended, returns how long to sleep.
    pub(super) fn attempt_failed(&mut self, now: Nanos) -> Option<Nanos> {
        self.wake(now);
        if !self.failing {
            self.first_failure(now);
            return None;
        }
        let mut sleep = None;
        if self.short.end < now {
            self.add_failures(now);
            sleep = self.end_short(now);
        }
        if sleep.is_none() {
            self.end_long_if_over(now);
        }
        sleep
    }

    /// If the thief slept, accounts for that time and begins the next quantum.
    pub(super) fn wake(&mut self, now: Nanos) {
        let Some(since) = self.asleep_since.take() else {
            return;
        };
        if let Some(long) = &mut self.long {
            // Time asleep counts neither as work nor as time spent on steal attempts.
            long.quantum.start = long.quantum.start.saturating_add(now.saturating_sub(since));
            long.quantum.failing_since = now;
        }
        self.inefficient = self.inefficient.saturating_add(1);
        self.inserted = self.inefficient % self.rules.insert.max(1) == 0;
        self.short.begin(
            now,
            if self.inserted {
                self.rules.length
            } else {
                self.shortened()
            },
        );
        self.end_long_if_over(now);
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.asleep_since.is_some()
    }

    fn first_failure(&mut self, now: Nanos) {
        self.failing = true;
        if !self.begun {
            self.begun = true;
            self.short.begin(now, self.rules.length);
            if let Some(long) = &mut self.long {
                long.quantum.begin(now, long.length);
            }
        } else if self.short.end < now {
            // The quantum ended before this first failure, so its share means little. Start a new
            // one without evaluating it.
            self.short.begin(now, self.short.length());
        }
        self.short.failing_since = now;
        if let Some(long) = &mut self.long {
            long.end_if_over(now);
            long.quantum.failing_since = now;
        }
    }

    /// Runs the first part of algorithm 5.3 (5.7 with a long quantum), and returns how long to
    /// sleep, if at all. After the sleep, [`wake`](Self::wake) runs the second part.
    fn end_short(&mut self, now: Nanos) -> Option<Nanos> {
        let short = self.short.share(now);
        let (inefficient, factor) = match &self.long {
            Some(long) => {
                let share = long.share(now);
                (
                    long.condition.holds(short, share, self.rules.threshold),
                    share,
                )
            }
            None => (
                Inefficient::Short.holds(short, 0.0, self.rules.threshold),
                1.0,
            ),
        };
        if inefficient {
            self.asleep_since = Some(now);
            return Some(self.sleep(short * factor));
        }
        self.inefficient = 0;
        self.short.begin(now, self.rules.length);
        None
    }

    /// Returns the length of a sleep by equation 5.2 (5.6 with a long quantum).
    fn sleep(&self, share: f64) -> Nanos {
        let before = if self.inserted { 0 } else { self.inefficient };
        let time =
            self.rules.length as f64 * (share * self.rules.s1 + before as f64 * self.rules.s2);
        round(time).min(self.rules.max)
    }

    /// Returns the length of a shortened quantum by equation 5.3.
    fn shortened(&self) -> Nanos {
        round(self.rules.length as f64 / (self.inefficient as f64 * self.rules.c + 1.0))
    }

    fn add_failures(&mut self, now: Nanos) {
        self.short.add_failures(now);
        if let Some(long) = &mut self.long {
            long.quantum.add_failures(now);
        }
    }

    /// Called after each failed attempt that does not lead to a sleep, and after each sleep.
    fn end_long_if_over(&mut self, now: Nanos) {
        if let Some(long) = &mut self.long {
            long.quantum.add_failures(now);
            long.end_if_over(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_quantum_has_share_zero() {
        let mut quantum = Quantum::default();
        quantum.begin(5, 10);
        assert_eq!([quantum.share(5), quantum.share(4)], [0.0, 0.0]);
    }
}
