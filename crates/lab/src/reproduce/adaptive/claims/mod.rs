//! The claims of the thesis, as ranges of figures that a measurement can contradict.
//!
//! If the thesis gives a number, our figure agrees when it is nearer to that number, on a
//! logarithmic scale, than to 1 (no effect) and to the next number of the same experiment. If the
//! thesis uses only a word, we interpret the word as a range, which is the same for all claims; see
//! the constants here.

mod lu;
mod overall;
mod parameters;
mod programs;
mod sleeps;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use super::medians::{View, interval};
use crate::engine::{Claim, Refuted, Verdict};
use crate::reproduce::page::Finding;
use tidegate_command::output::show_ratio;
use tidegate_workloads::Size;

pub use super::simulated::Results;

/// The range for "no big difference" and "roughly the same".
pub const ALIKE: RangeInclusive<f64> = 0.91..=1.10;
/// The range for "slightly" and "a little".
pub const SLIGHTLY: RangeInclusive<f64> = 1.02..=1.25;
/// The range for "significantly", "clearly" and "quite badly". It ends at 3, because the thesis
/// gives numbers for higher ratios.
pub const WORSE: RangeInclusive<f64> = 1.10..=3.0;
/// The range for "really badly": on a logarithmic scale, nearer to 3 than to 1, and nearer to 18
/// than to 100.
pub const AWFUL: RangeInclusive<f64> = 1.73..=44.0;
/// Running times count as equal if the ratio of the longest to the shortest is in this range.
const CLOSE: RangeInclusive<f64> = 1.0..=1.10;
/// Running times count as different if the ratio of the longest to the shortest is at least this.
const APART: f64 = 1.25;

/// The names of the loads on all processors of Mars, for one, two and four instances.
pub const MARS: [&str; 3] = ["80", "80-2", "80-4"];
/// Like [`MARS`], but for Saturn.
pub const SATURN: [&str; 3] = ["48", "48-2", "48-4"];

/// The schedulers of chapter 6.
pub const SEVEN: [&str; 7] = [
    "linear",
    "quanta",
    "long-quanta",
    "none",
    "pheet-original",
    "yield",
    "abp-yield",
];

/// The tuned backoffs of chapter 4.
pub const TUNED: [&str; 5] = [
    "linear",
    "exponential",
    "exponential-linear",
    "linear-exponential",
    "combination",
];

/// All backoffs of chapter 4.
const BACKOFFS: [&str; 8] = [
    "none",
    "pheet-original",
    "yield",
    TUNED[0],
    TUNED[1],
    TUNED[2],
    TUNED[3],
    TUNED[4],
];

/// Explains why yields perform differently here and in the thesis.
const YIELDS: &str = "A yield costs nothing here while no other thread waits for the processor, and \
    otherwise leaves the processor for a whole slice of time, as on the Linux of today. The thesis \
    found yields good on Saturn and bad on Mars, and does not know why.";

/// A claim, and the function that computes its figure.
pub struct Row<R> {
    id: &'static str,
    /// The claim in one sentence.
    what: &'static str,
    /// The section, figure or table that contains the claim.
    source: &'static str,
    agrees: RangeInclusive<f64>,
    refuted: Refuted,
    published: Option<f64>,
    figure: fn(&View<'_, R>) -> f64,
    why: &'static str,
    /// Whether the programs must run as long as those of the thesis.
    needs_paper: bool,
}

impl<R> Row<R> {
    pub const fn new(
        id: &'static str,
        what: &'static str,
        source: &'static str,
        agrees: RangeInclusive<f64>,
        refuted: Refuted,
        figure: fn(&View<'_, R>) -> f64,
    ) -> Self {
        Self {
            id,
            what,
            source,
            agrees,
            refuted,
            published: None,
            figure,
            why: "",
            needs_paper: false,
        }
    }

    /// Creates a claim that a ratio is above 1.
    pub const fn above(
        id: &'static str,
        what: &'static str,
        source: &'static str,
        agrees: RangeInclusive<f64>,
        figure: fn(&View<'_, R>) -> f64,
    ) -> Self {
        Self::new(id, what, source, agrees, Refuted::AtMost(1.0), figure)
    }

    /// Creates a claim that a ratio is below 1.
    pub const fn below(
        id: &'static str,
        what: &'static str,
        source: &'static str,
        agrees: RangeInclusive<f64>,
        figure: fn(&View<'_, R>) -> f64,
    ) -> Self {
        Self::new(id, what, source, agrees, Refuted::AtLeast(1.0), figure)
    }

    /// Creates a claim that two times are equal.
    const fn alike(
        id: &'static str,
        what: &'static str,
        source: &'static str,
        figure: fn(&View<'_, R>) -> f64,
    ) -> Self {
        let refuted = Refuted::Outside(1.0 / APART, APART);
        Self::new(id, what, source, ALIKE, refuted, figure)
    }

    /// Creates a claim that the slowest of several rules takes about as long as the fastest.
    const fn close(
        id: &'static str,
        what: &'static str,
        source: &'static str,
        figure: fn(&View<'_, R>) -> f64,
    ) -> Self {
        Self::new(id, what, source, CLOSE, Refuted::AtLeast(APART), figure)
    }

    pub const fn published(self, figure: f64) -> Self {
        Self {
            published: Some(figure),
            ..self
        }
    }

    /// Adds an explanation of the figure or the range.
    pub const fn because(self, why: &'static str) -> Self {
        Self { why, ..self }
    }

    /// Marks a claim that can be tested only with programs that run as long as those of the thesis.
    const fn of_long_programs(self) -> Self {
        Self {
            needs_paper: true,
            ..self
        }
    }

    /// Judges the claim on the basis of these results. `size` is the size of the programs.
    pub fn finding(&self, results: &R, size: Size) -> Finding {
        let agrees = self.agrees.clone();
        let mut claim = Claim::new(self.id, self.what, self.source, agrees, self.refuted);
        if let Some(figure) = self.published {
            claim = claim.published(figure);
        }
        let ours = interval(results, self.figure);
        let is_too_small = match size {
            Size::Tiny => true,
            Size::Small => self.needs_paper,
            Size::Paper => false,
        };
        let finding = claim.finding(ours, show_ratio).because(self.why);
        finding.unless(is_too_small, Verdict::TooSmall)
    }
}

/// Returns all claims that can be tested on simulated machines.
fn rows() -> impl Iterator<Item = &'static Row<Results>> {
    let groups = [
        lu::ROWS,
        overall::ROWS,
        programs::ROWS,
        parameters::ROWS,
        sleeps::ROWS,
    ];
    groups.into_iter().flatten()
}

pub fn findings(results: &Results, size: Size) -> Vec<Finding> {
    rows().map(|row| row.finding(results, size)).collect()
}
