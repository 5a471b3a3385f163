//! Dynamic quanta: a thief sleeps after a stretch of time that it mostly spent stealing.
//!
//! A quantum has no fixed length, only a least one: it ends at the first failed attempt after that.
//! It was inefficient when the share of it spent stealing exceeds the threshold. After an
//! inefficient quantum the thief sleeps, longer with each one in a row, and the next is shorter;
//! every so often one of normal length is inserted, so that a thief with very short quanta still
//! gets a real chance. Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, sections 5.2 and
//! 5.3 (algorithms 5.1 to 5.4) and, with a long quantum that tempers the short ones, section 5.5
//! (algorithms 5.5 to 5.8).
//!
//! Where the source leaves something open: the first quantum begins at the first failed attempt ever, so that a worker
//! that never steals reads no clock; the sleep after an inserted quantum is as if no inefficient one had been before it,
//! and counting goes on; what is taken out of a long quantum is the time really slept, not the time asked for.

use super::tunables as t;
use crate::Nanos;
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor};

/// Parameters of the dynamic quanta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quanta {
    /// Least length of a quantum.
    pub length: Nanos,
    /// Share spent stealing above which a quantum was inefficient.
    pub threshold: f64,
    /// How much a sleep grows with the share spent stealing.
    pub s1: f64,
    /// How much a sleep grows with each inefficient quantum before.
    pub s2: f64,
    /// How much a quantum shrinks with each inefficient one before.
    pub c: f64,
    /// The longest sleep.
    pub max: Nanos,
    /// After how many inefficient quanta one of normal length is inserted.
    pub insert: usize,
}

/// Parameters of the long and short quanta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongQuanta {
    /// Least length of a short quantum.
    pub length: Nanos,
    /// Least length of a long quantum.
    pub long: Nanos,
    /// Share spent stealing above which a quantum was inefficient.
    pub threshold: f64,
    /// Whose share counts.
    pub inefficient: Inefficient,
    /// How much a sleep grows with the product of both shares.
    pub s1: f64,
    /// How much a sleep grows with each inefficient quantum before.
    pub s2: f64,
    /// How much a quantum shrinks with each inefficient one before.
    pub c: f64,
    /// The longest sleep.
    pub max: Nanos,
    /// After how many inefficient quanta one of normal length is inserted.
    pub insert: usize,
}

/// Which share spent stealing must exceed the threshold for a short quantum to be inefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inefficient {
    /// That of the short quantum.
    Short,
    /// That of the short or that of the long quantum.
    Either,
    /// Both.
    Both,
    /// The mean of both.
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

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), ParseError> {
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

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), ParseError> {
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
    /// The defaults of its [`tunables`](crate::tunables).
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Default for LongQuanta {
    /// The defaults of its [`tunables`](crate::tunables).
    fn default() -> Self {
        Self::DEFAULT
    }
}
