//! A table of figures with a row for each run, or for each job of one run, and a summary.

use std::slice;

use serde_json::{Map, Value, json};
use tidegate_sim::{Bound, JobOutcome, Nanos};

use super::experiment::{Done, Experiment};
use tidegate_cli_support::output::sheet::{Column, Field, Sheet, describe_columns, number};
use tidegate_cli_support::output::{Table, Value as Cell};
use tidegate_cli_support::statistics::Sample;

/// Jobs of a run, with their bounds.
#[derive(Clone, Copy)]
pub struct Jobs<'a> {
    jobs: &'a [JobOutcome],
    bounds: &'a [Vec<Bound>],
}

/// A column, and how its figure is computed.
pub struct Figure(Column, fn(Jobs<'_>) -> f64);

/// Declares lists of figures, each with its name, its unit, what the help says about it, and how it
/// is computed. The figures of a list are in the order of their importance.
macro_rules! figures {
    ($($list:ident { $($name:ident: $unit:ident, $meaning:literal, $of:expr;)* })*) => {$(
        const $list: &[Figure] = &[$(Figure(
            Column::new(stringify!($name), stringify!($name), Cell::$unit, $meaning),
            $of,
        )),*];
    )*};
}

figures! {
    // The first and last columns of a table of runs.
    OF_RUN {
        t: Seconds, "from the first arrival to the last completion (in `runs`)",
            |all| seconds(all.most(|job| job.ended) - all.of(|job| job.arrived).min().unwrap_or(0));
        mean_response: Seconds, "mean time from a job's arrival to its completion (in `runs`)",
            |all| all.mean(|job| seconds(job.time()));
    }
    LAST_OF_RUN {
        worst_response: Seconds, "the longest of these times (in `runs`)",
            |all| seconds(all.most(JobOutcome::time));
    }
    // The first columns of a table of jobs.
    OF_JOB {
        arrived: Seconds, "when the job arrived (in `jobs`)", |job| seconds(job.most(|job| job.arrived));
        t: Seconds, "from its arrival to its completion (in `jobs`)", |job| seconds(job.most(JobOutcome::time));
    }
    // What tables of runs, tables of jobs and the report on a single run share.
    OF_ALL {
        p_mean: Number, "mean number of processors allotted", |all| all.mean(|job| job.mean_allotment);
        steals: Number, "attempts to steal that succeeded", |all| all.sum(|job| job.counters.steals);
        peak_bytes: Bytes, "peak of reserved memory", |all| all.most(|job| job.peak_bytes) as f64;
        attempts: Number, "attempts to steal", |all| all.sum(|job| job.counters.attempts);
        tasks: Number, "tasks that ran", |all| all.sum(|job| job.counters.tasks);
        asleep_seconds: Seconds, "how long all workers slept for lack of work",
            |all| all.sum(|job| job.counters.asleep) / 1e9;
        held_up_seconds: Seconds, "how long workers were delayed because the job estimated its desire",
            |all| all.sum(|job| job.counters.held_up) / 1e9;
        failed_busy: Number, "attempts that failed although the victim had work",
            |all| all.sum(|job| job.counters.failed_busy);
        failed_empty: Number, "attempts that failed because the victim had none",
            |all| all.sum(|job| job.counters.failed_empty);
        touched_bytes: Bytes, "bytes that tasks touched, if they report them",
            |all| all.sum(|job| job.counters.touched_bytes);
        missed_bytes: Bytes, "the part of them that was not in the place's cache",
            |all| all.sum(|job| job.counters.missed_bytes);
        sleeps: Number, "how often a task slept until memory was available, or yielded to an earlier task",
            |all| all.sum(|job| job.counters.sleeps);
        refusals: Number, "requests for memory that could never be granted",
            |all| all.sum(|job| job.counters.refusals);
    }
    BROKEN {
        bounds_broken: Number, "the number of broken bounds, instead of `bounds`",
            |all| all.bounds.iter().flatten().filter(|bound| !bound.holds()).count() as f64;
    }
}

/// The number of a row, which is the seed of a run or the number of a job, and its figures.
pub type Row = (u64, Vec<f64>);

/// A table of figures whose rows are numbered.
pub struct Rows {
    /// The JSON name of the list of rows.
    name: &'static str,
    /// The columns before the figures.
    names: Vec<Column>,
    figures: Vec<Column>,
    rows: Vec<Row>,
    /// The program of each row; `None` if there is only one program.
    programs: Option<Vec<String>>,
}

pub fn seconds(time: Nanos) -> f64 {
    time as f64 / 1e9
}

impl Jobs<'_> {
    fn of<T>(self, of: impl Fn(&JobOutcome) -> T) -> impl Iterator<Item = T> {
        self.jobs.iter().map(of)
    }

    fn sum(self, of: impl Fn(&JobOutcome) -> u64) -> f64 {
        self.of(of).sum::<u64>() as f64
    }

    fn most(self, of: impl Fn(&JobOutcome) -> u64) -> u64 {
        self.of(of).max().unwrap_or(0)
    }

    fn mean(self, of: impl Fn(&JobOutcome) -> f64) -> f64 {
        self.of(of).sum::<f64>() / self.jobs.len() as f64
    }

    fn figures(self, lists: &[&'static [Figure]]) -> Vec<f64> {
        let figures = lists.iter().copied().flatten();
        figures.map(|Figure(_, figure)| figure(self)).collect()
    }
}

impl<'a> From<&'a Done> for Jobs<'a> {
    fn from(run: &'a Done) -> Self {
        Self {
            jobs: &run.outcome.jobs,
            bounds: &run.bounds,
        }
    }
}

const RUNS: [&[Figure]; 4] = [OF_RUN, OF_ALL, BROKEN, LAST_OF_RUN];
const JOBS: [&[Figure]; 3] = [OF_JOB, OF_ALL, BROKEN];

/// Returns the row of a run.
pub fn row(run: &Done) -> Row {
    (run.seed, Jobs::from(run).figures(&RUNS))
}

/// Returns the figures that the report on a single run shares with tables, as JSON fields.
pub fn shared(run: &Done) -> Map<String, Value> {
    let figures = OF_ALL.iter();
    let field = |Figure(column, of): &Figure| (column.field.to_owned(), number(of(run.into())));
    figures.map(field).collect()
}

/// Returns what the help says about the figures that a single run has, and about those that only
/// tables have.
pub fn help() -> [String; 2] {
    [&[OF_ALL][..], &[OF_JOB, OF_RUN, LAST_OF_RUN, BROKEN]]
        .map(|lists| describe_columns(&columns(lists)))
}

fn columns(lists: &[&'static [Figure]]) -> Vec<Column> {
    let figures = lists.iter().copied().flatten();
    figures.map(|Figure(column, _)| *column).collect()
}

const fn name(name: &'static str) -> Column {
    Column::new(name, name, Cell::Number, "")
}

impl Rows {
    /// Creates a table with a row for each run.
    pub fn of_runs(rows: Vec<Row>) -> Self {
        Self {
            name: "runs",
            names: vec![name("sim_seed")],
            figures: columns(&RUNS),
            rows,
            programs: None,
        }
    }

    /// Creates a table with a row for each job of a run.
    pub fn of_jobs(experiment: &Experiment, run: &Done) -> Self {
        let jobs = run.outcome.jobs.iter().zip(&run.bounds).enumerate();
        let rows = jobs.map(|(number, (job, bounds))| {
            let (jobs, bounds) = (slice::from_ref(job), slice::from_ref(bounds));
            (number as u64, Jobs { jobs, bounds }.figures(&JOBS))
        });
        let programs = (experiment.programs.len() > 1).then(|| {
            let label = |job| experiment.program(job).label.clone();
            (0..experiment.instances).map(label).collect()
        });
        let program = programs.as_ref().map(|_| name("program"));
        let names = [name("job")].into_iter().chain(program);
        Self {
            name: "jobs",
            names: names.collect(),
            figures: columns(&JOBS),
            rows: rows.collect(),
            programs,
        }
    }

    /// Returns the median, minimum and maximum of each figure. The list is empty if there is only
    /// one row.
    fn summary(&self) -> Vec<(&'static str, Vec<f64>)> {
        if self.rows.len() < 2 {
            return Vec::new();
        }
        let column = |place: usize| self.rows.iter().map(move |(_, row)| row[place]);
        let places = 0..self.figures.len();
        let all: Vec<_> = places.map(|place| Sample::new(column(place))).collect();
        let of = |what: fn(&Sample) -> f64| all.iter().map(what).collect();
        vec![
            ("median", of(Sample::median)),
            ("min", of(Sample::min)),
            ("max", of(Sample::max)),
        ]
    }

    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new(&[&self.names[..], &self.figures].concat());
        for (place, (number, figures)) in self.rows.iter().enumerate() {
            let program = self.programs.as_ref().map(|all| &all[place][..]);
            sheet.row(entries(Field::Whole(*number), program, figures));
        }
        sheet
    }

    /// Returns the rows and their summary as JSON fields.
    pub fn to_json(&self) -> Map<String, Value> {
        let summary = self.summary();
        let of = |(place, column): (usize, &Column)| {
            let figures = summary.iter();
            let figures = figures.map(|(name, row)| ((*name).to_owned(), number(row[place])));
            (column.field.to_owned(), figures.collect())
        };
        let summary: Map<_, Value> = self.figures.iter().enumerate().map(of).collect();
        Map::from_iter([
            (self.name.to_owned(), self.sheet().to_json()),
            ("summary".to_owned(), json!(summary)),
        ])
    }

    /// Returns the rows and their summary as a table.
    pub fn to_table(&self) -> Table {
        let mut sheet = self.sheet();
        for (name, figures) in self.summary() {
            let program = self.programs.as_ref().map(|_| "");
            sheet.row(entries(Field::text(name), program, &figures));
        }
        sheet.to_table()
    }
}

fn entries(first: Field, program: Option<&str>, figures: &[f64]) -> Vec<Field> {
    let figures = figures.iter().map(|figure| Field::number(*figure));
    let program = program.map(Field::text);
    [first].into_iter().chain(program).chain(figures).collect()
}
