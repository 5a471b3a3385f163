//! Sleeps that grow with each failed sweep.

use super::tunables as t;
use crate::Nanos;
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor, at_most};

/// A rule for how the sleeps of a thief grow. The first sleep of a row is the minimum; a success ends the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Backoff {
    /// Each sleep is a step longer than the last.
    Linear(Linear),
    /// Each sleep is a multiple of the last.
    Exponential(Exponential),
    /// The backoff of the Pheet framework: exponential, with a sleep uniform between nothing and the current time.
    PheetOriginal(PheetOriginal),
    /// Exponential up to a threshold, then linear.
    ExponentialLinear(ExponentialLinear),
    /// Linear up to a threshold, then exponential.
    LinearExponential(LinearExponential),
    /// A weighted mean of both.
    Combination(Combination),
}

impl Backoff {
    pub(crate) const NAMES: &'static [&'static str] = &[
        Linear::NAME,
        Exponential::NAME,
        PheetOriginal::NAME,
        ExponentialLinear::NAME,
        LinearExponential::NAME,
        Combination::NAME,
    ];

    pub(super) fn check(&self) -> Result<(), ParseError> {
        match self {
            Self::Linear(p) => p.check(),
            Self::Exponential(p) => p.check(),
            Self::PheetOriginal(p) => p.check(),
            Self::ExponentialLinear(p) => p.check(),
            Self::LinearExponential(p) => p.check(),
            Self::Combination(p) => p.check(),
        }
    }
}

/// How chance enters the sleeps of a backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Randomness {
    /// Not at all.
    None,
    /// Into the growth: a linear step becomes half of itself plus uniform up to a step, an exponential one gains or loses
    /// up to half of the minimum.
    Constant,
    /// Into the sleep alone: uniform between nothing and the current time.
    LimitMax,
}

/// Defines the parameters of one backoff: its fields, in the order of the text form, each with its tunable.
macro_rules! backoff {
    ($(#[$doc:meta])* $type:ident, $name:literal {
        $($(#[$field_doc:meta])* $field:ident: $field_type:ty = $row:ident $(or $other:ident)?,)*
    } agree($($low:ident <= $high:ident),*)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $type {
            $($(#[$field_doc])* pub $field: $field_type,)*
        }

        impl Policy for $type {
            const NAME: &'static str = $name;
            const DEFAULT: Self = Self { $($field: t::$row.default),* };

            fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), ParseError> {
                $(backoff!(@visit self, visitor, $field, $row $(, $other)?);)*
                Ok(())
            }

            fn agree(&self) -> Result<(), ParseError> {
                $(at_most((stringify!($low), self.$low), (stringify!($high), self.$high))?;)*
                Ok(())
            }
        }

        impl Default for $type {
            /// The defaults of its [`tunables`](crate::tunables).
            fn default() -> Self {
                Self::DEFAULT
            }
        }
    };
    (@visit $self:ident, $visitor:ident, $field:ident, $row:ident) => {
        $visitor.plain(&t::$row, &mut $self.$field)?
    };
    (@visit $self:ident, $visitor:ident, $field:ident, $row:ident, $other:ident) => {
        $visitor.parameter(&t::$row, $self.$other, &mut $self.$field)?
    };
}

backoff! {
    /// Parameters of the linear backoff.
    Linear, "linear" {
        /// The first sleep.
        min: Nanos = LINEAR_MIN,
        /// What each further sleep is longer.
        step: Nanos = LINEAR_STEP,
        /// The longest sleep.
        max: Nanos = LINEAR_MAX,
        /// How chance enters.
        randomness: Randomness = LINEAR_RANDOMNESS,
        /// Whether a success takes one step off instead of starting over.
        slow_reset: bool = LINEAR_SLOW_RESET,
    } agree(min <= max)
}

backoff! {
    /// Parameters of the exponential backoff.
    Exponential, "exponential" {
        /// The first sleep.
        min: Nanos = EXPONENTIAL_MIN,
        /// What each further sleep is multiplied by.
        r: f64 = EXPONENTIAL_R,
        /// The longest sleep.
        max: Nanos = EXPONENTIAL_MAX,
        /// How chance enters.
        randomness: Randomness = EXPONENTIAL_RANDOMNESS,
        /// Whether a success takes one step off instead of starting over.
        slow_reset: bool = EXPONENTIAL_SLOW_RESET,
    } agree(min <= max)
}

backoff! {
    /// Parameters of Pheet's original backoff.
    PheetOriginal, "pheet-original" {
        /// The limit on the first sleep.
        min: Nanos = PHEET_ORIGINAL_MIN,
        /// What the limit on each further sleep is multiplied by.
        r: f64 = PHEET_ORIGINAL_R,
        /// The longest sleep.
        max: Nanos = PHEET_ORIGINAL_MAX,
    } agree(min <= max)
}

backoff! {
    /// Parameters of the exponential backoff that goes on linearly.
    ExponentialLinear, "exponential-linear" {
        /// The first sleep.
        min: Nanos = EXPONENTIAL_LINEAR_MIN,
        /// What each sleep up to the threshold is multiplied by.
        r: f64 = EXPONENTIAL_LINEAR_R,
        /// The longest sleep of the exponential part.
        threshold: Nanos = EXPONENTIAL_LINEAR_THRESHOLD,
        /// Where the linear part starts. Where that is the threshold, it is slept once.
        resume: Nanos = EXPONENTIAL_LINEAR_RESUME or threshold,
        /// What each sleep of the linear part is longer.
        step: Nanos = EXPONENTIAL_LINEAR_STEP,
        /// The longest sleep.
        max: Nanos = EXPONENTIAL_LINEAR_MAX,
    } agree(min <= threshold, threshold <= resume, resume <= max)
}

backoff! {
    /// Parameters of the linear backoff that goes on exponentially.
    LinearExponential, "linear-exponential" {
        /// The first sleep.
        min: Nanos = LINEAR_EXPONENTIAL_MIN,
        /// What each sleep up to the threshold is longer.
        step: Nanos = LINEAR_EXPONENTIAL_STEP,
        /// The longest sleep of the linear part.
        threshold: Nanos = LINEAR_EXPONENTIAL_THRESHOLD,
        /// Where the exponential part starts. Where that is the threshold, it is slept once.
        resume: Nanos = LINEAR_EXPONENTIAL_RESUME or threshold,
        /// What each sleep of the exponential part is multiplied by.
        r: f64 = LINEAR_EXPONENTIAL_R,
        /// The longest sleep.
        max: Nanos = LINEAR_EXPONENTIAL_MAX,
    } agree(min <= threshold, threshold <= resume, resume <= max)
}

backoff! {
    /// Parameters of the weighted mean of a linear and an exponential backoff.
    Combination, "combination" {
        /// The weight of the linear part.
        t: f64 = COMBINATION_T,
        /// The first sleep.
        min: Nanos = COMBINATION_MIN,
        /// What each sleep of the linear part is longer.
        step: Nanos = COMBINATION_STEP,
        /// What each sleep of the exponential part is multiplied by.
        r: f64 = COMBINATION_R,
        /// The longest sleep.
        max: Nanos = COMBINATION_MAX,
    } agree(min <= max)
}
