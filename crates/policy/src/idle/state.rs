//! The state of one thief under an idle policy.

use super::backoff_curve::Sleeps;
use super::custom::{CustomBackoff, LONGEST_SLEEP};
use super::quantum_state::QuantumState;
use super::{Elastic, IdlePolicy};
use crate::Nanos;
use crate::error::ParseError;
use alloc::boxed::Box;

/// What a thief does after a failed attempt or sweep.
///
/// ```
/// use tidegate_policy::{IdlePolicy, IdleState, Rest};
///
/// let mut idle = IdleState::new(&IdlePolicy::Yield)?;
/// assert_eq!(idle.sweep_failed(|| 0, || 0), Rest::Yield);
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Retry immediately.
    Retry,
    /// Yield the processor, then retry.
    Yield,
    /// Sleep for this many nanoseconds, then retry.
    Sleep(Nanos),
    /// Sleep until another thread publishes work.
    Park,
}

/// The state of one thief under an idle policy. See the [module](super) for the loop that drives
/// it.
#[derive(Debug)]
pub struct IdleState {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// `since` is the time of the first failed sweep of the current search.
    Elastic {
        rules: Elastic,
        since: Option<Nanos>,
    },
    None,
    Yield,
    AbpYield,
    /// If `yields`, the next rest is a yield. If `yields_first`, the first rest after each reset is
    /// a yield.
    Backoff {
        sleeps: Sleeps,
        yields: bool,
        yields_first: bool,
    },
    Quanta(QuantumState),
    Custom(Box<dyn CustomBackoff>),
}

impl IdleState {
    /// Creates the state of a thief that has not failed to steal yet.
    ///
    /// # Errors
    /// Returns the errors of [`IdlePolicy::check`].
    pub fn new(idle: &IdlePolicy) -> Result<Self, ParseError> {
        idle.check()?;
        let kind = match *idle {
            IdlePolicy::Elastic(rules) => Kind::Elastic { rules, since: None },
            IdlePolicy::None => Kind::None,
            IdlePolicy::Yield => Kind::Yield,
            IdlePolicy::AbpYield => Kind::AbpYield,
            IdlePolicy::Backoff(p) | IdlePolicy::YieldThen(p) => {
                let yields = matches!(idle, IdlePolicy::YieldThen(_));
                Kind::Backoff {
                    sleeps: Sleeps::new(p),
                    yields,
                    yields_first: yields,
                }
            }
            IdlePolicy::Quanta(p) => Kind::Quanta(QuantumState::new(p)),
            IdlePolicy::LongQuanta(p) => Kind::Quanta(QuantumState::with_long(p)),
        };
        Ok(Self { kind })
    }

    /// Creates the state of a thief that uses a user-defined backoff.
    #[must_use]
    pub fn custom(backoff: Box<dyn CustomBackoff>) -> Self {
        let kind = Kind::Custom(backoff);
        Self { kind }
    }

    /// Must be called when the thief has found a task, by stealing or otherwise. Reads the clock
    /// only under quanta, after a failure.
    pub fn steal_succeeded(&mut self, now: impl FnOnce() -> Nanos) {
        match &mut self.kind {
            Kind::Elastic { since, .. } => *since = None,
            Kind::None | Kind::Yield | Kind::AbpYield => {}
            Kind::Backoff {
                sleeps,
                yields,
                yields_first,
            } => {
                sleeps.reset();
                *yields = *yields_first;
            }
            Kind::Quanta(state) => state.steal_succeeded(now),
            Kind::Custom(backoff) => backoff.reset(),
        }
    }

    /// Must be called when an attempt to steal has failed. Reads the clock only under quanta.
    pub fn attempt_failed(&mut self, now: impl FnOnce() -> Nanos) -> Rest {
        match &mut self.kind {
            Kind::Elastic { .. }
            | Kind::None
            | Kind::Yield
            | Kind::Backoff { .. }
            | Kind::Custom(_) => Rest::Retry,
            Kind::AbpYield => Rest::Yield,
            Kind::Quanta(state) => state.attempt_failed(now()).map_or(Rest::Retry, sleep),
        }
    }

    /// Must be called when a whole sweep has failed, after [`attempt_failed`](Self::attempt_failed)
    /// for its last attempt. Reads the clock only under the elastic policy, and calls `draw` for a
    /// uniform random number only under backoffs.
    pub fn sweep_failed(
        &mut self,
        now: impl FnOnce() -> Nanos,
        draw: impl FnOnce() -> u64,
    ) -> Rest {
        self.sweep_failed_asking(now, draw, |backoff, draw| backoff.backoff(draw))
    }

    /// Like [`sweep_failed`](Self::sweep_failed), but calls a user-defined backoff through `ask`.
    pub(crate) fn sweep_failed_asking(
        &mut self,
        now: impl FnOnce() -> Nanos,
        draw: impl FnOnce() -> u64,
        ask: impl FnOnce(&mut dyn CustomBackoff, u64) -> Rest,
    ) -> Rest {
        match &mut self.kind {
            Kind::Elastic { rules, since } => search(rules, since, now()),
            Kind::None | Kind::AbpYield | Kind::Quanta(_) => Rest::Retry,
            Kind::Yield => Rest::Yield,
            Kind::Backoff {
                yields: yields @ true,
                ..
            } => {
                *yields = false;
                Rest::Yield
            }
            Kind::Backoff { sleeps, .. } => sleep(sleeps.next(draw())),
            Kind::Custom(backoff) => match ask(&mut **backoff, draw()) {
                Rest::Sleep(time) => sleep(time.min(LONGEST_SLEEP)),
                rest => rest,
            },
        }
    }

    /// Must be called after the thief has carried out the last [`Rest`]. Reads the clock only after
    /// a sleep under quanta.
    pub fn rested(&mut self, now: impl FnOnce() -> Nanos) {
        match &mut self.kind {
            Kind::Quanta(state) if state.is_asleep() => state.wake(now()),
            _ => {}
        }
    }
}

/// Returns a rest that sleeps for `time`, or retries if it is 0.
fn sleep(time: Nanos) -> Rest {
    if time == 0 {
        Rest::Retry
    } else {
        Rest::Sleep(time)
    }
}

/// Returns a yield until the search time has passed, and then a park. A thief that was woken starts
/// a new search.
///
/// The thief does not spin before it yields, because that would keep its processor from the thread
/// for which it has just finished a task. If there are as many workers as processors, each call
/// from outside the pool would then take about 5 us longer.
fn search(rules: &Elastic, since: &mut Option<Nanos>, now: Nanos) -> Rest {
    let searched = now.saturating_sub(*since.get_or_insert(now));
    if searched >= rules.search {
        *since = None;
        Rest::Park
    } else {
        Rest::Yield
    }
}
