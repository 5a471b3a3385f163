//! Puts tasks to sleep before large allocations, as the hybrid of work stealing and Narlikar's
//! scheduler does.
//!
//! Source: the slides "Narlikar and hybrid schedulers for Cilk". Each processor has a clock that
//! counts rounds, and a queue of sleepers ordered by the round in which they wake. Before each
//! attempt to steal, the processor advances its clock by one round and wakes the first sleeper if
//! it is due. So a task that has allocated a lot of memory sleeps while its processor has other
//! work. A processor advances another processor's clock only if that processor is absent
//! ([`pass_for_absent`]).

use super::{Hybrid, SleepFunction};
use alloc::vec::Vec;

impl Hybrid {
    /// Returns the number of rounds that a task must sleep, if it was granted `current` bytes since
    /// it last slept and asks for `size` more, in a pool with this many workers. 0 means that the
    /// task need not sleep.
    #[must_use]
    pub fn sleep_rounds(self, size: u64, current: u64, workers: u64) -> u64 {
        let (alpha, beta) = (self.alpha as u64, self.beta as u64);
        let share = alpha.saturating_add(beta.saturating_mul(workers)).max(1);
        let published = size.saturating_add(current) / share;
        match self.sleep {
            SleepFunction::Linear => published,
            SleepFunction::Sqrt => published.isqrt(),
            SleepFunction::Square => published.saturating_mul(published),
        }
    }
}

/// Advances the first clock that has sleepers but no processor by one round. If the clock's first
/// sleeper is due, returns it; the caller must wake it.
pub fn pass_for_absent<T>(
    clocks: &mut [Rounds<T>],
    has_processor: impl Fn(usize) -> bool,
) -> Option<T> {
    let mut clocks = clocks.iter_mut().enumerate();
    let absent = clocks.find(|(number, clock)| !clock.is_empty() && !has_processor(*number));
    absent.and_then(|(_, clock)| clock.pass())
}

/// A processor's clock and its sleepers.
#[derive(Clone, Debug)]
pub struct Rounds<T> {
    now: u64,
    /// The sleepers, each with the round in which it wakes. The last one wakes first; among equals,
    /// that is the one that came first.
    asleep: Vec<(u64, T)>,
}

impl<T> Default for Rounds<T> {
    fn default() -> Self {
        Self {
            now: 0,
            asleep: Vec::new(),
        }
    }
}

impl<T> Rounds<T> {
    /// Adds a sleeper that is due in `rounds` rounds.
    pub fn sleep(&mut self, rounds: u64, who: T) {
        let wake = self.now.saturating_add(rounds);
        let at = self.asleep.partition_point(|sleeper| sleeper.0 > wake);
        self.asleep.insert(at, (wake, who));
    }

    /// Advances the clock by one round. If the first sleeper is due, returns it; the caller must
    /// wake it.
    pub fn pass(&mut self) -> Option<T> {
        self.now = self.now.saturating_add(1);
        let is_due = self.asleep.last()?.0 <= self.now;
        if is_due { self.skip() } else { None }
    }

    /// Advances the clock until the first sleeper is due, and returns that sleeper. Used if the
    /// processor has nothing else to do.
    pub fn skip(&mut self) -> Option<T> {
        let (wake, who) = self.asleep.pop()?;
        self.now = self.now.max(wake);
        Some(who)
    }

    /// Whether there are no sleepers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.asleep.is_empty()
    }
}
