//! How many workers have how many tasks while nothing new comes: the simulated machine beside a model of differential equations.
//!
//! The model is that of Mitzenmacher, "Analyses of load stealing models based on differential equations", 1998, as Adnan and Sato use it (section 3.4): so many workers that fractions of them
//! are continuous. A worker with tasks ends one at rate 1. One without asks a random other at a rate r, and takes of n tasks what its strategy says. `p_n` is the fraction with n tasks, `s_i` that
//! with i at least.

mod machine;
mod model;

use tidegate_policy::{Amount, Nanos};
use tidegate_workloads::Size;

use super::{BOTTOMMOST, DYNAMIC, FIXED_2};
use crate::reproduce::page::{Chart, Finding, Line, Point, Section};
use crate::reproduce::simulated::spread;
use machine::{BEGIN, STEP, Scale, simulated};
use model::{Model, at_least};
use tidegate_command::failure::Failure;
use tidegate_command::output::Progress;

/// The mean length of a task, the model's unit of time.
const UNIT: Nanos = 1_000_000;

/// So long takes an attempt of a worker without tasks.
const ATTEMPT: Nanos = UNIT / 20;

/// A task makes two more when it ends with this probability, as a tree of UTS does.
const BRANCHES: f64 = 0.6;

/// Strategies of the source.
const STRATEGIES: [(&str, Amount); 3] = [
    (BOTTOMMOST, Amount::One),
    (FIXED_2, Amount::Fixed(2)),
    (DYNAMIC, Amount::Half),
];

/// Machine and model are the same if no more of the workers than this are elsewhere.
const CLOSE: f64 = 0.08;

/// A strategy's states on the machine and in the model, from the same beginning on.
struct Course {
    name: &'static str,
    /// For each number of tasks of [`SHOWN`].
    machine: [Vec<f64>; 3],
    model: [Vec<f64>; 3],
}

/// Which `s_i` are shown: who is busy, who can be robbed, and who has much.
const SHOWN: [usize; 3] = [1, 2, 4];

impl Course {
    fn of((name, amount): (&'static str, Amount), scale: Scale) -> Result<Self, Failure> {
        let mut course = Self {
            name,
            machine: Default::default(),
            model: Default::default(),
        };
        for seed in 1..=scale.seeds {
            let means = simulated(amount, scale, seed)?;
            let mut fractions = means.first().cloned().unwrap_or_default();
            // There are more as time goes on, and nobody has more than twice the most there were at first.
            fractions.resize(2 * fractions.len(), 0.0);
            let mut model = Model { amount, fractions };
            for (step, mean) in means.iter().enumerate() {
                course.add(step, mean, &model.fractions, scale.seeds);
                model.advance(STEP as f64 / UNIT as f64);
            }
        }
        Ok(course)
    }

    /// Counts one seed's fractions in.
    fn add(&mut self, step: usize, machine: &[f64], model: &[f64], seeds: u64) {
        for (place, tasks) in SHOWN.into_iter().enumerate() {
            for (values, fractions) in [
                (&mut self.machine[place], machine),
                (&mut self.model[place], model),
            ] {
                values.resize(values.len().max(step + 1), 0.0);
                values[step] += at_least(fractions, tasks) / seeds as f64;
            }
        }
    }

    /// The largest difference between machine and model.
    fn off(&self) -> f64 {
        let both = self.machine.iter().zip(&self.model);
        let each = both.flat_map(|(machine, model)| machine.iter().zip(model));
        each.map(|(machine, model)| (machine - model).abs())
            .fold(f64::NAN, f64::max)
    }

    /// The mean of a state of the machine.
    fn mean(&self, place: usize) -> f64 {
        let values = &self.machine[place];
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }

    fn chart(&self) -> Chart {
        let line = |name: String, values: &[f64]| Line {
            name,
            points: (0..)
                .map(|step| (BEGIN + step * STEP) as f64 / UNIT as f64)
                .zip(values)
                .map(|(x, &y)| Point {
                    x,
                    y,
                    low: y,
                    high: y,
                })
                .collect(),
        };
        let lines = SHOWN.iter().enumerate().flat_map(|(place, tasks)| {
            [
                line(format!("s{tasks}, machine"), &self.machine[place]),
                line(format!("s{tasks}, model"), &self.model[place]),
            ]
        });
        Chart {
            title: self.name.to_owned(),
            x: "time, in mean lengths of a task".to_owned(),
            y: "fraction of workers".to_owned(),
            labels: vec![],
            lines: lines.collect(),
        }
    }
}

/// How many steps of progress there are.
pub const STEPS: u64 = STRATEGIES.len() as u64;

/// The findings and the section.
pub fn add(size: Size, progress: &Progress) -> Result<(Vec<Finding>, Section), Failure> {
    let scale = Scale::of(size);
    let courses = spread(STRATEGIES.len(), progress, |number| {
        Course::of(STRATEGIES[number], scale)
    })?;
    let charts = courses.iter().map(Course::chart).collect();
    let section = Section {
        title: "States of the processors".to_owned(),
        text: format!(
            "{} workers, one of which begins with {} tasks of exponential length that make two more with a probability of {BRANCHES}; who has none asks its last victim and then random others, {} times in a task's mean length. \
             s1 is the part of the workers that is busy, s2 the part that can be robbed of one task, s4 has four or more; the mean of {} runs. The model goes on from the machine's state at the first moment shown.",
            scale.workers,
            scale.roots,
            UNIT / ATTEMPT,
            scale.seeds
        ),
        charts,
        tables: vec![],
    };
    Ok((findings(&courses), section))
}

fn findings(courses: &[Course]) -> Vec<Finding> {
    let off: Vec<f64> = courses.iter().map(Course::off).collect();
    let shown: Vec<String> = courses
        .iter()
        .zip(&off)
        .map(|(course, off)| format!("{} {off:.3}", course.name))
        .collect();
    let [one, .., half] = courses else {
        return vec![];
    };
    let busy = [one.mean(0), half.mean(0)];
    let victims = [one.mean(1), half.mean(1)];
    vec![
        Finding::new(
            "States s1, s2, s4 over time: the machine against the differential equations",
            format!(
                "the model describes work stealing (section 3.4; here: apart by {CLOSE} at most)"
            ),
            format!("apart by at most: {}", shown.join(", ")),
            off.iter().all(|off| *off <= CLOSE),
            "What sets them apart is chance, the more of it the fewer workers and runs, and that a stolen task begins an attempt's time later on the machine.",
        ),
        Finding::new(
            "States s1 and s2 in the mean: dynamic against bottommost",
            "dynamic raises both: more are busy, and more can be robbed",
            format!(
                "s1 {:.3} against {:.3}, s2 {:.3} against {:.3}",
                busy[1], busy[0], victims[1], victims[0]
            ),
            busy[1] > busy[0] && victims[1] > victims[0],
            "The strategies differ while few workers have many tasks each. A tree whose tasks have two children leaves a busy worker one or two that wait, and of so few both strategies take one.",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_follows_the_model_of_its_strategy_and_of_no_other() {
        let course = |which: usize| Course::of(STRATEGIES[which], Scale::of(Size::Paper)).unwrap();
        let (one, mut fixed) = (course(0), course(1));
        assert!(one.off() <= CLOSE, "{}", one.off());
        assert!(fixed.off() <= CLOSE, "{}", fixed.off());
        fixed.model = one.model;
        assert!(fixed.off() > 2.0 * CLOSE, "{}", fixed.off());
    }

    /// Which findings agree where so large a part is busy and can be robbed under dynamic, both a half under the others, and a model is so far off.
    fn agree(busy: f64, victims: f64, off: f64) -> Vec<bool> {
        let course = |(name, _): (&'static str, Amount)| {
            let mut course = Course {
                name,
                machine: Default::default(),
                model: Default::default(),
            };
            let (machine, off) = if name == DYNAMIC {
                ([0.0, busy, victims], off)
            } else {
                ([0.0, 0.5, 0.5], 0.0)
            };
            let [none, one, two] = machine;
            // Of s_1 and s_2 the fractions with one task and with two.
            course.add(0, &[none, one - two, two], &[none, one - two, two + off], 1);
            course
        };
        let found = findings(&STRATEGIES.map(course));
        found.iter().map(|finding| finding.agrees).collect()
    }

    #[test]
    fn a_model_far_off_does_not_agree_nor_a_strategy_that_raises_one_state_only() {
        assert_eq!(agree(0.6, 0.6, CLOSE / 2.0), [true, true]);
        assert_eq!(agree(0.6, 0.6, 2.0 * CLOSE), [false, true]);
        assert_eq!(agree(0.5, 0.6, 0.0), [true, false]);
        assert_eq!(agree(0.6, 0.5, 0.0), [true, false]);
    }
}
