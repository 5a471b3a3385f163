//! The names of items.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// The name of an item: its number in the plan, and, if a piece left it to others, the numbers that
/// lead to it: `12.3` is the fourth item that the piece of item 12 left.
///
/// Names are ordered as results are merged: an item comes before those that its piece left, and
/// these come before the next item of the plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(Vec<usize>);

impl Name {
    /// Returns the name of an item of the plan.
    pub fn planned(number: usize) -> Self {
        Self(vec![number])
    }

    /// Returns the name of an item that the piece of this item has left.
    pub fn child(&self, number: usize) -> Self {
        Self(self.0.iter().copied().chain([number]).collect())
    }

    /// Returns the item whose piece has left this item, and this item's number among those, or the
    /// item's number in the plan.
    pub fn origin(&self) -> (Option<Self>, usize) {
        let (last, before) = self.0.split_last().expect("a name has a number");
        let parent = (!before.is_empty()).then(|| Self(before.to_vec()));
        (parent, *last)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

impl FromStr for Name {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // Another spelling of a number would be another name of the same item.
        let number = |part: &str| {
            let number = part.parse().ok();
            number.filter(|number: &usize| number.to_string() == part)
        };
        let numbers: Option<Vec<usize>> = text.split('.').map(number).collect();
        numbers.map(Self).ok_or_else(|| {
            Error::never(format!(
                "invalid item {text:?}: expected a number, such as 12, or numbers, such as 12.3"
            ))
        })
    }
}

impl TryFrom<String> for Name {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_results_are_merged() {
        let names = ["2", "2.0", "2.0.1", "2.1", "2.10", "10"];
        let names = names.map(|name| name.parse::<Name>().unwrap());
        assert!(names.is_sorted());
    }

    #[test]
    fn every_item_has_one_name() {
        for text in ["", "a", "-1", "+1", "01", "1.", ".1", "1..2", "1.02"] {
            assert!(text.parse::<Name>().is_err(), "{text}");
        }
        let name = Name::planned(12).child(3);
        assert_eq!(name.to_string(), "12.3");
        assert_eq!(name.origin(), (Some(Name::planned(12)), 3));
        assert_eq!(Name::planned(12).origin(), (None, 12));
    }
}
