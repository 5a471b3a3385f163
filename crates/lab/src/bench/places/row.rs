//! From samples to rows.

use std::fmt;

use serde_json::{Value, json};
use tidegate::PlaceBy;
use tidegate_workloads::locality::Locality;

use super::Placed;
use crate::bench::counters::{Counts, EVENTS};
use tidegate_command::failure::Failure;
use tidegate_command::output::{Table, print_json, show_ratio, show_seconds, to_stdout};
use tidegate_command::statistics::Summary;

/// What one run gave.
pub struct Sample {
    pub seconds: f64,
    pub steals: f64,
    pub counts: Counts,
}

/// A program, in a locality, on a pool.
pub struct Row {
    pub program: &'static str,
    pub locality: Option<Locality>,
    pub places: PlaceBy,
    pub bound: bool,
    workers: usize,
    samples: Vec<Sample>,
}

impl Row {
    pub(super) fn new(program: &'static str, locality: Option<Locality>, placed: &Placed) -> Self {
        Self {
            program,
            locality,
            places: placed.places,
            bound: placed.bound,
            workers: placed.workers,
            samples: Vec::new(),
        }
    }

    pub fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// The median of what was seen each time; none if it was not.
    fn median(&self, of: impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
        let seen: Option<Vec<f64>> = self.samples.iter().map(of).collect();
        Some(Summary::of(seen?)?.median())
    }

    pub fn seconds(&self) -> Option<f64> {
        self.median(|sample| Some(sample.seconds))
    }

    fn steals(&self) -> Option<f64> {
        self.median(|sample| Some(sample.steals))
    }

    pub fn counts(&self) -> Counts {
        let mut counts = [None; EVENTS];
        for (event, count) in counts.iter_mut().enumerate() {
            *count = self.median(|sample| sample.counts[event]);
        }
        counts
    }

    /// Whether others of its program and binding are measured by this one: it has no hints, or one place where there are none to have.
    fn is_base(&self) -> bool {
        match self.locality {
            Some(locality) => locality == Locality::Ignorant,
            None => self.places == PlaceBy::Machine,
        }
    }

    /// How much longer it took than that row.
    fn ratio(&self, rows: &[Self]) -> Option<f64> {
        let is_mine = |row: &&Self| (row.program, row.bound) == (self.program, self.bound);
        let base = rows.iter().filter(is_mine).find(|row| row.is_base())?;
        Some(self.seconds()? / base.seconds()?)
    }

    fn to_json(&self, rows: &[Self]) -> Value {
        let [references, misses] = self.counts();
        json!({
            "program": self.program,
            "locality": self.locality.map(Locality::name),
            "places": self.places.to_string(),
            "bound": self.bound,
            "workers": self.workers,
            "median_of": self.samples.len(),
            "seconds": self.seconds(),
            "ratio": self.ratio(rows),
            "steals": self.steals(),
            "cache_references": references,
            "last_level_misses": misses,
        })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hints = self.locality.map_or("no hints", Locality::name);
        let bound = if self.bound { ", bound" } else { "" };
        write!(
            f,
            "{}, {hints}, places {}{bound}",
            self.program, self.places
        )
    }
}

/// Prints all rows, and why there are no counts.
pub fn print(rows: &[Row], refusal: Option<&str>, as_json: bool) -> Result<(), Failure> {
    if as_json {
        return print_json(&rows.iter().map(|row| row.to_json(rows)).collect());
    }
    let mut table = Table::new([
        "program",
        "locality",
        "places",
        "bound",
        "time",
        "ratio",
        "steals",
        "cache references",
        "last-level misses",
    ]);
    let unknown = || "not available".to_owned();
    for row in rows {
        let [references, misses] = row
            .counts()
            .map(|count| count.map_or_else(unknown, |count| format!("{count:.0}")));
        table.row([
            row.program.into(),
            row.locality.map_or("no hints", Locality::name).into(),
            row.places.to_string(),
            if row.bound { "yes" } else { "no" }.into(),
            row.seconds().map_or_else(unknown, show_seconds),
            row.ratio(rows).map_or_else(unknown, show_ratio),
            row.steals()
                .map_or_else(unknown, |steals| format!("{steals:.0}")),
            references,
            misses,
        ]);
    }
    to_stdout(|out| {
        writeln!(out, "{table}")?;
        refusal.map_or(Ok(()), |refusal| {
            writeln!(out, "\ncache counters are not available: {refusal}")
        })
    })
}
