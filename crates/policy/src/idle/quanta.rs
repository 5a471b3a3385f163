//! Dynamic quanta: a thief sleeps after a period in which it mostly tried to steal.
//!
//! A quantum has no fixed length, only a minimum: it ends at the first failed attempt after the
//! minimum. A quantum is inefficient if the share of its time that the thief spent on steal
//! attempts exceeds the threshold. After an inefficient quantum, the thief sleeps, longer after
//! each consecutive one, and the next quantum is shorter. From time to time, a quantum of normal
//! length is inserted, so that a thief with very short quanta has a fair chance to find work. From
//! Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, sections 5.2 and 5.3 (algorithms 5.1 to
//! 5.4); section 5.5 (algorithms 5.5 to 5.8) adds a long quantum that dampens the decisions of the
//! short ones.
//!
//! The source leaves some points open. Here:
//!
//! - The first quantum begins at the thief's first failed attempt, so that a worker that never
//!   steals never reads the clock.
//! - The length of the sleep after an inserted quantum ignores the inefficient quanta before it,
//!   but their count is not reset.
//! - A long quantum excludes the time that the thief actually slept, not the time that it
//!   requested.

use super::tunables;
use crate::Nanos;
use crate::parameters::parameters;

parameters! {
    /// Parameters of the dynamic quanta. Times are in nanoseconds.
    Quanta, "quanta" {
        /// The minimum length of a quantum: 1 us to 1 s, by default 75 us.
        length: Nanos = QUANTA_LENGTH,
        /// The share of time spent on steal attempts above which a quantum is inefficient: 0 to 1,
        /// by default 0.5.
        threshold: f64 = QUANTA_THRESHOLD,
        /// How much a sleep grows with the share of time spent on steal attempts, as a multiple of
        /// `length`: 0 to 100, by default 0.4.
        s1: f64 = QUANTA_S1,
        /// How much a sleep grows with each consecutive inefficient quantum before it, as a
        /// multiple of `length`: 0 to 100, by default 0.8.
        s2: f64 = QUANTA_S2,
        /// How much a quantum shrinks with each consecutive inefficient quantum before it: 0 to
        /// 100, by default 2.
        c: f64 = QUANTA_C,
        /// The longest sleep: 1 ns to 1 s, by default 1.5 ms.
        max: Nanos = QUANTA_MAX,
        /// The number of consecutive inefficient quanta after which a quantum of normal length is
        /// inserted: 1 to 1,000,000, by default 20.
        insert: usize = QUANTA_INSERT,
    }
}

parameters! {
    /// Parameters of the dynamic quanta with long quanta. Times are in nanoseconds.
    LongQuanta, "long-quanta" {
        /// The minimum length of a short quantum: 1 us to 1 s, by default 75 us.
        length: Nanos = LONG_QUANTA_LENGTH,
        /// The minimum length of a long quantum: 1 us to 10 s, by default 3 ms.
        long: Nanos = LONG_QUANTA_LONG,
        /// The share of time spent on steal attempts above which a quantum is inefficient: 0 to 1,
        /// by default 0.6.
        threshold: f64 = LONG_QUANTA_THRESHOLD,
        /// Which quantum's share must exceed the threshold. By default, either share is enough.
        inefficient: Inefficient = LONG_QUANTA_INEFFICIENT,
        /// How much a sleep grows with the product of the shares of both quanta, as a multiple of
        /// `length`: 0 to 100, by default 0.8.
        s1: f64 = LONG_QUANTA_S1,
        /// How much a sleep grows with each consecutive inefficient quantum before it, as a
        /// multiple of `length`: 0 to 100, by default 0.8.
        s2: f64 = LONG_QUANTA_S2,
        /// How much a quantum shrinks with each consecutive inefficient quantum before it: 0 to
        /// 100, by default 2.
        c: f64 = LONG_QUANTA_C,
        /// The longest sleep: 1 ns to 1 s, by default 1.5 ms.
        max: Nanos = LONG_QUANTA_MAX,
        /// The number of consecutive inefficient quanta after which a quantum of normal length is
        /// inserted: 1 to 1,000,000, by default 20.
        insert: usize = LONG_QUANTA_INSERT,
    }
}

/// Which share of time spent on steal attempts must exceed the threshold for a short quantum to be
/// inefficient. Default: [`Either`](Self::Either).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inefficient {
    /// The share of the short quantum.
    Short,
    /// The share of either quantum (the default).
    Either,
    /// The shares of both quanta.
    Both,
    /// The mean of the shares of both quanta.
    Mean,
}

impl Inefficient {
    pub(super) fn holds(self, short: f64, long: f64, threshold: f64) -> bool {
        match self {
            Self::Short => short > threshold,
            Self::Either => short > threshold || long > threshold,
            Self::Both => short > threshold && long > threshold,
            Self::Mean => (short + long) / 2.0 > threshold,
        }
    }
}
