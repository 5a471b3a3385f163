//! Backoffs: each failed sweep makes a thief's next sleep longer.

use super::tunables;
use crate::Nanos;
use crate::error::ParseError;
use crate::parameters::{Policy, parameters};

/// How the sleeps of a thief grow. The first sleep of a search is the minimum; a successful steal
/// ends the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Backoff {
    /// Each sleep is longer than the last by a fixed step.
    Linear(Linear),
    /// Each sleep is longer than the last by a fixed factor.
    Exponential(Exponential),
    /// The backoff of the Pheet framework: exponential, with each sleep drawn uniformly between 0
    /// and the current limit.
    PheetOriginal(PheetOriginal),
    /// Exponential up to a threshold, then linear.
    ExponentialLinear(ExponentialLinear),
    /// Linear up to a threshold, then exponential.
    LinearExponential(LinearExponential),
    /// A weighted mean of a linear and an exponential backoff.
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

/// How randomness affects the sleeps of a backoff. Default: [`None`](Self::None).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Randomness {
    /// The sleeps are not random (the default).
    None,
    /// Random growth: a linear step becomes half a step plus a random part, uniform between 0 and
    /// one step; an exponential step gains or loses up to half of the minimum.
    Constant,
    /// Random sleeps, but no random growth: each sleep is drawn uniformly between 0 and the
    /// backoff's current limit.
    LimitMax,
}

parameters! {
    /// Parameters of the linear backoff. Times are in nanoseconds.
    Linear, "linear" {
        /// The first sleep: 0 to 1 s, by default 10 us.
        min: Nanos = LINEAR_MIN,
        /// How much longer each sleep is than the last: 0 to 1 s, by default 50 us.
        step: Nanos = LINEAR_STEP,
        /// The longest sleep: 1 ns to 1 s, by default 500 us.
        max: Nanos = LINEAR_MAX,
        /// How randomness affects the sleeps; by default not at all.
        randomness: Randomness = LINEAR_RANDOMNESS,
        /// Whether a successful steal takes one step off instead of starting over; by default it
        /// starts over.
        slow_reset: bool = LINEAR_SLOW_RESET,
    } agree(min <= max)
}

parameters! {
    /// Parameters of the exponential backoff. Times are in nanoseconds.
    Exponential, "exponential" {
        /// The first sleep: 1 ns to 1 s, by default 10 us.
        min: Nanos = EXPONENTIAL_MIN,
        /// The factor from each sleep to the next: 1 to 16, by default 1.3.
        r: f64 = EXPONENTIAL_R,
        /// The longest sleep: 1 ns to 1 s, by default 500 us.
        max: Nanos = EXPONENTIAL_MAX,
        /// How randomness affects the sleeps; by default not at all.
        randomness: Randomness = EXPONENTIAL_RANDOMNESS,
        /// Whether a successful steal divides the sleep by `r` instead of starting over; by default
        /// it starts over.
        slow_reset: bool = EXPONENTIAL_SLOW_RESET,
    } agree(min <= max)
}

parameters! {
    /// Parameters of Pheet's original backoff. Times are in nanoseconds.
    PheetOriginal, "pheet-original" {
        /// The limit on the first sleep: 1 ns to 1 s, by default 100 ns.
        min: Nanos = PHEET_ORIGINAL_MIN,
        /// The factor from the limit on each sleep to the limit on the next: 1 to 16, by default 2.
        r: f64 = PHEET_ORIGINAL_R,
        /// The longest sleep: 1 ns to 1 s, by default 100 us.
        max: Nanos = PHEET_ORIGINAL_MAX,
    } agree(min <= max)
}

parameters! {
    /// Parameters of the backoff that is first exponential, then linear. Times are in nanoseconds.
    ExponentialLinear, "exponential-linear" {
        /// The first sleep: 1 ns to 1 s, by default 10 us.
        min: Nanos = EXPONENTIAL_LINEAR_MIN,
        /// The factor from each sleep to the next, up to the threshold: 1 to 16, by default 2.
        r: f64 = EXPONENTIAL_LINEAR_R,
        /// The longest sleep of the exponential part: 1 ns to 1 s, by default 200 us.
        threshold: Nanos = EXPONENTIAL_LINEAR_THRESHOLD,
        /// The first sleep of the linear part: 1 ns to 1 s, by default the threshold. If it equals
        /// the threshold, a sleep of that length occurs once, not twice.
        resume: Nanos = EXPONENTIAL_LINEAR_RESUME or threshold,
        /// How much longer each sleep of the linear part is than the last: 0 to 1 s, by default 50
        /// us.
        step: Nanos = EXPONENTIAL_LINEAR_STEP,
        /// The longest sleep: 1 ns to 1 s, by default 500 us.
        max: Nanos = EXPONENTIAL_LINEAR_MAX,
    } agree(min <= threshold, threshold <= resume, resume <= max)
}

parameters! {
    /// Parameters of the backoff that is first linear, then exponential. Times are in nanoseconds.
    LinearExponential, "linear-exponential" {
        /// The first sleep: 0 to 1 s, by default 10 us.
        min: Nanos = LINEAR_EXPONENTIAL_MIN,
        /// How much longer each sleep is than the last, up to the threshold: 0 to 1 s, by default
        /// 25 us.
        step: Nanos = LINEAR_EXPONENTIAL_STEP,
        /// The longest sleep of the linear part: 1 ns to 1 s, by default 100 us.
        threshold: Nanos = LINEAR_EXPONENTIAL_THRESHOLD,
        /// The first sleep of the exponential part: 1 ns to 1 s, by default the threshold. If it
        /// equals the threshold, a sleep of that length occurs once, not twice.
        resume: Nanos = LINEAR_EXPONENTIAL_RESUME or threshold,
        /// The factor from each sleep of the exponential part to the next: 1 to 16, by default 1.3.
        r: f64 = LINEAR_EXPONENTIAL_R,
        /// The longest sleep: 1 ns to 1 s, by default 500 us.
        max: Nanos = LINEAR_EXPONENTIAL_MAX,
    } agree(min <= threshold, threshold <= resume, resume <= max)
}

parameters! {
    /// Parameters of the weighted mean of a linear and an exponential backoff. Times are in
    /// nanoseconds.
    Combination, "combination" {
        /// The weight of the linear part: 0 to 1, by default 0.75.
        t: f64 = COMBINATION_T,
        /// The first sleep: 0 to 1 s, by default 10 us.
        min: Nanos = COMBINATION_MIN,
        /// How much longer each sleep of the linear part is than the last: 0 to 1 s, by default 50
        /// us.
        step: Nanos = COMBINATION_STEP,
        /// The factor from each sleep of the exponential part to the next: 1 to 16, by default 1.3.
        r: f64 = COMBINATION_R,
        /// The longest sleep: 1 ns to 1 s, by default 500 us.
        max: Nanos = COMBINATION_MAX,
    } agree(min <= max)
}
