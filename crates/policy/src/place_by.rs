//! How workers are grouped into places.

use crate::error::ParseError;
use crate::limits::MOST_WORKERS;
use crate::text;
use crate::tunable::{Basis, Tunable, choice, choices, count, table};
use core::fmt;
use core::str::FromStr;

/// What the workers of a place share.
///
/// ```
/// use tidegate_policy::PlaceBy;
///
/// assert_eq!("each:4".parse(), Ok(PlaceBy::Each(4)));
/// assert_eq!(PlaceBy::Core.to_string(), "core");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceBy {
    /// The last-level cache: the largest that is shared below the machine, where the system tells.
    Cache,
    /// A core with its hardware threads.
    Core,
    /// A NUMA node.
    Node,
    /// A package.
    Package,
    /// The machine: one place.
    Machine,
    /// Nothing: so many workers each, in the order of their numbers.
    Each(usize),
}

impl PlaceBy {
    pub(crate) const NAMES: &'static [&'static str] =
        &["cache", "core", "node", "package", "machine", "each:N"];

    /// Refuses a number outside the range of [`PLACES_EACH`].
    ///
    /// # Errors
    /// Names the number and the range.
    pub fn check(self) -> Result<Self, ParseError> {
        if let Self::Each(workers) = self {
            PLACES_EACH.check(workers)?;
        }
        Ok(self)
    }
}

table! {
    PLACES: PlaceBy = choice("places", PlaceBy::NAMES, PlaceBy::Cache).set_by("TIDEGATE_PLACES"),
        "What the workers of a place share; the last-level cache is the nearest in which a task's data outlives the task.",
        Basis::Published("Weibel 2010, section 4.2");
    PLACES_EACH: usize = count("places.each", "workers", 1, MOST_WORKERS, 1),
        "How many workers a place has where their number is given; that number must be given.", Basis::Guessed;
}

choices!(PlaceBy);

impl Default for PlaceBy {
    /// [`PLACES`].
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
                None => return Err(text::unknown("grouping of workers", text, Self::NAMES)),
            },
        })
    }
}
