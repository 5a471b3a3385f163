//! Rules for thieves, on programs under loads: what runs, and how their times are compared.

use std::collections::BTreeMap;

use tidegate_policy::desire::DesirePolicy;
use tidegate_policy::{IdlePolicy, MemoryPolicy, Nanos, StealAmount, VictimPolicy};
use tidegate_sim::Width;

use tidegate_cli_support::failure::Failure;
use toml::Value;

use super::measured::{Named, View};
use super::observed::Observed;
use super::real;
use super::simulated::{Setup, Workload};
use crate::engine::Cell;

/// A rule for thieves, with its name in tables.
#[derive(Clone, Debug)]
pub struct Rule {
    pub name: String,
    pub idle: IdlePolicy,
    pub steal: StealAmount,
    /// Which victims thieves choose; `None` for the simulated machine's default.
    pub victim: Option<VictimPolicy>,
    /// The memory policy, or `None` if memory is not observed.
    pub memory: Option<MemoryPolicy>,
    /// How a job estimates its desire, and the cycle of the estimates; `None` if the job always has
    /// all of its processors.
    pub desire: Option<(DesirePolicy, Nanos)>,
}

/// The number of workers of each instance of a program, and the number of instances that run at the
/// same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    pub processors: usize,
    pub instances: usize,
}

/// The rules, programs and loads that are compared.
#[derive(Clone, Debug)]
pub struct Plan {
    pub rules: Vec<Rule>,
    pub works: Vec<Workload>,
    pub loads: Vec<Load>,
}

impl Rule {
    /// Creates a rule for thieves that take one task at a time and rest as `idle` describes.
    pub fn new(name: &str, idle: &str) -> Self {
        Self {
            idle: idle.parse().expect("a rule of this program"),
            steal: StealAmount::One,
            victim: None,
            ..Self::usual(name)
        }
    }

    /// Makes thieves take this many tasks at a time.
    pub fn taking(self, steal: StealAmount) -> Self {
        Self { steal, ..self }
    }

    /// Makes the job estimate its desire once in each cycle.
    pub fn desiring(self, desire: &str, cycle: Nanos) -> Self {
        let desire = desire.parse().expect("an estimator of this program");
        Self {
            desire: Some((desire, cycle)),
            ..self
        }
    }

    pub fn usual(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            idle: IdlePolicy::default(),
            steal: StealAmount::default(),
            victim: Some(VictimPolicy::default()),
            memory: None,
            desire: None,
        }
    }

    /// Creates a rule with the runtime's defaults, except for the memory policy.
    pub fn with_memory(name: &str, memory: MemoryPolicy) -> Self {
        Self {
            memory: Some(memory),
            ..Self::usual(name)
        }
    }
}

impl Load {
    pub fn of(name: &str) -> Self {
        let (processors, instances) = name.split_once('-').unwrap_or((name, "1"));
        let [processors, instances] =
            [processors, instances].map(|number| number.parse().expect("a number"));
        Self {
            processors,
            instances,
        }
    }

    /// Returns the name as in the thesis: the number of processors and, if there is more than one
    /// instance, a dash and the number of instances.
    pub fn name(self) -> String {
        match self.instances {
            1 => self.processors.to_string(),
            instances => format!("{}-{instances}", self.processors),
        }
    }
}

impl Plan {
    /// Returns all combinations of rule, program and load.
    pub fn cells(&self) -> impl Iterator<Item = (&Rule, &Workload, Load)> {
        self.rules.iter().flat_map(move |rule| {
            let loads = move |work| self.loads.iter().map(move |load| (rule, work, *load));
            self.works.iter().flat_map(loads)
        })
    }

    /// Returns the name that identifies a cell on the machine `place`.
    pub fn name(place: &str, (rule, work, load): (&Rule, &Workload, Load)) -> String {
        let mut rule_in_full = format!("idle={} steal={}", rule.idle, rule.steal);
        if let Some(victim) = rule.victim {
            rule_in_full += &format!(" victim={victim}");
        }
        if let Some(memory) = rule.memory {
            rule_in_full += &format!(" memory={memory}");
        }
        if let Some((desire, cycle)) = rule.desire {
            rule_in_full += &format!(" desire={desire} cycle={cycle}ns");
        }
        let (name, work_in_full, load_name) = (work.name, work.in_full(), load.name());
        let rule_name = &rule.name;
        format!("{place}/{name}/{work_in_full}/{rule_name}/{rule_in_full}/{load_name}")
    }

    /// Returns the cells on the simulated machine `place`, which `settings` describes with a given
    /// number of processors. Figures refer to a cell by `on`, program, rule and load.
    pub fn on_machine(
        &self,
        on: &str,
        place: &str,
        settings: impl Fn(usize) -> tidegate_sim::Settings,
    ) -> Vec<Named<Observed>> {
        // A machine of thousands of processors takes milliseconds to describe, and is in many cells.
        let machine = |load: &Load| (load.processors, settings(load.processors));
        let machines: BTreeMap<_, _> = self.loads.iter().map(machine).collect();
        let cell = |(rule, work, load): (&Rule, &Workload, Load)| {
            let machine = machines[&load.processors].clone();
            let setup = Setup {
                work: work.clone(),
                settings: tidegate_sim::Settings {
                    idle: rule.idle,
                    steal: rule.steal,
                    victim: rule.victim.unwrap_or(machine.victim),
                    memory: rule.memory.unwrap_or(MemoryPolicy::None),
                    cycle: rule.desire.map_or(machine.cycle, |(_, cycle)| cycle),
                    ..machine
                },
                instances: load.instances,
                width: match rule.desire {
                    Some((desire, _)) => Width::Desired(desire),
                    None => Width::Fixed(load.processors),
                },
            };
            let full = Self::name(place, (rule, work, load));
            let run = Cell::new(full, move |run| setup.observe(run));
            (Self::short(on, (rule, work, load)), run)
        };
        self.cells().map(cell).collect()
    }

    pub fn here(&self) -> Result<Vec<Named<Observed>>, Failure> {
        let processes = real::Processes::new()?;
        let cell = |(rule, work, load): (&Rule, &Workload, Load)| {
            let short = Self::short("here", (rule, work, load));
            let full = Self::name("here", (rule, work, load));
            let (processes, rule, work) = (processes.clone(), rule.clone(), work.clone());
            let run = Cell::new(full, move |run| processes.observe(&rule, &work, load, run));
            (short, run)
        };
        Ok(self.cells().map(cell).collect())
    }

    fn short(on: &str, (rule, work, load): (&Rule, &Workload, Load)) -> String {
        format!("{on}/{}/{}/{}", work.name, rule.name, load.name())
    }
}

pub fn seconds(v: View<'_, Observed>, cell: &str) -> f64 {
    v.median(cell, |run| run.seconds)
}

/// The time of `{work}`, or the mean over these programs, under `{rule}` by the mean over the rules
/// of the list `{unit}` (Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, section 3.2).
/// `{rules}` names the list of all rules. Programs that `--only` left out do not count.
pub fn in_units(v: View<'_, Observed>) -> f64 {
    const CELL: &str = "{on}/{work}/{rule}/{load}";
    let rules = &v.lists[&v.fill("{rules}")];
    let of = |rule: &Value| {
        rules
            .iter()
            .position(|known| known == rule)
            .expect("a rule")
    };
    let unit: Vec<usize> = v.lists[&v.fill("{unit}")].iter().map(of).collect();
    let this = v.fill("{rule}");
    let this = rules
        .iter()
        .position(|rule| rule["rule"].as_str() == Some(&this));
    let under = |v: View<'_, Observed>, rule| v.with("", rule, |v| seconds(v, CELL));
    let is_under = |v: View<'_, Observed>, rule| v.with("", rule, |v| v.is_measured(CELL));
    let works = v.each("work", |v| {
        let is_whole = rules.iter().all(|rule| is_under(v, rule));
        is_whole.then(|| rules.iter().map(|rule| under(v, rule)).collect())
    });
    let works: Vec<Vec<f64>> = works.into_iter().flatten().collect();
    let relative = works.iter().map(|times| {
        let mean = unit.iter().map(|rule| times[*rule]).sum::<f64>() / unit.len() as f64;
        times[this.expect("a rule")] / mean / works.len() as f64
    });
    if works.is_empty() {
        f64::NAN
    } else {
        relative.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::measured::Measured;
    use crate::reproduce::paper::{item, items_of};

    #[test]
    fn long_programs_get_equal_weight() {
        let [short, long] = ["short", "long"];
        let cells = [
            ("fast", short, 1.0),
            ("fast", long, 100.0),
            ("slow", short, 3.0),
            ("slow", long, 100.0),
        ];
        let cells = cells.map(|(rule, work, seconds)| {
            let run = Observed::lasting(seconds);
            (format!("on/{work}/{rule}/8"), vec![run; 2])
        });
        let left_out = ["fast", "slow"].map(|rule| (format!("on/none/{rule}/8"), vec![]));
        let measured = Measured::of(cells.into_iter().chain(left_out));
        let list =
            |name: &str, items: &[&str]| (name.to_owned(), items_of(name, items.iter().copied()));
        let lists = [
            list("rule", &["fast", "slow"]),
            list("work", &[short, long, "none"]),
        ];
        let given = item([
            ("on", "on"),
            ("rules", "rule"),
            ("unit", "rule"),
            ("load", "8"),
        ]);
        measured.view(&lists.into(), |v| {
            let relative = |v: View<'_, Observed>| v.each("rule", |v| v.value(in_units));
            assert_eq!(v.with("", &given, relative), [0.75, 1.25]);
        });
    }
}
