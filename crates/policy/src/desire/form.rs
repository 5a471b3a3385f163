//! The text form of the estimators.

use super::{ADeque, ASteal, DesirePolicy, Dws, Palirria, Steady, Wsap};
use crate::error::ParseError;
use crate::parameters::{Policy, split, without};
use crate::text;
use core::fmt;
use core::str::FromStr;

const INSTANTANEOUS: &str = "instantaneous";

impl DesirePolicy {
    const NAMES: &'static [&'static str] = &[
        Steady::NAME,
        Wsap::NAME,
        INSTANTANEOUS,
        ASteal::NAME,
        ADeque::NAME,
        Palirria::NAME,
        Dws::NAME,
    ];

    /// Returns the names of all estimators, for help texts.
    #[must_use]
    pub const fn names() -> &'static [&'static str] {
        Self::NAMES
    }
}

impl FromStr for DesirePolicy {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (name, list) = split(text);
        match name {
            Steady::NAME => Steady::read(list).map(Self::Steady),
            Wsap::NAME => Wsap::read(list).map(Self::Wsap),
            INSTANTANEOUS => without(name, list).map(|()| Self::Instantaneous),
            ASteal::NAME => ASteal::read(list).map(Self::ASteal),
            ADeque::NAME => ADeque::read(list).map(Self::ADeque),
            Palirria::NAME => Palirria::read(list).map(Self::Palirria),
            Dws::NAME => Dws::read(list).map(Self::Dws),
            _ => Err(text::unknown("desire policy", name, Self::NAMES)),
        }
    }
}

impl fmt::Display for DesirePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steady(p) => p.show(f),
            Self::Wsap(p) => p.show(f),
            Self::Instantaneous => f.write_str(INSTANTANEOUS),
            Self::ASteal(p) => p.show(f),
            Self::ADeque(p) => p.show(f),
            Self::Palirria(p) => p.show(f),
            Self::Dws(p) => p.show(f),
        }
    }
}
