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

use super::tunables as t;
use crate::Nanos;
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor};

/// Parameters of the dynamic quanta. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quanta {
    /// The minimum length of a quantum: 1 us to 1 s, by default 75 us.
    pub length: Nanos,
    /// The share of time spent on steal attempts above which a quantum is inefficient: 0 to 1, by
    /// default 0.5.
    pub threshold: f64,
    /// How much a sleep grows with the share of time spent on steal attempts, as a multiple of
    /// `length`: 0 to 100, by default 0.4.
    pub s1: f64,
    /// How much a sleep grows with each consecutive inefficient quantum before it, as a multiple of
    /// `length`: 0 to 100, by default 0.8.
    pub s2: f64,
    /// How much a quantum shrinks with each consecutive inefficient quantum before it: 0 to 100, by
    /// default 2.
    pub c: f64,
    /// The longest sleep: 1 ns to 1 s, by default 1.5 ms.
    pub max: Nanos,
    /// The number of consecutive inefficient quanta after which a quantum of normal length is
    /// inserted: 1 to 1,000,000, by default 20.
    pub insert: usize,
}

/// Parameters of the dynamic quanta with long quanta. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongQuanta {
    /// The minimum length of a short quantum: 1 us to 1 s, by default 75 us.
    pub length: Nanos,
    /// The minimum length of a long quantum: 1 us to 10 s, by default 3 ms.
    pub long: Nanos,
    /// The share of time spent on steal attempts above which a quantum is inefficient: 0 to 1, by
    /// default 0.6.
    pub threshold: f64,
    /// Which quantum's share must exceed the threshold. By default, either share is enough.
    pub inefficient: Inefficient,
    /// How much a sleep grows with the product of the shares of both quanta, as a multiple of
    /// `length`: 0 to 100, by default 0.8.
    pub s1: f64,
    /// How much a sleep grows with each consecutive inefficient quantum before it, as a multiple of
    /// `length`: 0 to 100, by default 0.8.
    pub s2: f64,
    /// How much a quantum shrinks with each consecutive inefficient quantum before it: 0 to 100, by
    /// default 2.
    pub c: f64,
    /// The longest sleep: 1 ns to 1 s, by default 1.5 ms.
    pub max: Nanos,
    /// The number of consecutive inefficient quanta after which a quantum of normal length is
    /// inserted: 1 to 1,000,000, by default 20.
    pub insert: usize,
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

impl Policy for Quanta {
    const NAME: &'static str = "quanta";
    const DEFAULT: Self = Self {
        length: t::QUANTA_LENGTH.default,
        threshold: t::QUANTA_THRESHOLD.default,
        s1: t::QUANTA_S1.default,
        s2: t::QUANTA_S2.default,
        c: t::QUANTA_C.default,
        max: t::QUANTA_MAX.default,
        insert: t::QUANTA_INSERT.default,
    };

    fn visit(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError> {
        visitor.plain(&t::QUANTA_LENGTH, &mut self.length)?;
        visitor.plain(&t::QUANTA_THRESHOLD, &mut self.threshold)?;
        visitor.plain(&t::QUANTA_S1, &mut self.s1)?;
        visitor.plain(&t::QUANTA_S2, &mut self.s2)?;
        visitor.plain(&t::QUANTA_C, &mut self.c)?;
        visitor.plain(&t::QUANTA_MAX, &mut self.max)?;
        visitor.plain(&t::QUANTA_INSERT, &mut self.insert)
    }
}

impl Policy for LongQuanta {
    const NAME: &'static str = "long-quanta";
    const DEFAULT: Self = Self {
        length: t::LONG_QUANTA_LENGTH.default,
        long: t::LONG_QUANTA_LONG.default,
        threshold: t::LONG_QUANTA_THRESHOLD.default,
        inefficient: t::LONG_QUANTA_INEFFICIENT.default,
        s1: t::LONG_QUANTA_S1.default,
        s2: t::LONG_QUANTA_S2.default,
        c: t::LONG_QUANTA_C.default,
        max: t::LONG_QUANTA_MAX.default,
        insert: t::LONG_QUANTA_INSERT.default,
    };

    fn visit(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError> {
        visitor.plain(&t::LONG_QUANTA_LENGTH, &mut self.length)?;
        visitor.plain(&t::LONG_QUANTA_LONG, &mut self.long)?;
        visitor.plain(&t::LONG_QUANTA_THRESHOLD, &mut self.threshold)?;
        visitor.plain(&t::LONG_QUANTA_INEFFICIENT, &mut self.inefficient)?;
        visitor.plain(&t::LONG_QUANTA_S1, &mut self.s1)?;
        visitor.plain(&t::LONG_QUANTA_S2, &mut self.s2)?;
        visitor.plain(&t::LONG_QUANTA_C, &mut self.c)?;
        visitor.plain(&t::LONG_QUANTA_MAX, &mut self.max)?;
        visitor.plain(&t::LONG_QUANTA_INSERT, &mut self.insert)
    }
}

impl Default for Quanta {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Default for LongQuanta {
    fn default() -> Self {
        Self::DEFAULT
    }
}
