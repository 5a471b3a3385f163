//! Many runs, or the jobs of one, as rows of figures with a summary.

use std::io::{self, Write};

use serde_json::{Map, Number, Value, json};
use tidegate_sim::{Bound, JobOutcome, Nanos};

use super::experiment::Done;
use tidegate_command::output::{Table, show_bytes, show_seconds};
use tidegate_command::statistics::Summary;

/// How a figure is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Seconds,
    Bytes,
    Count,
    Mean,
}

/// A column: its name, the unit, and whether it stands in the table for people, who have one line.
struct Column(&'static str, Unit, bool);

/// The columns of a run.
const OF_RUN: &[Column] = &[
    Column("t", Unit::Seconds, true),
    Column("mean_response", Unit::Seconds, true),
    Column("worst_response", Unit::Seconds, false),
];

/// The columns of a job.
const OF_JOB: &[Column] = &[
    Column("arrived", Unit::Seconds, true),
    Column("t", Unit::Seconds, true),
];

/// The columns of both.
const OF_BOTH: &[Column] = &[
    Column("p_mean", Unit::Mean, true),
    Column("tasks", Unit::Count, false),
    Column("attempts", Unit::Count, true),
    Column("steals", Unit::Count, true),
    Column("partly_failed", Unit::Count, false),
    Column("purely_failed", Unit::Count, false),
    Column("asleep_seconds", Unit::Seconds, true),
    Column("held_up_seconds", Unit::Seconds, false),
    Column("peak_bytes", Unit::Bytes, true),
    Column("touched_bytes", Unit::Bytes, false),
    Column("missed_bytes", Unit::Bytes, false),
    Column("sleeps", Unit::Count, false),
    Column("refusals", Unit::Count, false),
    Column("bounds_broken", Unit::Count, true),
];

/// Rows of figures, each with a number of its own.
pub struct Sheet {
    /// What the rows are together, and what their numbers are.
    names: [&'static str; 2],
    columns: Vec<&'static Column>,
    rows: Vec<(u64, Vec<f64>)>,
}

fn seconds(time: Nanos) -> f64 {
    time as f64 / 1e9
}

fn broken(bounds: &[Bound]) -> u64 {
    bounds.iter().filter(|bound| !bound.holds()).count() as u64
}

/// The figures that stand in [`OF_BOTH`], of these jobs together.
fn of_both(jobs: &[JobOutcome], broken: u64) -> [f64; OF_BOTH.len()] {
    let sum = |of: &dyn Fn(&JobOutcome) -> u64| jobs.iter().map(of).sum::<u64>() as f64;
    let means = jobs.iter().map(|job| job.mean_allotment);
    [
        means.sum::<f64>() / jobs.len() as f64,
        sum(&|job| job.counters.tasks),
        sum(&|job| job.counters.attempts),
        sum(&|job| job.counters.steals),
        sum(&|job| job.counters.partly_failed),
        sum(&|job| job.counters.purely_failed),
        sum(&|job| job.counters.asleep) / 1e9,
        sum(&|job| job.counters.held_up) / 1e9,
        jobs.iter().map(|job| job.peak_bytes).max().unwrap_or(0) as f64,
        sum(&|job| job.counters.touched_bytes),
        sum(&|job| job.counters.missed_bytes),
        sum(&|job| job.counters.sleeps),
        sum(&|job| job.counters.refusals),
        broken as f64,
    ]
}

impl Sheet {
    /// A row for each run.
    pub fn of_runs(runs: &[Done]) -> Self {
        let row = |run: &Done| {
            let jobs = &run.outcome.jobs;
            let first = jobs.iter().map(|job| job.arrived).min().unwrap_or(0);
            let times: Vec<f64> = jobs.iter().map(|job| seconds(job.time())).collect();
            let mut row = vec![
                seconds(run.outcome.end() - first),
                times.iter().sum::<f64>() / times.len() as f64,
                times.iter().copied().fold(0.0, f64::max),
            ];
            let broken = run.bounds.iter().map(|bounds| broken(bounds)).sum();
            row.extend(of_both(jobs, broken));
            (run.seed, row)
        };
        Self {
            names: ["runs", "sim_seed"],
            columns: OF_RUN.iter().chain(OF_BOTH).collect(),
            rows: runs.iter().map(row).collect(),
        }
    }

    /// A row for each job of a run.
    pub fn of_jobs(run: &Done) -> Self {
        let jobs = run.outcome.jobs.iter().zip(&run.bounds).enumerate();
        let rows = jobs.map(|(number, (job, bounds))| {
            let mut row = vec![seconds(job.arrived), seconds(job.time())];
            row.extend(of_both(std::slice::from_ref(job), broken(bounds)));
            (number as u64, row)
        });
        Self {
            names: ["jobs", "job"],
            columns: OF_JOB.iter().chain(OF_BOTH).collect(),
            rows: rows.collect(),
        }
    }

    /// Each column's median, least and greatest figure, by name; of a single row nothing.
    fn summary(&self) -> Vec<(&'static str, Vec<f64>)> {
        if self.rows.len() < 2 {
            return Vec::new();
        }
        let column = |place: usize| self.rows.iter().map(move |(_, row)| row[place]);
        let all: Vec<_> = (0..self.columns.len())
            .filter_map(|place| Summary::of(column(place)))
            .collect();
        let of = |what: fn(&Summary) -> f64| all.iter().map(what).collect();
        vec![
            ("median", of(Summary::median)),
            ("min", of(Summary::min)),
            ("max", of(Summary::max)),
        ]
    }

    /// The rows and their summary, as fields of an answer.
    pub fn to_json(&self) -> Map<String, Value> {
        let [names, name] = self.names;
        let mut fields = Map::new();
        let rows = self.rows.iter().map(|(number, row)| {
            let mut fields = Map::new();
            fields.insert(name.into(), (*number).into());
            let figures = self.columns.iter().zip(row);
            fields
                .extend(figures.map(|(column, figure)| (column.0.into(), exact(column, *figure))));
            Value::Object(fields)
        });
        fields.insert(names.into(), rows.collect());
        let summary = self.summary();
        let of = |place: usize, column: &Column| {
            let figures = summary.iter();
            let figures =
                figures.map(|(name, row)| ((*name).to_owned(), exact(column, row[place])));
            (column.0.to_owned(), figures.collect::<Value>())
        };
        let columns = self.columns.iter().enumerate();
        let summary: Map<_, _> = columns.map(|(place, column)| of(place, column)).collect();
        fields.insert("summary".into(), json!(summary));
        fields
    }

    /// The same as comma-separated values: names, a line for each row, and a line for each figure of the summary.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<_> = self.columns.iter().map(|column| column.0).collect();
        writeln!(out, "{},{}", self.names[1], names.join(","))?;
        let rows = self
            .rows
            .iter()
            .map(|(number, row)| (number.to_string(), row.clone()));
        let summary = self
            .summary()
            .into_iter()
            .map(|(name, row)| (name.to_owned(), row));
        for (name, row) in rows.chain(summary) {
            let figures: Vec<_> = row.iter().map(f64::to_string).collect();
            writeln!(out, "{name},{}", figures.join(","))?;
        }
        Ok(())
    }

    /// The same as a table for people, with fewer columns.
    pub fn to_table(&self) -> Table {
        let shown = |place: &usize| {
            let used = self.rows.iter().any(|(_, row)| row[*place] > 0.0);
            self.columns[*place].2 && (used || self.columns[*place].1 != Unit::Bytes)
        };
        let places: Vec<usize> = (0..self.columns.len()).filter(shown).collect();
        let names = places.iter().map(|place| self.columns[*place].0);
        let mut table = Table::with_columns(std::iter::once(self.names[1]).chain(names));
        let rows = self
            .rows
            .iter()
            .map(|(number, row)| (number.to_string(), row.clone()));
        let summary = self
            .summary()
            .into_iter()
            .map(|(name, row)| (name.to_owned(), row));
        for (name, row) in rows.chain(summary) {
            let figures = places
                .iter()
                .map(|place| brief(self.columns[*place], row[*place]));
            table.row(std::iter::once(name).chain(figures));
        }
        table
    }
}

/// A figure as JSON; whole if it counts and is.
fn exact(Column(_, unit, _): &Column, figure: f64) -> Value {
    match unit {
        Unit::Count | Unit::Bytes if figure.fract() == 0.0 => (figure as u64).into(),
        _ => Number::from_f64(figure).map_or(Value::Null, Value::Number),
    }
}

/// A figure for people.
fn brief(Column(_, unit, _): &Column, figure: f64) -> String {
    match unit {
        Unit::Seconds => show_seconds(figure),
        Unit::Bytes => show_bytes(figure),
        Unit::Count => figure.to_string(),
        Unit::Mean => format!("{figure:.2}"),
    }
}
