//! A table of figures with a row for each run, or for each job of one run, and a summary.

use serde_json::{Map, Number, Value, json};
use tidegate_sim::{Bound, JobOutcome, Nanos};

use super::experiment::{Done, Experiment};
use tidegate_command::output::{Table, Value as Cell};
use tidegate_command::statistics::Sample;

#[derive(Clone, Copy)]
enum Unit {
    Seconds,
    Bytes,
    Count,
    Mean,
}

/// The name and unit of a column. Tables list their columns in order of importance.
struct Column(&'static str, Unit);

/// The first columns of a table of runs.
const OF_RUN: &[Column] = &[
    Column("t", Unit::Seconds),
    Column("mean_response", Unit::Seconds),
];

/// The last columns of a table of runs.
const LAST_OF_RUN: &[Column] = &[Column("worst_response", Unit::Seconds)];

/// The first columns of a table of jobs.
const OF_JOB: &[Column] = &[Column("arrived", Unit::Seconds), Column("t", Unit::Seconds)];

/// The columns that tables of runs and of jobs share.
const OF_BOTH: &[Column] = &[
    Column("p_mean", Unit::Mean),
    Column("steals", Unit::Count),
    Column("peak_bytes", Unit::Bytes),
    Column("attempts", Unit::Count),
    Column("tasks", Unit::Count),
    Column("asleep_seconds", Unit::Seconds),
    Column("held_up_seconds", Unit::Seconds),
    Column("failed_busy", Unit::Count),
    Column("failed_empty", Unit::Count),
    Column("touched_bytes", Unit::Bytes),
    Column("missed_bytes", Unit::Bytes),
    Column("sleeps", Unit::Count),
    Column("refusals", Unit::Count),
    Column("bounds_broken", Unit::Count),
];

/// The number of a row, which is the seed of a run or the number of a job, and its figures.
pub type Row = (u64, Vec<f64>);

/// A table of figures whose rows are numbered.
pub struct Sheet {
    /// The JSON names of the list of rows and of a row's number.
    names: [&'static str; 2],
    columns: Vec<&'static Column>,
    rows: Vec<Row>,
    /// The program of each row; `None` if there is only one program.
    programs: Option<Vec<String>>,
}

fn seconds(time: Nanos) -> f64 {
    time as f64 / 1e9
}

fn broken(bounds: &[Bound]) -> u64 {
    bounds.iter().filter(|bound| !bound.holds()).count() as u64
}

/// Returns the combined [`OF_BOTH`] figures of `jobs`.
fn of_both(jobs: &[JobOutcome], broken: u64) -> [f64; OF_BOTH.len()] {
    let sum = |of: &dyn Fn(&JobOutcome) -> u64| jobs.iter().map(of).sum::<u64>() as f64;
    let means = jobs.iter().map(|job| job.mean_allotment);
    [
        means.sum::<f64>() / jobs.len() as f64,
        sum(&|job| job.counters.steals),
        jobs.iter().map(|job| job.peak_bytes).max().unwrap_or(0) as f64,
        sum(&|job| job.counters.attempts),
        sum(&|job| job.counters.tasks),
        sum(&|job| job.counters.asleep) / 1e9,
        sum(&|job| job.counters.held_up) / 1e9,
        sum(&|job| job.counters.failed_busy),
        sum(&|job| job.counters.failed_empty),
        sum(&|job| job.counters.touched_bytes),
        sum(&|job| job.counters.missed_bytes),
        sum(&|job| job.counters.sleeps),
        sum(&|job| job.counters.refusals),
        broken as f64,
    ]
}

/// Returns the row of a run.
pub fn row(run: &Done) -> Row {
    let jobs = &run.outcome.jobs;
    let first = jobs.iter().map(|job| job.arrived).min().unwrap_or(0);
    let times: Vec<f64> = jobs.iter().map(|job| seconds(job.time())).collect();
    let mut row = vec![
        seconds(run.outcome.end() - first),
        times.iter().sum::<f64>() / times.len() as f64,
    ];
    let broken = run.bounds.iter().map(|bounds| broken(bounds)).sum();
    row.extend(of_both(jobs, broken));
    row.push(times.iter().copied().fold(0.0, f64::max));
    (run.seed, row)
}

impl Sheet {
    /// Creates a table with a row for each run.
    pub fn of_runs(rows: Vec<Row>) -> Self {
        Self {
            names: ["runs", "sim_seed"],
            columns: OF_RUN.iter().chain(OF_BOTH).chain(LAST_OF_RUN).collect(),
            rows,
            programs: None,
        }
    }

    /// Creates a table with a row for each job of a run.
    pub fn of_jobs(experiment: &Experiment, run: &Done) -> Self {
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
            programs: (experiment.subjects.len() > 1).then(|| {
                let label = |job| experiment.subject(job).label.clone();
                (0..experiment.instances).map(label).collect()
            }),
        }
    }

    /// Returns the median, minimum and maximum of each column. The list is empty if there is only
    /// one row.
    fn summary(&self) -> Vec<(&'static str, Vec<f64>)> {
        if self.rows.len() < 2 {
            return Vec::new();
        }
        let column = |place: usize| self.rows.iter().map(move |(_, row)| row[place]);
        let places = 0..self.columns.len();
        let all: Vec<_> = places.map(|place| Sample::new(column(place))).collect();
        let of = |what: fn(&Sample) -> f64| all.iter().map(what).collect();
        vec![
            ("median", of(Sample::median)),
            ("min", of(Sample::min)),
            ("max", of(Sample::max)),
        ]
    }

    /// Returns the rows and their summary as JSON fields.
    pub fn to_json(&self) -> Map<String, Value> {
        let [names, name] = self.names;
        let mut fields = Map::new();
        let rows = self.rows.iter().enumerate().map(|(place, (number, row))| {
            let mut fields = Map::new();
            fields.insert(name.into(), (*number).into());
            if let Some(programs) = &self.programs {
                fields.insert("program".into(), programs[place].clone().into());
            }
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

    /// Returns the rows and their summary as a table.
    pub fn to_table(&self) -> Table {
        let names = self.columns.iter().map(|column| column.0);
        let program = self.programs.as_ref().map(|_| "program");
        let first = std::iter::once(self.names[1]).chain(program);
        let mut table = Table::new(first.chain(names));
        let rows = self.rows.iter().enumerate().map(|(place, (number, row))| {
            let program = self.programs.as_ref().map(|all| all[place].clone());
            (number.to_string(), program, row.clone())
        });
        let summary = self.summary().into_iter().map(|(name, row)| {
            let program = self.programs.as_ref().map(|_| String::new());
            (name.to_owned(), program, row)
        });
        for (name, program, row) in rows.chain(summary) {
            let figures = self.columns.iter().zip(row);
            let figures = figures.map(|(Column(_, unit), figure)| match unit {
                Unit::Seconds => Cell::Seconds(figure),
                Unit::Bytes => Cell::Bytes(figure),
                Unit::Count | Unit::Mean => Cell::Number(figure),
            });
            let program = program.map(Cell::from);
            let first = std::iter::once(name.into()).chain(program);
            table.row(first.chain(figures));
        }
        table
    }
}

/// Converts a figure to JSON. A count becomes an integer if it is whole.
fn exact(Column(_, unit): &Column, figure: f64) -> Value {
    match unit {
        Unit::Count | Unit::Bytes if figure.fract() == 0.0 => (figure as u64).into(),
        _ => Number::from_f64(figure).map_or(Value::Null, Value::Number),
    }
}
