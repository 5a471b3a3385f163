//! Tests a suspicion of the thesis: thieves slow down the victims that they look at, and this
//! explains the times of LU on Mars.

use super::machines::MARS;
use super::simulated::slowed;
use crate::engine::Session;
use crate::reproduce::grid::{Grid, Load, Plan, Rule, Trial};
use crate::reproduce::page::Section;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Table, Value, show_nanos};
use tidegate_policy::Nanos;
use tidegate_sim::{Costs, Settings};

/// How long a thief that inspects a deque delays the victim, in nanoseconds: from 0 to the
/// simulator's maximum.
const COSTS: [Nanos; 5] = [0, 40, 1_000, 10_000, 100_000];

const RULES: [&str; 3] = ["none", "pheet-original", "linear"];

/// A trial for each of [`COSTS`].
pub struct Trials(Vec<Trial>);

fn plan(session: &Session) -> Plan {
    let load = |instances| Load {
        instances,
        ..MARS.alone(MARS.all)
    };
    let works = slowed(session.size().into()).into_iter();
    Plan {
        rules: RULES.map(|rule| Rule::new(rule, rule)).into(),
        works: works.filter(|work| work.name == "lu").collect(),
        loads: [1, 4].map(load).into(),
    }
}

impl Trials {
    pub fn new(session: &Session) -> Self {
        let trial = |look: Nanos| {
            let settings = |processors| {
                let machine = MARS.settings(processors);
                Settings {
                    costs: Costs {
                        look,
                        ..machine.costs
                    },
                    ..machine
                }
            };
            let place = format!("{}/looks/look={look}ns", MARS.name);
            plan(session).simulated(&place, super::runs(session), settings)
        };
        let trials = COSTS.map(trial);
        trials.iter().for_each(|trial| trial.expect(session));
        Self(trials.into())
    }

    /// Runs the cells and shows the times relative to the linear backoff.
    pub fn section(self, session: &Session) -> Result<Section, Failure> {
        let columns = ["a look costs", "rule", "80", "80-4"];
        let mut table = Table::new(columns).titled("LU on Mars, by the linear backoff");
        for (trial, look) in self.0.into_iter().zip(COSTS) {
            let grid = trial.measure(session)?;
            for rule in RULES.iter().filter(|rule| **rule != "linear") {
                let name = [show_nanos(look as f64), (*rule).to_owned()];
                let ratio = |load| by_linear(&grid, rule, load);
                table.row(name.map(Value::from).into_iter().chain([0, 1].map(ratio)));
            }
        }
        Ok(Section {
            title: "Looks that slow their victims down".to_owned(),
            text: "The thesis suspects that workers waste too much time in looking for tasks (section \
                   4.5). Here a look takes a cache line from a victim, which fetches it back at its \
                   next push or pop, once for all looks since the last one. The table has LU on Mars \
                   with other costs of a look than on the rest of this page."
                .to_owned(),
            charts: vec![],
            tables: vec![table],
        })
    }
}

fn by_linear(grid: &Grid, rule: &str, load: usize) -> Value {
    let time = |rule| grid.seconds(grid.rule(rule), 0, load);
    Value::known(Some(time(rule).over(&time("linear")).value), Value::Ratio)
}
