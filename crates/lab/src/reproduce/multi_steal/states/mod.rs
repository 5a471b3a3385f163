//! How the number of tasks per worker is distributed over time: a simulated machine compared with a
//! model of differential equations.
//!
//! The model was published by Mitzenmacher, "Analyses of load stealing models based on differential
//! equations", 1998; Adnan and Sato use it in section 3.4. The number of workers is infinite, so
//! fractions of workers are continuous. A worker with tasks finishes tasks at rate 1. A worker
//! without tasks picks a random victim at rate r, and takes as many of its n tasks as the strategy
//! determines. `p_n` is the fraction of workers with n tasks, and `s_i` the fraction of workers
//! with i or more tasks.

mod machine;
mod model;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tidegate_policy::{Nanos, StealAmount};
use tidegate_workloads::Size;

use super::programs::amount;
use crate::arguments;
use crate::engine::{Cell, Sample, Session};
use crate::reproduce::measured::{Batch, Figure, Measured, View};
use crate::reproduce::page::{Chart, Line, Page, Point};
use crate::reproduce::paper::{Paper, Results};
use machine::{BEGIN, STEP, STEPS, Scale, simulated};
use model::{Model, at_least};
use tidegate_cli_support::failure::Failure;

/// The mean length of a task, the model's unit of time.
const UNIT: Nanos = 1_000_000;

/// How long an attempt to steal takes, for a worker without tasks.
const ATTEMPT: Nanos = UNIT / 20;

/// The probability that a task creates two more when it ends, as in a binomial tree of UTS.
const BRANCHES: f64 = 0.6;

/// The strategies that run on the machine. With a larger fixed number of tasks, most workers would
/// search for seconds without finding a victim, so only the model covers larger numbers.
const STRATEGIES: [&str; 3] = ["bottommost", "fixed 2", "dynamic"];

/// The states that are kept for each run. State i is the fraction of workers with at least i tasks.
/// Such workers are busy (1), have many tasks (4), or can be victims: of thieves that take one task
/// or half (2), or of thieves that take 2, 16 or 20 tasks (3, 17 and 21).
const STATES: [usize; 6] = [1, 2, 3, 4, 17, 21];

/// The states in the charts: busy workers, victims of thieves that take one task, and workers with
/// many tasks.
const SHOWN: [usize; 3] = [1, 2, 4];

type Row = [f64; STATES.len()];

/// The course of one run, with a row of [`STATES`] for each step.
#[derive(Serialize, Deserialize, Clone, Default)]
pub struct Course {
    machine: Vec<Row>,
    /// The model's rows. The first one equals the machine's first row.
    model: Vec<Row>,
}

/// Selects the rows of the machine or of the model.
type Side = fn(&Course) -> &[Row];

const SIDES: [(Side, &str); 2] = [
    (|course| &course.machine, "machine"),
    (|course| &course.model, "model"),
];

impl Course {
    fn new(amount: StealAmount, scale: Scale, seed: u64) -> Result<Self, Failure> {
        let rows = simulated(amount, scale, seed)?;
        let mut fractions = rows.first().cloned().unwrap_or_default();
        // No worker ever gets twice as many tasks as the busiest worker has at the start.
        fractions.resize(2 * fractions.len(), 0.0);
        Ok(Self {
            machine: rows.iter().map(|row| states(row)).collect(),
            model: model_rows(Model { amount, fractions }, rows.len()),
        })
    }
}

fn mean(rows: &[Row], state: usize) -> f64 {
    let column = column(state);
    rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64
}

fn states(fractions: &[f64]) -> Row {
    STATES.map(|tasks| at_least(fractions, tasks))
}

fn column(state: usize) -> usize {
    let mut states = STATES.iter();
    let found = states.position(|kept| *kept == state);
    found.expect("a state that is kept")
}

/// Returns the states of a model at each step.
fn model_rows(mut model: Model, steps: usize) -> Vec<Row> {
    let row = |_| {
        let row = states(&model.fractions);
        model.advance(STEP as f64 / UNIT as f64);
        row
    };
    (0..steps).map(row).collect()
}

/// Returns the course of the model alone, without noise. It starts in the same way for all
/// strategies: an eighth of the workers have 24 tasks each. Many figures read it, so it is computed
/// only once.
fn model_alone(strategy: &str) -> Arc<[Row]> {
    static COMPUTED: Mutex<BTreeMap<String, Arc<[Row]>>> = Mutex::new(BTreeMap::new());
    let compute = || {
        let mut fractions = vec![0.0; 97];
        (fractions[0], fractions[24]) = (7.0 / 8.0, 1.0 / 8.0);
        let amount = amount(strategy);
        model_rows(Model { amount, fractions }, STEPS).into()
    };
    let mut computed = COMPUTED.lock().unwrap_or_else(PoisonError::into_inner);
    let rows = computed.entry(strategy.to_owned()).or_insert_with(compute);
    rows.clone()
}

/// Returns the runs of each strategy. All strategies use the same seeds.
pub fn batch(session: &Session) -> Batch<Course> {
    let size: Size = session.size().into();
    // With few runs, noise hides small differences between the strategies.
    let most = [4, 16, 64][size as usize];
    let scale = Scale::of(size);
    let cell = |strategy: &'static str| {
        let Scale { workers, roots } = scale;
        let full = format!("states/workers={workers} roots={roots}/{strategy}");
        let run = move |run| Course::new(amount(strategy), scale, run + 1);
        (strategy.to_owned(), Cell::new(full, run))
    };
    Batch::simulated(session.runs(most), STRATEGIES.map(cell))
}

/// Adds the claims about the distribution of tasks, and the section that shows it.
pub fn add(page: &mut Page, paper: &Paper, measured: Measured<Course>, size: arguments::Size) {
    let runs = STRATEGIES.map(|strategy| measured.runs(strategy).len());
    let charts = STRATEGIES.map(|strategy| chart(&measured, strategy));
    let mut results = Results::new(paper, measured, FIGURES, size);
    let Scale { workers, roots } = Scale::of(size.into());
    let looks = (UNIT / ATTEMPT) as i64;
    let runs = runs.into_iter().max().unwrap_or(0) as i64;
    let values = [
        ("workers", workers as i64),
        ("roots", roots.into()),
        ("looks", looks),
        ("runs", runs),
    ];
    for (name, value) in values {
        results.list(name, vec![value.into()]);
    }
    results.list("branches", vec![BRANCHES.into()]);
    page.findings.extend(results.findings("states"));
    let mut sections = results.sections("states");
    sections[0].charts = charts.into();
    page.sections.append(&mut sections);
}

type V<'a> = View<'a, Course>;

#[rustfmt::skip]
pub const FIGURES: &[Figure<Course>] = &[
    // One of four processors has four tasks, and one steal takes place: how many can be robbed.
    ("states-one-steal", |_| {
        let victims = |strategy| {
            let taken = amount(strategy).take(3);
            let tasks = [4 - taken, taken];
            tasks.iter().filter(|tasks| **tasks >= 2).count() as f64
        };
        victims("dynamic") / victims("bottommost")
    }),
    // Each ratio is of two runs with the same seed.
    ("on the machine", |v| {
        v.read(|| {
            let (rule, base) = (v.fill("{rule}"), v.fill("{base}"));
            let pairs = v.measured.runs(&rule).iter().zip(v.measured.runs(&base));
            let [of_rule, of_base] = states_of(v);
            let ratios = pairs
                .map(|(one, other)| mean(&one.machine, of_rule) / mean(&other.machine, of_base));
            (rule.clone(), Sample::new(ratios))
        })
    }),
    ("in the model", |v| {
        let [of_rule, of_base] = states_of(v);
        let alone = |strategy: &str| model_alone(&v.fill(strategy));
        mean(&alone("{rule}"), of_rule) / mean(&alone("{base}"), of_base)
    }),
    ("apart", apart),
    ("machine", |v| {
        let rule = v.fill("{rule}");
        if !STRATEGIES.contains(&rule.as_str()) {
            return f64::NAN;
        }
        let state = v.number("state") as usize;
        v.read(|| {
            let means = v
                .measured
                .runs(&rule)
                .iter()
                .map(|course| mean(&course.machine, state));
            (rule.clone(), Sample::new(means))
        })
    }),
    ("model", |v| mean(&model_alone(&v.fill("{rule}")), v.number("state") as usize)),
];

fn states_of(v: V<'_>) -> [usize; 2] {
    ["state", "base state"].map(|name| v.number(name) as usize)
}

/// Returns a figure of each run of a strategy.
fn sample(measured: &Measured<Course>, strategy: &str, figure: impl Fn(&Course) -> f64) -> Sample {
    Sample::new(measured.runs(strategy).iter().map(figure))
}

/// The difference between machine and model, at the step and state where the median difference is
/// largest.
fn apart(v: V<'_>) -> f64 {
    let rule = v.fill("{rule}");
    let differences = |(step, column): (usize, usize)| {
        let difference =
            |course: &Course| course.machine[step][column] - course.model[step][column];
        sample(v.measured, &rule, difference)
    };
    let first = v.measured.runs(&rule).first();
    let steps = first.map_or(0, |course| course.machine.len());
    let places = (0..steps).flat_map(|step| SHOWN.map(|state| (step, column(state))));
    let medians = places.map(|place| (place, differences(place).median()));
    let most = medians.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let Some((place, median)) = most else {
        return f64::NAN;
    };
    let redrawn = v.read(|| (rule.clone(), differences(place)));
    (median.signum() * redrawn).max(0.0)
}

/// Draws how the states of machine and model change under a strategy.
fn chart(measured: &Measured<Course>, strategy: &str) -> Chart {
    let first = measured.runs(strategy).first();
    let steps = first.map_or(0, |course| course.machine.len());
    let line = |state: usize, (side, name): (Side, &str)| {
        let point = |step: usize| {
            let x = (BEGIN + step as u64 * STEP) as f64 / UNIT as f64;
            let at = |course: &Course| side(course)[step][column(state)];
            Point::new(x, sample(measured, strategy, at).interval())
        };
        Line {
            name: format!("s{state}, {name}"),
            points: (0..steps).filter_map(point).collect(),
        }
    };
    let lines = SHOWN
        .into_iter()
        .flat_map(|state| SIDES.map(|side| line(state, side)));
    Chart {
        title: strategy.to_owned(),
        x: "time, in mean lengths of a task".to_owned(),
        y: "fraction of workers".to_owned(),
        labels: vec![],
        log: false,
        lines: lines.collect(),
    }
}

#[cfg(test)]
mod tests {
    use toml::Value;

    use super::*;

    #[test]
    fn machine_follows_only_its_model() {
        let paper = Paper::read(super::super::PAPER);
        let runs = |strategy: &str| {
            let of = |seed| Course::new(amount(strategy), Scale::of(Size::Small), seed);
            (1..=4).map(of).collect::<Result<Vec<_>, _>>().unwrap()
        };
        let (one, fixed) = (runs("bottommost"), runs("fixed 2"));
        let other = fixed.iter().zip(&one).map(|(fixed, one)| Course {
            machine: fixed.machine.clone(),
            model: one.model.clone(),
        });
        for (courses, follows) in [(other.collect(), false), (one, true), (fixed, true)] {
            let measured = Measured::of([("fixed 2".to_owned(), courses)]);
            let apart = measured.view(&paper.lists, |v| {
                v.with("rule", &Value::from("fixed 2"), |v| v.value(apart))
            });
            assert!(
                if follows { apart <= 0.08 } else { apart > 0.15 },
                "{apart}"
            );
        }
    }
}
