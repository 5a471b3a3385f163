//! User-defined backoffs.
//!
//! The interface follows the Pheet framework (Haselsteiner, "Adaptive Work-Stealing Techniques",
//! 2015, section 4.4): a class with two functions, `backoff` and `reset`. In Pheet, `backoff`
//! sleeps. Here, it returns a [`Rest`], which the runtime or the simulator carries out. So a
//! backoff needs neither a clock nor a thread, and works in both.
//!
//! This module limits the length of a rest but does not handle panics: in the runtime, the worker
//! handles them; in the simulator, they reach the caller.

use super::Rest;
use super::tunables::LONGEST;
use crate::Nanos;
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

/// The longest sleep of a [`CustomBackoff`]: 1 s, in nanoseconds. Longer sleeps are shortened to
/// it.
pub const LONGEST_SLEEP: Nanos = LONGEST;

/// The name that is printed for a user-defined backoff, in place of an idle policy's name.
pub(crate) const NAME: &str = "custom";

/// A user-defined backoff for one thief, used in place of an [`IdlePolicy`](super::IdlePolicy).
///
/// ```
/// use tidegate_policy::idle::{CustomBackoff, Rest};
///
/// /// Yields three times, then sleeps for up to the given time.
/// struct Patient { yields: u32, longest: u64 }
///
/// impl CustomBackoff for Patient {
///     fn backoff(&mut self, draw: u64) -> Rest {
///         self.yields += 1;
///         match self.yields {
///             0..=3 => Rest::Yield,
///             _ => Rest::Sleep(draw % self.longest),
///         }
///     }
///
///     fn reset(&mut self) {
///         self.yields = 0;
///     }
/// }
///
/// let mut backoff = Patient { yields: 3, longest: 1_000 };
/// assert_eq!(backoff.backoff(7), Rest::Sleep(7));
/// backoff.reset();
/// assert_eq!(backoff.backoff(7), Rest::Yield);
/// ```
pub trait CustomBackoff: Send {
    /// Called after a failed sweep, in which the thief tried all its victims and found no task.
    /// Returns how the thief rests.
    ///
    /// `draw` is a random number, uniform over all `u64`. A [`Rest::Sleep`] of 0 counts as
    /// [`Rest::Retry`], and a sleep longer than [`LONGEST_SLEEP`] is shortened to it. A thief that
    /// parks sleeps until there is work. A thief that rests in any other way counts as searching,
    /// so the pool wakes no thread for work that this thief would find after its rest.
    fn backoff(&mut self, draw: u64) -> Rest;

    /// Called when the thief has found a task.
    fn reset(&mut self);
}

impl fmt::Debug for dyn CustomBackoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CustomBackoff")
    }
}

/// Creates the [`CustomBackoff`] of each worker.
///
/// ```
/// use tidegate_policy::idle::{BackoffFactory, CustomBackoff, Rest};
///
/// /// Sleeps for a time of its own.
/// struct Sleeper(u64);
///
/// impl CustomBackoff for Sleeper {
///     fn backoff(&mut self, _: u64) -> Rest {
///         Rest::Sleep(self.0)
///     }
///
///     fn reset(&mut self) {}
/// }
///
/// let factory = BackoffFactory::new(|worker| Sleeper(1_000 * (1 + worker as u64)));
/// assert_eq!(factory.make(2).backoff(0), Rest::Sleep(3_000));
/// ```
#[derive(Clone)]
pub struct BackoffFactory(Arc<dyn Fn(usize) -> Box<dyn CustomBackoff> + Send + Sync>);

impl BackoffFactory {
    /// Creates a factory that calls `make` with the index of each worker in its pool, or in its
    /// simulated job.
    pub fn new<B: CustomBackoff + 'static>(
        make: impl Fn(usize) -> B + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |worker| Box::new(make(worker))))
    }

    /// Creates the backoff of a worker.
    #[must_use]
    pub fn make(&self, worker: usize) -> Box<dyn CustomBackoff> {
        (self.0)(worker)
    }
}

/// Prints `custom`, because a function has no text form.
impl fmt::Display for BackoffFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)
    }
}

impl fmt::Debug for BackoffFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BackoffFactory")
    }
}
