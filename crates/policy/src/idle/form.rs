//! The text form of the idle policies.

use super::backoff::{
    Backoff, Combination, Exponential, ExponentialLinear, Linear, LinearExponential, PheetOriginal,
    Randomness,
};
use super::quanta::{Inefficient, LongQuanta, Quanta};
use super::{Elastic, IdlePolicy};
use crate::error::ParseError;
use crate::parameters::{Policy, split, without};
use crate::text;
use crate::tunable::words;
use core::fmt;
use core::str::FromStr;

const YIELD_THEN: &str = "yield-then-";

impl IdlePolicy {
    const NAMES: &'static [&'static str] = &[
        Elastic::NAME,
        "none",
        "yield",
        "abp-yield",
        Linear::NAME,
        Exponential::NAME,
        PheetOriginal::NAME,
        ExponentialLinear::NAME,
        LinearExponential::NAME,
        Combination::NAME,
        "yield-then-BACKOFF",
        Quanta::NAME,
        LongQuanta::NAME,
    ];

    /// Returns the names of all policies, for help texts; `BACKOFF` stands for any backoff.
    #[must_use]
    pub const fn names() -> &'static [&'static str] {
        Self::NAMES
    }
}

impl FromStr for IdlePolicy {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if let Some(backoff) = text.strip_prefix(YIELD_THEN) {
            return backoff.parse().map(Self::YieldThen);
        }
        let (name, list) = split(text);
        let plain = match name {
            Elastic::NAME => return Elastic::read(list).map(Self::Elastic),
            Quanta::NAME => return Quanta::read(list).map(Self::Quanta),
            LongQuanta::NAME => return LongQuanta::read(list).map(Self::LongQuanta),
            "none" => Self::None,
            "yield" => Self::Yield,
            "abp-yield" => Self::AbpYield,
            _ => {
                return match read_backoff(name, list) {
                    Some(backoff) => backoff.map(Self::Backoff),
                    None => Err(text::unknown("idle policy", name, Self::NAMES)),
                };
            }
        };
        without(name, list).map(|()| plain)
    }
}

impl FromStr for Backoff {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (name, list) = split(text);
        read_backoff(name, list).unwrap_or_else(|| Err(text::unknown("backoff", name, Self::NAMES)))
    }
}

/// Parses a backoff with the parameters in `list`. Returns `None` if no backoff has this name.
fn read_backoff(name: &str, list: Option<&str>) -> Option<Result<Backoff, ParseError>> {
    Some(match name {
        Linear::NAME => Linear::read(list).map(Backoff::Linear),
        Exponential::NAME => Exponential::read(list).map(Backoff::Exponential),
        PheetOriginal::NAME => PheetOriginal::read(list).map(Backoff::PheetOriginal),
        ExponentialLinear::NAME => ExponentialLinear::read(list).map(Backoff::ExponentialLinear),
        LinearExponential::NAME => LinearExponential::read(list).map(Backoff::LinearExponential),
        Combination::NAME => Combination::read(list).map(Backoff::Combination),
        _ => return None,
    })
}

impl fmt::Display for IdlePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elastic(p) => p.show(f),
            Self::None => f.write_str("none"),
            Self::Yield => f.write_str("yield"),
            Self::AbpYield => f.write_str("abp-yield"),
            Self::Backoff(p) => p.fmt(f),
            Self::YieldThen(p) => write!(f, "{YIELD_THEN}{p}"),
            Self::Quanta(p) => p.show(f),
            Self::LongQuanta(p) => p.show(f),
        }
    }
}

impl fmt::Display for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear(p) => p.show(f),
            Self::Exponential(p) => p.show(f),
            Self::PheetOriginal(p) => p.show(f),
            Self::ExponentialLinear(p) => p.show(f),
            Self::LinearExponential(p) => p.show(f),
            Self::Combination(p) => p.show(f),
        }
    }
}

words!(
    Randomness,
    "randomness",
    None = "none",
    Constant = "constant",
    LimitMax = "limit-max"
);
words!(
    Inefficient,
    "condition",
    Short = "short",
    Either = "either",
    Both = "both",
    Mean = "mean"
);
