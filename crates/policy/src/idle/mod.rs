//! How an idle worker rests after it has found nothing to steal.
//!
//! An [`IdlePolicy`] is the user's choice, and an [`IdleState`] is one thief's state under that
//! policy. All policies have the same interface, so the thief's loop does not depend on the policy:
//!
//! ```
//! use tidegate_policy::{IdlePolicy, IdleState, Rest};
//!
//! # fn steal() -> Option<&'static str> { Some("task") }
//! # fn clock() -> u64 { 0 }
//! # fn draw() -> u64 { 0 }
//! # fn rest(_: Rest) {}
//! let mut idle = IdleState::new(&IdlePolicy::default())?;
//! let task = 'found: loop {
//!     for _victim in 0..4 {
//!         if let Some(task) = steal() {
//!             idle.steal_succeeded(clock);
//!             break 'found task;
//!         }
//!         rest(idle.attempt_failed(clock)); // retry, yield, sleep or park
//!         idle.rested(clock);
//!     }
//!     rest(idle.sweep_failed(clock, draw));
//!     idle.rested(clock);
//! };
//! # assert_eq!(task, "task");
//! # Ok::<(), tidegate_policy::ParseError>(())
//! ```
//!
//! The clock and the draw are closures: a policy only calls those that it needs, and a thief that
//! never fails calls neither. Under a policy that never returns [`Rest::Park`], a thief never
//! parks: it sleeps and looks again.
//!
//! Users can define their own backoff as a [`CustomBackoff`]. It replaces the [`IdlePolicy`], so an
//! [`IdlePolicy`] is always a plain value.
//!
//! The backoffs are from Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, chapter 4, and
//! the quanta from chapter 5. This module does not decide how many workers may search at once
//! ([`search`](crate::search) does). It wakes no threads: the runtime's sleep protocol wakes parked
//! thieves.

mod backoff;
mod backoff_curve;
pub(crate) mod custom;
mod form;
mod quanta;
mod quantum_state;
mod state;
pub(crate) mod tunables;

pub use backoff::{
    Backoff, Combination, Exponential, ExponentialLinear, Linear, LinearExponential, PheetOriginal,
    Randomness,
};
pub use custom::{BackoffFactory, CustomBackoff, LONGEST_SLEEP};
pub use quanta::{Inefficient, LongQuanta, Quanta};
pub use state::{IdleState, Rest};

use crate::Nanos;
use crate::error::ParseError;
use crate::parameters::{Policy, parameters};
use crate::tunable::{Basis, Tunable, choice, choices, table};

/// What an idle worker does. Default: [`Elastic`](Self::Elastic) with a search of 100 us.
///
/// The text form is the name, a colon and the parameters that differ from their defaults, for
/// instance `linear:step=20us,randomness=constant`. [`tunables`](crate::tunables) lists every
/// parameter with its range and its default.
///
/// ```
/// use tidegate_policy::IdlePolicy;
///
/// let idle: IdlePolicy = "linear:min=10us,step=20us".parse()?;
/// assert_eq!(idle.to_string(), "linear:step=20us"); // 10 us is the default.
/// assert!(matches!(IdlePolicy::default(), IdlePolicy::Elastic(_)));
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IdlePolicy {
    /// Searches for a while, yielding the processor before each attempt, then parks until work is
    /// published (the default).
    Elastic(Elastic),
    /// Never rests.
    None,
    /// Yields the processor after each failed sweep.
    Yield,
    /// Yields the processor after each failed attempt, like Arora, Blumofe and Plaxton, "Thread
    /// scheduling for multiprogrammed multiprocessors", 1998.
    AbpYield,
    /// Sleeps after each failed sweep, longer each time.
    Backoff(Backoff),
    /// Yields after the first failed sweep of a search, and sleeps after each later one.
    YieldThen(Backoff),
    /// Sleeps after a quantum in which the thief mostly tried to steal.
    Quanta(Quanta),
    /// Like `Quanta`, but also considers longer quanta.
    LongQuanta(LongQuanta),
}

impl IdlePolicy {
    /// Rejects parameters that are outside their ranges or contradict each other.
    ///
    /// # Errors
    /// Returns an error that names the policy, the parameter, its value and the allowed values.
    pub fn check(&self) -> Result<(), ParseError> {
        match self {
            Self::Elastic(p) => p.check(),
            Self::None | Self::Yield | Self::AbpYield => Ok(()),
            Self::Backoff(p) | Self::YieldThen(p) => p.check(),
            Self::Quanta(p) => p.check(),
            Self::LongQuanta(p) => p.check(),
        }
    }
}

table! {
    IDLE: IdlePolicy = choice("idle", IdlePolicy::names(), IdlePolicy::Elastic(Elastic::DEFAULT)).set_by("TIDEGATE_IDLE"),
        "What an idle worker does. Elastic workers look for a while and then park, so an idle pool uses no CPU.",
        Basis::Guessed;
}

choices!(IdlePolicy, check);

impl Default for IdlePolicy {
    fn default() -> Self {
        IDLE.default
    }
}

parameters! {
    /// Parameters of the elastic policy.
    #[derive(Eq)]
    Elastic, "elastic" {
        /// How long a thief searches before it parks, in nanoseconds from its first failed sweep: 0
        /// to 1 s, by default 100 us.
        search: Nanos = ELASTIC_SEARCH,
    }
}
