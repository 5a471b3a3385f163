//! How workers are grouped into places.

use crate::error::ParseError;
use crate::limits::MOST_WORKERS;
use crate::text;
use crate::tunable::{Basis, Tunable, choice, choices, count, table};
use core::fmt;
use core::str::FromStr;

/// What the workers of a place (a cache domain) share. Default: [`Cache`](Self::Cache).
///
/// ```
/// use tidegate_policy::PlaceBy;
///
/// assert_eq!("each:4".parse(), Ok(PlaceBy::Each(4)));
/// assert_eq!(PlaceBy::Core.to_string(), "core");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceBy {
    /// The last-level cache: the largest cache that does not span the machine, if the system
    /// reports one (the default).
    Cache,
    /// A core, with its hardware threads.
    Core,
    /// A NUMA node.
    Node,
    /// A processor package.
    Package,
    /// The whole machine: there is only one place.
    Machine,
    /// Nothing in particular: each place has this many workers (1 to 4,096), with consecutive
    /// numbers.
    Each(usize),
}

impl PlaceBy {
    pub(crate) const NAMES: &'static [&'static str] =
        &["cache", "core", "node", "package", "machine", "each:N"];

    /// Rejects a number outside the range of [`PLACES_EACH`].
    ///
    /// # Errors
    /// Returns an error that names the number and the range.
    pub fn check(self) -> Result<Self, ParseError> {
        if let Self::Each(workers) = self {
            PLACES_EACH.check(workers)?;
        }
        Ok(self)
    }
}

table! {
    PLACES: PlaceBy = choice("places", PlaceBy::NAMES, PlaceBy::Cache).set_by("TIDEGATE_PLACES"),
        "Groups workers into places by what they share: by default a last-level cache, the nearest cache that still holds a task's data after the task has ended.",
        Basis::Published("Weibel 2010, section 4.2");
    PLACES_EACH: usize = count("places.each", "workers", 1, MOST_WORKERS, 1),
        "The number of workers per place, if places have a fixed size. It must be given.", Basis::Guessed;
}

choices!(PlaceBy, check);

impl Default for PlaceBy {
    fn default() -> Self {
        PLACES.default
    }
}

impl fmt::Display for PlaceBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Cache => "cache",
            Self::Core => "core",
            Self::Node => "node",
            Self::Package => "package",
            Self::Machine => "machine",
            Self::Each(workers) => return write!(f, "each:{workers}"),
        })
    }
}

impl FromStr for PlaceBy {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(match text {
            "cache" => Self::Cache,
            "core" => Self::Core,
            "node" => Self::Node,
            "package" => Self::Package,
            "machine" => Self::Machine,
            _ => match text.strip_prefix("each:") {
                Some(workers) => Self::Each(PLACES_EACH.parse(workers)?),
                None => return Err(text::unknown("place grouping", text, Self::NAMES)),
            },
        })
    }
}
