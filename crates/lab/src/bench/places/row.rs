//! From samples to rows.

use std::fmt;

use serde_json::{Value, json};
use tidegate::PlaceBy;
use tidegate_workloads::locality::Locality;

use super::Placed;
use crate::bench::counters::{Counts, EVENTS};
use tidegate_command::arguments::TableFormat;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Table, Value as Cell, print_json, to_stdout};
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
pub fn print(rows: &[Row], refusal: Option<&str>, format: TableFormat) -> Result<(), Failure> {
    if format.json {
        return print_json(&rows.iter().map(|row| row.to_json(rows)).collect());
    }
    table(rows).print(format)?;
    match refusal.filter(|_| !format.csv) {
        Some(refusal) => {
            to_stdout(|out| writeln!(out, "\ncache counters are not available: {refusal}"))
        }
        None => Ok(()),
    }
}

/// The most important columns first.
fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "program",
        "locality",
        "places",
        "bound",
        "time",
        "ratio",
        "steals",
        "last-level misses",
        "cache references",
    ]);
    for row in rows {
        let [references, misses] = row.counts();
        table.row([
            row.program.into(),
            row.locality.map_or("no hints", Locality::name).into(),
            row.places.to_string().into(),
            if row.bound { "yes" } else { "no" }.into(),
            Cell::known(row.seconds(), Cell::Seconds),
            Cell::known(row.ratio(rows), Cell::Ratio),
            Cell::known(row.steals(), Cell::Number),
            Cell::known(misses, Cell::Number),
            Cell::known(references, Cell::Number),
        ]);
    }
    table
}
