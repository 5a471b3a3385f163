//! What an experiment has to show: findings, charts and tables, with all their numbers.
//!
//! A page is what `tidegate-lab reproduce --json` prints and what `tidegate-lab report` reads. It knows nothing of how it was made or how it will look.

use serde::{Deserialize, Serialize};
use tidegate_command::output::{Table, Value};

use crate::engine::{Interval, Verdict};

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

/// A claim of the source beside our figure.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Finding {
    pub id: String,
    /// The claim in one sentence, with its size.
    pub what: String,
    /// Section, figure or table of the source.
    pub source: String,
    /// The published figure; empty if the text has none.
    pub published: String,
    /// Which figures agree and which contradict.
    pub range: String,
    /// Our figure, with the ends of its interval of 95 % confidence.
    pub ours: String,
    pub verdict: Verdict,
    /// What there is to say about it.
    pub why: String,
}

/// Charts and tables that belong together.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Section {
    pub title: String,
    pub text: String,
    pub charts: Vec<Chart>,
    pub tables: Vec<Table>,
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
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub log: bool,
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

impl Page {
    /// A page without findings and sections, of an experiment that `source` published.
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
}

impl Page {
    /// The findings, each with its explanation, which is "As above." if it is that of the finding
    /// before.
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

    /// Removes findings, charts and rows of which nothing was measured.
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
    /// The finding with an explanation.
    pub fn because(self, why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            ..self
        }
    }

    /// The finding with another verdict, where the programs or the machine cannot show the effect
    /// if `cannot` holds; a cell that was not measured stays so.
    pub fn unless(self, cannot: bool, verdict: Verdict) -> Self {
        match cannot && self.verdict != Verdict::NotMeasured {
            true => Self { verdict, ..self },
            false => self,
        }
    }
}

impl Point {
    /// A point of a chart; none if the cell was not measured.
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
    use crate::engine::{Claim, Refuted};

    #[test]
    fn explains_a_thing_once() {
        let claim = Claim::new("id", "what", "source", 1.0..=2.0, Refuted::AtMost(0.5));
        let finding = |why: &str| {
            let finding = claim.finding(Interval::exact(1.0), |value| value.to_string());
            finding.because(why)
        };
        let mut page = Page::new("one", "One", "source");
        page.findings = ["", "", "a", "a", "b"].map(finding).into();
        let shown: Vec<&str> = page.explained().map(|(_, why)| why).collect();
        assert_eq!(shown, ["", "", "a", "As above.", "b"]);
    }
}
