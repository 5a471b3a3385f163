//! Sleeping instead of allocating, as the hybrid of work stealing and Narlikar's scheduler does.
//!
//! Source: the slides "Narlikar and hybrid schedulers for Cilk". A processor has a clock that counts
//! rounds and a queue of sleepers by the round in which they wake. Before each attempt to steal it
//! lets a round pass and wakes the first sleeper if that is due, so a task that has allocated much
//! sleeps while its processor has other work. No processor passes the rounds of another one, unless
//! that is gone ([`pass_for_absent`]).

use super::{Hybrid, SleepFunction};
use alloc::collections::BTreeMap;

impl Hybrid {
    /// For how many rounds a task sleeps that was granted `current` bytes since it last slept and
    /// asks for `size` more, in a pool of `workers`; 0 if it need not sleep.
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

/// A round passes at the first clock that has sleepers and no processor. The sleeper to wake, if it
/// is due.
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
    /// By the round in which they wake, then as they came.
    asleep: BTreeMap<(u64, u64), T>,
    came: u64,
}

impl<T> Default for Rounds<T> {
    fn default() -> Self {
        Self {
            now: 0,
            asleep: BTreeMap::new(),
            came: 0,
        }
    }
}

impl<T> Rounds<T> {
    /// Somebody sleeps from now on, for so many rounds.
    pub fn sleep(&mut self, rounds: u64, who: T) {
        self.came += 1;
        let wake = self.now.saturating_add(rounds);
        self.asleep.insert((wake, self.came), who);
    }

    /// A round passes. Who is to be woken: the first sleeper, if it is due.
    pub fn pass(&mut self) -> Option<T> {
        self.now = self.now.saturating_add(1);
        let first = self.asleep.first_entry()?;
        (first.key().0 <= self.now).then(|| first.remove())
    }

    /// Nothing else is to be done: rounds pass until the first sleeper is due.
    pub fn skip(&mut self) -> Option<T> {
        let ((wake, _), who) = self.asleep.pop_first()?;
        self.now = self.now.max(wake);
        Some(who)
    }

    /// Whether nobody sleeps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.asleep.is_empty()
    }
}
