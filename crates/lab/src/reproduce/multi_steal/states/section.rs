//! The charts and the table of the states.

use super::super::{BOTTOMMOST, DYNAMIC, FIXED_2, FIXED_16, FIXED_20};
use super::machine::{BEGIN, STEP};
use super::{
    ATTEMPT, BRANCHES, Course, STRATEGIES, Scale, Side, States, UNIT, column, in_model,
    model_alone, on_machine,
};
use crate::reproduce::page::{Chart, Line, Point, Section};
use tidegate_command::output::{Table, Value};

/// The states in the charts: busy workers, victims of thieves that take one task, and workers with
/// many tasks.
pub const SHOWN: [usize; 3] = [1, 2, 4];

impl States {
    pub fn section(&self) -> Section {
        let Scale { workers, roots } = self.scale;
        let runs = self.courses.iter().map(Vec::len).max().unwrap_or(0);
        Section {
            title: "States of the processors (section 3.4)".to_owned(),
            text: format!(
                "Of {workers} simulated workers one begins with {roots} tasks of exponential \
                 length, each of which makes two more with probability {BRANCHES}. A worker \
                 without tasks asks its last victim and then random others, {} times in the mean \
                 length of a task. s1 is the fraction of workers that is busy, s2 the fraction \
                 with two tasks or more, which can be robbed of one. The charts show the mean of \
                 {runs} runs; the model continues from the machine's state at the first moment \
                 shown.",
                UNIT / ATTEMPT,
            ),
            charts: STRATEGIES.map(|strategy| self.chart(strategy)).into(),
            tables: vec![self.victims()],
        }
    }

    fn chart(&self, strategy: &str) -> Chart {
        let steps = self
            .courses(strategy)
            .first()
            .map_or(0, |course| course.machine.len());
        let line = |state: usize, side: Side, name: &str| {
            let point = |step: usize| {
                let x = (BEGIN + step as u64 * STEP) as f64 / UNIT as f64;
                let at = |course: &Course| side(course)[step][column(state)];
                Point::new(x, self.interval(strategy, at))
            };
            Line {
                name: format!("s{state}, {name}"),
                points: (0..steps).filter_map(point).collect(),
            }
        };
        let sides = [(on_machine as Side, "machine"), (in_model, "model")];
        let lines = SHOWN
            .into_iter()
            .flat_map(|state| sides.map(|(side, name)| line(state, side, name)));
        Chart {
            title: strategy.to_owned(),
            x: "time, in mean lengths of a task".to_owned(),
            y: "fraction of workers".to_owned(),
            labels: vec![],
            log: false,
            lines: lines.collect(),
        }
    }

    /// Creates a table of means over time: busy workers, and workers that qualify as victims.
    fn victims(&self) -> Table {
        let columns = [
            "strategy",
            "a victim has",
            "busy, machine",
            "victims, machine",
            "busy, model",
            "victims, model",
        ];
        let mut table =
            Table::new(columns).titled("Means over time; the model from equal beginnings");
        for strategy in [BOTTOMMOST, FIXED_2, FIXED_16, FIXED_20, DYNAMIC] {
            let alone = model_alone(strategy);
            let threshold = threshold(strategy);
            let machine = |state| {
                if STRATEGIES.contains(&strategy) {
                    self.interval(strategy, |course| course.mean(on_machine, state))
                        .value
                } else {
                    f64::NAN
                }
            };
            let shares = [
                machine(1),
                machine(threshold),
                alone.mean(in_model, 1),
                alone.mean(in_model, threshold),
            ];
            let shares = shares.map(|share| Value::known(Some(share), Value::Share));
            let named = [
                Value::from(strategy),
                Value::from(format!("{threshold} tasks or more")),
            ];
            table.row(named.into_iter().chain(shares));
        }
        table
    }
}

/// Returns how many tasks a worker must have, including the running one, to be a victim.
pub fn threshold(strategy: &str) -> usize {
    match strategy {
        FIXED_2 => 3,
        FIXED_16 => 17,
        FIXED_20 => 21,
        _ => 2,
    }
}
