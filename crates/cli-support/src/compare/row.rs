//! The output of a comparison: a row per lane, and notes below the rows.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::lane::{Lane, Measurement};
use super::race::SERIAL;
use crate::arguments::TableFormat;
use crate::failure::Failure;
use crate::json_fields;
use crate::options;
use crate::output::{self, JsonField, Table, Value as Cell};
use crate::statistics::{Interval, Sample};
use crate::usage::Usage;

/// The columns of the table, the most important ones first.
#[rustfmt::skip]
const COLUMNS: [&str; 14] = [
    "case", "runtime", "workers", "median", "x serial", "x rayon", "p99", "low", "high",
    "vs serial", "min", "max", "cpu", "wakeups",
];

/// The measurements of one lane.
pub struct Row {
    /// The program or mechanism that was measured, such as `fib 42`.
    pub case: String,
    /// The runtime, such as `tidegate`, or `serial` for the serial version.
    pub runtime: &'static str,
    /// The runtime's version, or `None` if it has no version.
    version: Option<String>,
    /// The number of workers.
    pub workers: usize,
    /// The measured times in nanoseconds; empty if the runtime doesn't support the case.
    pub nanos: Sample,
    used: Usage,
    over_serial: Option<f64>,
    ratio_to_serial: Option<f64>,
    ratio_to_rayon: Option<f64>,
}

impl Row {
    /// Creates the rows of these lanes from their measurements.
    pub fn all(lanes: &[Lane<'_>], taken: &[Vec<Measurement>]) -> Vec<Self> {
        let rows = lanes.iter().zip(taken);
        let mut rows: Vec<Self> = rows.map(|(lane, taken)| Self::of(lane, taken)).collect();
        Self::relate(&mut rows);
        rows
    }

    fn of(lane: &Lane<'_>, taken: &[Measurement]) -> Self {
        let used = taken.iter().map(|one| one.used);
        Self {
            case: lane.case.clone(),
            runtime: lane.runtime,
            version: lane.version.clone(),
            workers: lane.workers,
            nanos: Sample::new(taken.iter().map(|one| one.nanos)),
            used: used.fold(Usage::none(), Usage::and),
            over_serial: None,
            ratio_to_serial: None,
            ratio_to_rayon: None,
        }
    }

    /// Computes the ratios between rows of the same case.
    fn relate(rows: &mut [Self]) {
        for index in 0..rows.len() {
            let row = &rows[index];
            let ratio_to = |other: Option<&Self>| {
                let other = other?.median().filter(|median| *median > 0.0)?;
                Some(row.median()? / other)
            };
            let other = |runtime| {
                let mut same = rows.iter().filter(|other| other.case == row.case);
                same.find(|other| {
                    other.runtime == runtime && (runtime == SERIAL || other.workers == row.workers)
                })
            };
            let serial = other(SERIAL);
            let over_serial = row.median().zip(serial.and_then(Self::median));
            let ratios = (ratio_to(serial), ratio_to(other("rayon")));
            rows[index].over_serial = over_serial.map(|(own, serial)| own - serial);
            (rows[index].ratio_to_serial, rows[index].ratio_to_rayon) = ratios;
        }
    }

    /// Returns the median in nanoseconds, or `None` if there are no measurements.
    pub fn median(&self) -> Option<f64> {
        (!self.nanos.is_empty()).then(|| self.nanos.median())
    }

    /// The fields of the JSON object.
    pub const FIELDS: &[JsonField<Self>] = json_fields! { row:
        case "" = row.case;
        runtime "" = row.runtime;
        version "" = row.version;
        workers "" = row.workers;
        median_ns "null, like other times, if the runtime does not support the case" = tenths(row.nanos.interval().value);
        median_low_ns "lower end of the median's 95 % confidence interval" = tenths(row.nanos.interval().low);
        median_high_ns "its upper end" = tenths(row.nanos.interval().high);
        p99_ns "" = tenths(row.nanos.p99());
        min_ns "" = tenths(row.nanos.min());
        max_ns "" = tenths(row.nanos.max());
        repetitions "" = row.nanos.count();
        over_serial_ns "difference of the medians" = row.over_serial.map(tenths);
        ratio_to_serial "of the medians" = row.ratio_to_serial;
        ratio_to_rayon "of the medians, with the same number of workers" = row.ratio_to_rayon;
        cpu_seconds "of the whole process during all repetitions" = row.used.cpu_seconds();
        wakeups "of the whole process during all repetitions" = row.used.wakeups;
    };

    fn cells(&self) -> [Cell; COLUMNS.len()] {
        let time = |nanos: Option<f64>| Cell::known(nanos.map(|nanos| nanos / 1e9), Cell::Seconds);
        let of = |nanos: f64| time(Some(nanos));
        let nanos = &self.nanos;
        let Interval { value, low, high } = nanos.interval();
        let used = (!nanos.is_empty()).then_some(self.used);
        let wakeups = used.and_then(|used| used.wakeups);
        [
            self.case.as_str().into(),
            self.runtime.into(),
            self.workers.into(),
            of(value),
            Cell::known(self.ratio_to_serial, Cell::Ratio),
            Cell::known(self.ratio_to_rayon, Cell::Ratio),
            of(nanos.p99()),
            of(low),
            of(high),
            time(self.over_serial),
            of(nanos.min()),
            of(nanos.max()),
            Cell::known(used.and_then(|used| used.cpu_seconds()), Cell::Seconds),
            Cell::known(wakeups.map(|wakeups| wakeups as f64), Cell::Number),
        ]
    }
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// A conclusion that is drawn from the rows of a comparison: a text, and a table that replaces the
/// table of rows.
pub trait Conclusion: fmt::Display {
    /// Returns the table that replaces the rows.
    fn table(&self) -> Table;

    /// Returns the conclusion as JSON, including the rows.
    fn to_json(&self, rows: Value) -> Value;
}

/// Everything that a comparison prints.
pub struct Outcome {
    /// The rows.
    pub rows: Vec<Row>,
    /// What the times in the rows measure, such as "one run".
    pub measure: String,
    /// Notes below the table.
    pub notes: Vec<String>,
    /// The conclusion, if any. Its table replaces the table of rows, and the JSON is then an
    /// object.
    pub conclusion: Option<Box<dyn Conclusion>>,
}

impl Outcome {
    /// Creates an outcome without a conclusion.
    pub fn new(rows: Vec<Row>, measure: impl Into<String>, notes: Vec<String>) -> Self {
        Self {
            rows,
            measure: measure.into(),
            notes,
            conclusion: None,
        }
    }

    /// Prints the rows as a table, as comma-separated values or as JSON.
    pub fn print(&self, format: TableFormat) -> Result<(), Failure> {
        if format.json {
            return output::print_json(&self.to_json());
        }
        let conclusion = self.conclusion.as_ref();
        let table = conclusion.map_or_else(|| self.table(), |conclusion| conclusion.table());
        if format.csv {
            return table.print(format);
        }
        let table = table.text(format.wide);
        let (_, why) = options::number_of_workers(None)?;
        output::to_stdout(|out| {
            writeln!(out, "{}", self.versions())?;
            writeln!(out, "machine: {why}")?;
            let (measure, repetitions) = (&self.measure, self.repetitions());
            write!(
                out,
                "times: {measure} ({repetitions} interleaved repetitions)"
            )?;
            match &self.conclusion {
                Some(conclusion) => write!(out, "\n{table}\n{conclusion}")?,
                None => writeln!(out, "; cpu and wakeups: totals\n{table}")?,
            }
            if self.rows.iter().any(|row| row.nanos.is_empty()) {
                writeln!(out, "rows without a time: not supported by that runtime")?;
            }
            self.notes
                .iter()
                .try_for_each(|note| writeln!(out, "{note}"))
        })
    }

    fn table(&self) -> Table {
        let mut table = Table::new(COLUMNS);
        self.rows.iter().for_each(|row| table.row(row.cells()));
        table
    }

    fn to_json(&self) -> Value {
        let rows: Value = self
            .rows
            .iter()
            .map(|row| output::to_json(Row::FIELDS, row))
            .collect();
        match &self.conclusion {
            Some(conclusion) => conclusion.to_json(rows),
            None => rows,
        }
    }

    /// Returns the number of measurements per row, or its range.
    fn repetitions(&self) -> String {
        let measured = self.rows.iter().filter(|row| !row.nanos.is_empty());
        let counts: BTreeSet<_> = measured.map(|row| row.nanos.count()).collect();
        match (counts.first(), counts.last()) {
            (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
            (_, most) => most.unwrap_or(&0).to_string(),
        }
    }

    /// Lists the compared runtimes with their versions.
    fn versions(&self) -> String {
        let mut named: Vec<String> = Vec::new();
        for row in &self.rows {
            if let Some(version) = &row.version {
                let name = format!("{} {version}", row.runtime);
                if !named.contains(&name) {
                    named.push(name);
                }
            }
        }
        named.join(", ")
    }
}
