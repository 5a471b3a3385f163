//! The running part of the quanta: which stretch of time a thief is in and what it spent there stealing.

use super::quanta::{Inefficient, LongQuanta, Quanta};
use super::ramp::round;
use crate::Nanos;

/// A stretch of time and what of it went into stealing.
#[derive(Clone, Copy, Debug, Default)]
struct Quantum {
    start: Nanos,
    /// Earliest end.
    end: Nanos,
    /// First failed attempt of the current run of failures within this quantum.
    failing_since: Nanos,
    /// Time spent stealing before that.
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

    /// Least length of this quantum.
    fn length(&self) -> Nanos {
        self.end.saturating_sub(self.start)
    }

    /// A run of failures is over or is to be counted up to now.
    fn add_failures(&mut self, now: Nanos) {
        self.stealing = self
            .stealing
            .saturating_add(now.saturating_sub(self.failing_since));
        self.failing_since = now;
    }

    /// Share of the time until now that went into stealing; none of no time.
    fn share(&self, now: Nanos) -> f64 {
        let length = now.saturating_sub(self.start);
        if length == 0 {
            0.0
        } else {
            self.stealing as f64 / length as f64
        }
    }
}

/// The long quantum that tempers the short ones.
#[derive(Clone, Copy, Debug)]
struct Long {
    quantum: Quantum,
    length: Nanos,
    condition: Inefficient,
    /// Share of the previous long quantum that went into stealing.
    share_before: f64,
}

impl Long {
    /// Algorithm 5.8, when the least length is over.
    fn end_if_over(&mut self, now: Nanos) {
        if self.quantum.end < now {
            self.share_before = self.quantum.share(now);
            self.quantum.begin(now, self.length);
        }
    }

    /// Mean of the shares of this long quantum and the one before.
    fn share(&self, now: Nanos) -> f64 {
        f64::midpoint(self.quantum.share(now), self.share_before)
    }
}

/// The state of one thief under dynamic quanta, with or without long ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clockwork {
    rules: Quanta,
    long: Option<Long>,
    short: Quantum,
    /// Whether the first quantum has begun.
    begun: bool,
    /// Whether the last attempt failed.
    failing: bool,
    /// Consecutive inefficient quanta.
    inefficient: usize,
    /// Whether this quantum is one of normal length put in among the short ones.
    inserted: bool,
    /// When the sleep began that is not yet accounted for.
    asleep_since: Option<Nanos>,
}

impl Clockwork {
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

    /// Algorithm 5.2 (5.6 with a long quantum). Reads the clock only after a failure.
    pub(super) fn steal_succeeded(&mut self, now: impl FnOnce() -> Nanos) {
        if self.failing {
            let now = now();
            self.wake(now);
            self.add_failures(now);
            self.failing = false;
        }
    }

    /// Algorithm 5.4 (5.5 with a long quantum). Says how long to sleep, if the quantum ended and was inefficient.
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

    /// The thief rested; does nothing unless it slept.
    pub(super) fn wake(&mut self, now: Nanos) {
        let Some(since) = self.asleep_since.take() else {
            return;
        };
        if let Some(long) = &mut self.long {
            // Time asleep is neither work nor stealing.
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
            // The end is due at a first failure, which says little: the quantum counts neither way.
            self.short.begin(now, self.short.length());
        }
        self.short.failing_since = now;
        if let Some(long) = &mut self.long {
            long.end_if_over(now);
            long.quantum.failing_since = now;
        }
    }

    /// Algorithm 5.3 (5.7 with a long quantum) up to the sleep; [`Self::wake`] is the rest.
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

    /// Equation 5.2 (5.6 with a long quantum).
    fn sleep(&self, share: f64) -> Nanos {
        let before = if self.inserted { 0 } else { self.inefficient };
        let time =
            self.rules.length as f64 * (share * self.rules.s1 + before as f64 * self.rules.s2);
        round(time).min(self.rules.max)
    }

    /// Equation 5.3.
    fn shortened(&self) -> Nanos {
        round(self.rules.length as f64 / (self.inefficient as f64 * self.rules.c + 1.0))
    }

    fn add_failures(&mut self, now: Nanos) {
        self.short.add_failures(now);
        if let Some(long) = &mut self.long {
            long.quantum.add_failures(now);
        }
    }

    /// After a short quantum's end, or where only the long one is over.
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
    fn a_quantum_of_no_time_was_not_spent_stealing() {
        let mut quantum = Quantum::default();
        quantum.begin(5, 10);
        assert_eq!([quantum.share(5), quantum.share(4)], [0.0, 0.0]);
    }
}
