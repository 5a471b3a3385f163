//! The columns of the screen: titles, widths, cells, and the order that each gives to rows.

use std::cmp::Ordering;
use std::time::Duration;

use crate::roster::Row;

/// A column by which rows can be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The process.
    Pid,
    /// What the job calls itself.
    Name,
    /// How many processors it could use.
    Desire,
    /// How many it is entitled to.
    Allotment,
    /// How many workers it has running.
    InUse,
    /// How much of their time goes into work.
    Efficiency,
    /// For how long it has been there.
    Since,
}

impl Column {
    /// All of them, as they stand on the screen.
    pub const ALL: [Self; 7] = [
        Self::Pid,
        Self::Name,
        Self::Desire,
        Self::Allotment,
        Self::InUse,
        Self::Efficiency,
        Self::Since,
    ];

    /// The same, those that are dropped last first when there is little room.
    pub const BY_WEIGHT: [Self; 7] = [
        Self::Name,
        Self::InUse,
        Self::Allotment,
        Self::Desire,
        Self::Pid,
        Self::Since,
        Self::Efficiency,
    ];

    /// The word above the column.
    pub fn title(self) -> &'static str {
        match self {
            Self::Pid => "pid",
            Self::Name => "name",
            Self::Desire => "desire",
            Self::Allotment => "allotment",
            Self::InUse => "in use",
            Self::Efficiency => "efficiency",
            Self::Since => "since",
        }
    }

    /// The key that sorts by it, and where that letter is in the title.
    pub fn key(self) -> (char, usize) {
        match self {
            // The first letter, as in all others, would be that of no word anybody has in mind.
            Self::InUse => ('u', 3),
            _ => (self.title().chars().next().unwrap_or(' '), 0),
        }
    }

    /// How many cells it takes at least.
    pub fn width(self) -> u16 {
        match self {
            Self::Pid => 7,
            Self::Name => 8,
            Self::Since => 6,
            _ => self.title().len() as u16,
        }
    }

    /// What stands in it, at the time `now` since 1970.
    pub fn cell(self, row: &Row, now: Duration) -> String {
        match self {
            Self::Pid => row.pid.to_string(),
            Self::Name => row.name.clone(),
            Self::Desire => row.desire.to_string(),
            Self::Allotment => row.allotment.to_string(),
            Self::InUse => row.in_use.to_string(),
            Self::Efficiency => row.efficiency_text(),
            Self::Since => row.age_text(now),
        }
    }

    /// The order that it gives: what is counted with the largest first, everything else as people read.
    pub fn compare(self, a: &Row, b: &Row) -> Ordering {
        match self {
            Self::Pid => a.pid.cmp(&b.pid),
            Self::Name => a.name.cmp(&b.name),
            Self::Desire => b.desire.cmp(&a.desire),
            Self::Allotment => b.allotment.cmp(&a.allotment),
            Self::InUse => b.in_use.cmp(&a.in_use),
            Self::Efficiency => b.efficiency.cmp(&a.efficiency),
            Self::Since => a.since.cmp(&b.since),
        }
    }
}
