//! How a thief rests after it found nothing to steal.
//!
//! An [`IdlePolicy`] is the policy, an [`IdleState`] the state that one thief keeps under it. All policies have the same shape,
//! so the thief's loop knows none of them:
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
//! The clock and the draw are closures: a policy that has no use for them does not call them, and a thief that never
//! fails calls none under any policy. Under policies that never say [`Rest::Park`] the thief sleeps and looks again.
//!
//! A user's own backoff is a [`CustomBackoff`]; it takes the place of an [`IdlePolicy`], which stays a plain value.
//!
//! The backoffs are those of Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, chapter 4,
//! the quanta those of chapter 5. This module does not decide who may search at once (that is
//! [`search`](crate::search)), and it wakes nobody: a thief that parks relies on the runtime's
//! sleep protocol.

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

use tunables::ELASTIC_SEARCH;

use crate::Nanos;
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor};
use crate::tunable::{Basis, Tunable, choice, choices, table};

/// How a thief rests.
///
/// The text form is the name, a colon and the parameters that differ from their defaults, for instance
/// `linear:step=20us,randomness=constant`. Every parameter, its range and its default is a row of
/// [`tunables`](crate::tunables).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IdlePolicy {
    /// Searches for a while and yields the processor before each look, then parks until work is published.
    Elastic(Elastic),
    /// Never rests.
    None,
    /// Yields the processor after each failed sweep.
    Yield,
    /// Yields the processor after each failed attempt, as Arora, Blumofe and Plaxton, "Thread scheduling for
    /// multiprogrammed multiprocessors", 1998, do.
    AbpYield,
    /// Sleeps after each failed sweep, longer each time.
    Backoff(Backoff),
    /// Yields after the first failed sweep of a row and sleeps after the others.
    YieldThen(Backoff),
    /// Sleeps after quanta that were spent stealing.
    Quanta(Quanta),
    /// The same, and looks at longer quanta besides.
    LongQuanta(LongQuanta),
}

impl IdlePolicy {
    /// Refuses parameters outside their ranges, and those that do not fit together.
    ///
    /// # Errors
    /// Names the policy, the parameter, its value and what is allowed.
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
        "How a thief rests when there is nothing to steal; elastic thieves park, so that an idle pool costs nothing.",
        Basis::Guessed;
}

choices!(IdlePolicy);

impl Default for IdlePolicy {
    /// [`IDLE`].
    fn default() -> Self {
        IDLE.default
    }
}

/// Parameters of the elastic policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elastic {
    /// How long a thief searches before it parks, counted from its first failed sweep.
    pub search: Nanos,
}

impl Policy for Elastic {
    const NAME: &'static str = "elastic";
    const DEFAULT: Self = Self {
        search: ELASTIC_SEARCH.default,
    };

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), ParseError> {
        visitor.plain(&ELASTIC_SEARCH, &mut self.search)
    }
}

impl Elastic {
    pub(crate) const DEFAULT: Self = <Self as Policy>::DEFAULT;
}

impl Default for Elastic {
    /// [`ELASTIC_SEARCH`].
    fn default() -> Self {
        Self::DEFAULT
    }
}
