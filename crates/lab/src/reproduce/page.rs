//! What an experiment has to show: findings, charts and tables, with all their numbers.
//!
//! A page is what `tidegate-lab reproduce --json` prints and what `tidegate-lab report` reads. It knows nothing of how it was made or how it will look.

use serde::{Deserialize, Serialize};

/// Everything about one experiment.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Page {
    /// Its name on the command line.
    pub experiment: String,
    pub title: String,
    /// Whose experiment it was: author, title, year.
    pub source: String,
    /// Whether nothing was published, so that what stands beside our figures is what we expect.
    #[serde(default)]
    pub expected: bool,
    /// How these figures were made: what was set, and to what.
    pub made: Vec<Setting>,
    /// Published or expected figures beside ours.
    pub findings: Vec<Finding>,
    pub sections: Vec<Section>,
}

/// A name and what it stands for.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Setting {
    pub name: String,
    pub value: String,
}

/// A published figure or statement, or what is expected, beside ours.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Finding {
    pub what: String,
    pub published: String,
    pub ours: String,
    /// Whether ours points in the same direction.
    pub agrees: bool,
    /// Why not, or what there is to say about it.
    pub why: String,
}

/// Charts and tables that belong together.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Section {
    pub title: String,
    pub text: String,
    pub charts: Vec<Chart>,
    pub tables: Vec<Sheet>,
}

/// Lines over the same axis.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Chart {
    pub title: String,
    /// What the axes mean, with units.
    pub x: String,
    pub y: String,
    /// What stands below the whole numbers from 0 on of the horizontal axis; where there is nothing, it is an axis of numbers.
    pub labels: Vec<String>,
    pub lines: Vec<Line>,
}

/// Points of the same kind.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Line {
    pub name: String,
    pub points: Vec<Point>,
}

/// A value, and between what it lies with a confidence of 95 %.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub low: f64,
    pub high: f64,
}

/// A table.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Sheet {
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Finding {
    /// One that says why only where it does not agree.
    pub fn new(
        what: impl Into<String>,
        published: impl Into<String>,
        ours: impl Into<String>,
        agrees: bool,
        why: impl Into<String>,
    ) -> Self {
        Self {
            what: what.into(),
            published: published.into(),
            ours: ours.into(),
            agrees,
            why: if agrees { String::new() } else { why.into() },
        }
    }
}

impl Setting {
    pub fn new(name: &str, value: impl ToString) -> Self {
        Self {
            name: name.to_owned(),
            value: value.to_string(),
        }
    }
}
