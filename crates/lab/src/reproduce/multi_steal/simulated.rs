//! The experiment on simulated machines with as many processors as the source's machine.

use tidegate_policy::{Nanos, VictimPolicy};
use tidegate_sim::{Costs, Settings};
use tidegate_workloads::Size;

use super::findings::findings;
use super::programs::{Figures, at_own_costs};
use super::results::Results;
use super::{LONG_RUNS, RUNS, sections, states};
use crate::engine::Session;
use crate::reproduce::grid::{self, Plan};
use crate::reproduce::page::{Page, Setting};
use tidegate_command::failure::Failure;
use tidegate_command::output::show_nanos;

/// The duration of a steal at the source's costs, which the source does not print. With this value,
/// 24 workers spend 34 % of their time stealing on UTS A under "bottommost first", as in table 2.
/// It covers the whole steal: in StackThreads/MP, the thief waits while its victim unwinds the
/// stack. The cost to the victim itself is left out, because it depends on the frames that the
/// victim keeps, not on the number of stolen tasks.
const STEAL: Nanos = 7_600;

fn settings(processors: usize, costs: Costs) -> Settings {
    Settings {
        victim: VictimPolicy::Random,
        costs,
        ..Settings::new(processors)
    }
}

/// The part of the experiment that runs on simulated machines.
pub struct Trial {
    size: Size,
    source: Vec<grid::Trial>,
    own: Vec<grid::Trial>,
    states: states::Trial,
}

impl Trial {
    pub fn new(session: &Session) -> Self {
        let size = session.size().into();
        let simulated = |plan: Plan, place: &str, runs, costs| {
            plan.simulated(place, runs, move |processors| settings(processors, costs))
        };
        let long = session.runs(LONG_RUNS);
        let source = Figures::of(size).each().into_iter().map(|(plan, is_long)| {
            let costs = Costs {
                steal: STEAL,
                ..Costs::default()
            };
            let runs = match (is_alone(&plan), is_long) {
                (true, _) => 1,
                (false, true) => long,
                (false, false) => session.runs(RUNS),
            };
            simulated(plan, &format!("StackThreads/steal={STEAL}ns"), runs, costs)
        });
        let own = at_own_costs(size)
            .into_iter()
            .map(|plan| simulated(plan, "own costs", long, Costs::default()));
        Self {
            size,
            source: source.collect(),
            own: own.collect(),
            states: states::Trial::new(session),
        }
    }

    pub fn expect(&self, session: &Session) {
        let trials = self.source.iter().chain(&self.own);
        trials.for_each(|trial| trial.expect(session));
        self.states.expect(session);
    }

    /// Runs the cells and adds the findings and sections to the page. `nodes` contains the sizes of
    /// trees A and B, and is empty if smaller trees replace them.
    pub fn add(self, page: &mut Page, session: &Session, nodes: &[u64]) -> Result<(), Failure> {
        let measure = |trials: Vec<grid::Trial>| {
            let grids = trials.into_iter().map(|trial| trial.measure(session));
            grids.collect::<Result<Vec<_>, _>>().map(Results)
        };
        let (source, own) = (measure(self.source)?, measure(self.own)?);
        let states = self.states.measure(session)?;
        page.made.extend([
            Setting::new(
                "a steal with the costs of the source",
                show_nanos(STEAL as f64),
            ),
            Setting::new(
                "a steal with the costs of this runtime",
                show_nanos(Costs::default().steal as f64),
            ),
        ]);
        page.findings.extend(findings(&source, &own, self.size));
        page.findings.extend(states.findings(self.size));
        page.sections
            .extend(sections::simulated(&source, &own, nodes));
        page.sections.push(states.section());
        Ok(())
    }
}

/// Whether a single run of a plan suffices: with one processor there are no steals, so all runs are
/// equal.
fn is_alone(plan: &Plan) -> bool {
    plan.loads.iter().all(|load| load.processors == 1)
}
