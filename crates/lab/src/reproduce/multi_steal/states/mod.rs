//! How the number of tasks per worker is distributed over time: a simulated machine compared with a
//! model of differential equations.
//!
//! The model was published by Mitzenmacher, "Analyses of load stealing models based on differential
//! equations", 1998; Adnan and Sato use it in section 3.4. The number of workers is infinite, so
//! fractions of workers are continuous. A worker with tasks finishes tasks at rate 1. A worker
//! without tasks picks a random victim at rate r, and takes as many of its n tasks as the strategy
//! determines. `p_n` is the fraction of workers with n tasks, and `s_i` the fraction of workers
//! with i or more tasks.

mod findings;
mod machine;
mod model;
mod section;

use serde::{Deserialize, Serialize};
use tidegate_policy::{Nanos, StealAmount};

use super::programs::amount;
use super::{BOTTOMMOST, DYNAMIC, FIXED_2};
use crate::engine::{Cell, Interval, Sample, Session};
use machine::{STEP, STEPS, Scale, simulated};
use model::{Model, at_least};
use tidegate_command::failure::Failure;
use tidegate_workloads::Size;

/// The mean length of a task, the model's unit of time.
const UNIT: Nanos = 1_000_000;

/// How long an attempt to steal takes, for a worker without tasks.
const ATTEMPT: Nanos = UNIT / 20;

/// The probability that a task creates two more when it ends, as in a binomial tree of UTS.
const BRANCHES: f64 = 0.6;

/// The strategies that run on the machine. With a larger fixed number of tasks, most workers would
/// search for seconds without finding a victim, so only the model covers larger numbers.
const STRATEGIES: [&str; 3] = [BOTTOMMOST, FIXED_2, DYNAMIC];

/// The states that are kept for each run. State i is the fraction of workers with at least i tasks.
/// Such workers are busy (1), have many tasks (4), or can be victims: of thieves that take one task
/// or half (2), or of thieves that take 2, 16 or 20 tasks (3, 17 and 21).
const STATES: [usize; 6] = [1, 2, 3, 4, 17, 21];

/// The course of one run, with a row of [`STATES`] for each step.
#[derive(Serialize, Deserialize, Clone, Default)]
struct Course {
    machine: Vec<[f64; STATES.len()]>,
    /// The model's rows. The first one equals the machine's first row.
    model: Vec<[f64; STATES.len()]>,
}

/// Selects the rows of the machine or of the model.
type Side = fn(&Course) -> &[[f64; STATES.len()]];

fn on_machine(course: &Course) -> &[[f64; STATES.len()]] {
    &course.machine
}

fn in_model(course: &Course) -> &[[f64; STATES.len()]] {
    &course.model
}

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

    /// Returns the mean of a state over all steps.
    fn mean(&self, side: Side, state: usize) -> f64 {
        let column = column(state);
        let rows = side(self);
        rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64
    }
}

fn states(fractions: &[f64]) -> [f64; STATES.len()] {
    STATES.map(|tasks| at_least(fractions, tasks))
}

fn column(state: usize) -> usize {
    let mut states = STATES.iter();
    let found = states.position(|kept| *kept == state);
    found.expect("a state that is kept")
}

/// Returns the states of a model at each step.
fn model_rows(mut model: Model, steps: usize) -> Vec<[f64; STATES.len()]> {
    let row = |_| {
        let row = states(&model.fractions);
        model.advance(STEP as f64 / UNIT as f64);
        row
    };
    (0..steps).map(row).collect()
}

/// Returns the course of the model alone, without noise. It starts in the same way for all
/// strategies: an eighth of the workers have 24 tasks each.
fn model_alone(strategy: &str) -> Course {
    let mut fractions = vec![0.0; 97];
    (fractions[0], fractions[24]) = (7.0 / 8.0, 1.0 / 8.0);
    let amount = amount(strategy);
    Course {
        machine: vec![],
        model: model_rows(Model { amount, fractions }, STEPS),
    }
}

/// The runs of each strategy. All strategies use the same seeds.
pub struct Trial {
    cells: Vec<Cell<'static, Course>>,
    scale: Scale,
    runs: u64,
}

/// The results, indexed by strategy and seed.
pub struct States {
    courses: Vec<Vec<Course>>,
    scale: Scale,
}

impl Trial {
    pub fn new(session: &Session) -> Self {
        let size = session.size().into();
        let scale = Scale::of(size);
        // With few runs, noise hides small differences between the strategies.
        let most = match size {
            Size::Tiny => 4,
            Size::Small => 16,
            Size::Paper => 64,
        };
        let cell = |strategy: &str| {
            let Scale { workers, roots } = scale;
            let name = format!("states/workers={workers} roots={roots}/{strategy}");
            let amount = amount(strategy);
            Cell::new(name, move |run| Course::new(amount, scale, run + 1))
        };
        Self {
            cells: STRATEGIES.map(cell).into(),
            scale,
            runs: session.runs(most),
        }
    }

    pub fn expect(&self, session: &Session) {
        session.expect(&self.cells, self.runs);
    }

    pub fn measure(self, session: &Session) -> Result<States, Failure> {
        Ok(States {
            courses: session.side_by_side(&self.cells, self.runs)?,
            scale: self.scale,
        })
    }
}

impl States {
    fn courses(&self, strategy: &str) -> &[Course] {
        let mut strategies = STRATEGIES.iter();
        let found = strategies.position(|known| *known == strategy);
        &self.courses[found.expect("a strategy of this part")]
    }

    /// Compares the means of two states, each under its own strategy. Returns their ratio over
    /// pairs of runs with the same seed.
    fn ratio(&self, [one, other]: [(&str, usize); 2]) -> Interval {
        let pairs = self.courses(one.0).iter().zip(self.courses(other.0));
        let ratio =
            |(a, b): (&Course, &Course)| a.mean(on_machine, one.1) / b.mean(on_machine, other.1);
        Sample::new(pairs.map(ratio)).interval()
    }

    /// Computes a figure over the runs of a strategy.
    fn interval(&self, strategy: &str, figure: impl Fn(&Course) -> f64) -> Interval {
        Sample::new(self.courses(strategy).iter().map(figure)).interval()
    }
}
