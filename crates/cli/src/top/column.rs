//! The columns of the screen: their titles, widths, cells and sort orders.

use std::cmp::Ordering;
use std::time::Duration;

use crate::roster::JobStatus;

/// A column of the screen. Rows can be sorted by any column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Pid,
    Name,
    /// The number of processors that the job could use.
    Desire,
    /// The number of processors that the job is entitled to.
    Allotment,
    /// The number of workers that the job is running.
    InUse,
    /// The fraction of its processors' time that the job spends on work.
    Efficiency,
    /// The time since the job joined.
    Since,
}

impl Column {
    /// All columns, from left to right.
    #[rustfmt::skip]
    pub const ALL: [Self; 7] = [
        Self::Pid, Self::Name, Self::Desire, Self::Allotment, Self::InUse, Self::Efficiency,
        Self::Since,
    ];

    /// All columns, with the most important one first. If space is short, the last ones are
    /// dropped.
    #[rustfmt::skip]
    pub const BY_WEIGHT: [Self; 7] = [
        Self::Name, Self::InUse, Self::Allotment, Self::Desire, Self::Pid, Self::Since,
        Self::Efficiency,
    ];

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

    /// Returns the key that sorts by this column, and the index of that letter in the title.
    pub fn key(self) -> (char, usize) {
        match self {
            // `u` stands for "in use", because `i` would be hard to remember.
            Self::InUse => ('u', 3),
            _ => (self.title().chars().next().unwrap_or(' '), 0),
        }
    }

    /// Returns the minimum width in cells, which has room for the mark of the sort order.
    pub fn width(self) -> u16 {
        match self {
            Self::Pid => 7,
            Self::Name => 8,
            Self::Since => 6,
            _ => self.title().len() as u16 + 1,
        }
    }

    /// Returns the text of this column in `status`. `now` is the time since 1970.
    pub fn cell(self, status: &JobStatus, now: Duration) -> String {
        match self {
            Self::Pid => status.pid.to_string(),
            // A terminal would obey control characters.
            Self::Name => status.name.escape_debug().to_string(),
            Self::Desire => status.desire.to_string(),
            Self::Allotment => status.allotment.to_string(),
            Self::InUse => status.in_use.to_string(),
            Self::Efficiency => status.efficiency_text(),
            Self::Since => status.age_text(now),
        }
    }

    /// Compares two jobs: numbers in descending order, and names, IDs and ages in ascending order.
    pub fn compare(self, a: &JobStatus, b: &JobStatus) -> Ordering {
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
