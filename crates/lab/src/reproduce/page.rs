//! The results of an experiment: findings, charts and tables, with all their numbers.
//!
//! `tidegate-lab reproduce --json` prints a page, and `tidegate-lab report` reads it. A page does
//! not depend on how its figures were obtained or how they are displayed.

use serde::{Deserialize, Serialize};
use tidegate_cli_support::output::{Table, Value};

use crate::engine::{Interval, Verdict};

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Page {
    /// The experiment's name on the command line.
    pub experiment: String,
    pub title: String,
    /// The publication: author, title and year.
    pub source: String,
    /// Whether our figures are compared with our own expectations, because no figures were
    /// published.
    #[serde(default)]
    pub expected: bool,
    /// The conditions of the runs: settings and their values.
    pub made: Vec<Setting>,
    /// Comparisons of our figures with published or expected figures.
    pub findings: Vec<Finding>,
    pub sections: Vec<Section>,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Setting {
    pub name: String,
    pub value: String,
}

/// A comparison of our figure with a claim of the source.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Finding {
    pub id: String,
    /// One sentence that states the claim, with the published figure.
    pub what: String,
    /// The section, figure or table of the source that contains the claim.
    pub source: String,
    /// The published figure, or empty if the source gives none.
    pub published: String,
    /// Describes the figures that agree with the claim and those that contradict it.
    pub range: String,
    /// Our figure, with the ends of its 95 % interval.
    pub ours: String,
    pub verdict: Verdict,
    pub why: String,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Section {
    pub title: String,
    pub text: String,
    pub charts: Vec<Chart>,
    pub tables: Vec<Table>,
}

/// Lines that share a horizontal axis.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Chart {
    pub title: String,
    /// What the horizontal axis shows, with its unit.
    pub x: String,
    /// What the vertical axis shows, with its unit.
    pub y: String,
    /// The labels of the positions 0, 1, 2 and so on of the horizontal axis; empty if the axis is
    /// numeric.
    pub labels: Vec<String>,
    #[serde(default)]
    pub log: bool,
    pub lines: Vec<Line>,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Line {
    pub name: String,
    pub points: Vec<Point>,
}

/// A position on the horizontal axis, and a value with its 95 % interval.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub low: f64,
    pub high: f64,
}

impl Page {
    pub fn new(experiment: &str, title: &str, source: &str) -> Self {
        Self {
            experiment: experiment.to_owned(),
            title: title.to_owned(),
            source: source.to_owned(),
            expected: false,
            made: vec![],
            findings: vec![],
            sections: vec![],
        }
    }

    /// Returns the findings with their explanations. An explanation that equals the previous one
    /// becomes "As above.".
    pub fn explained(&self) -> impl Iterator<Item = (&Finding, &str)> {
        let before = std::iter::once("").chain(self.findings.iter().map(|one| one.why.as_str()));
        self.findings.iter().zip(before).map(|(finding, before)| {
            let why = match finding.why.as_str() {
                why if !why.is_empty() && why == before => "As above.",
                why => why,
            };
            (finding, why)
        })
    }

    /// Removes findings, charts and rows that have no measurements.
    pub fn leave_out_unmeasured(&mut self) {
        self.findings
            .retain(|finding| finding.verdict != Verdict::NotMeasured);
        for section in &mut self.sections {
            for chart in &mut section.charts {
                chart.lines.retain(|line| !line.points.is_empty());
            }
            section.charts.retain(|chart| !chart.lines.is_empty());
            for table in &mut section.tables {
                let is_figure = |cell: &Value| !matches!(cell, Value::Text(_) | Value::Missing);
                table.rows.retain(|row| row.iter().any(is_figure));
            }
            section.tables.retain(|table| !table.rows.is_empty());
        }
        self.sections
            .retain(|section| !(section.charts.is_empty() && section.tables.is_empty()));
    }
}

impl Finding {
    /// Replaces the verdict if `cannot` is true, because the programs or the machine cannot show
    /// the effect. The verdict [`Verdict::NotMeasured`] stays.
    pub fn unless(self, cannot: bool, verdict: Verdict) -> Self {
        if cannot && self.verdict != Verdict::NotMeasured {
            Self { verdict, ..self }
        } else {
            self
        }
    }
}

impl Point {
    /// Creates a point, or returns `None` if the cell was not measured.
    pub fn new(x: f64, y: Interval) -> Option<Self> {
        let Interval { value, low, high } = y;
        let point = Self {
            x,
            y: value,
            low,
            high,
        };
        [value, low, high]
            .iter()
            .all(|end| end.is_finite())
            .then_some(point)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explains_a_thing_once() {
        let finding = |why: &str| Finding {
            id: String::new(),
            what: String::new(),
            source: String::new(),
            published: String::new(),
            range: String::new(),
            ours: String::new(),
            verdict: Verdict::Agrees,
            why: why.to_owned(),
        };
        let mut page = Page::new("one", "One", "source");
        page.findings = ["", "", "a", "a", "b"].map(finding).into();
        let shown: Vec<&str> = page.explained().map(|(_, why)| why).collect();
        assert_eq!(shown, ["", "", "a", "As above.", "b"]);
    }
}
