//! Compares rules for thieves on the same programs under the same loads.

use std::collections::BTreeMap;

use tidegate_policy::desire::DesirePolicy;
use tidegate_policy::{IdlePolicy, MemoryPolicy, Nanos, StealAmount, VictimPolicy};
use tidegate_sim::Width;

use tidegate_command::failure::Failure;
use toml::Value;

use super::measured::{Named, View};
use super::observed::Observed;
use super::page::{Chart, Line, Point};
use super::real;
use super::simulated::{Case, Work};
use crate::engine::{Cell, Interval, Sample, Session};

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
    pub works: Vec<Work>,
    pub loads: Vec<Load>,
}

/// The results of a plan.
pub struct Grid {
    plan: Plan,
    /// The runs of each cell, ordered by rule, program and load.
    observed: Vec<Vec<Observed>>,
    /// Indices of the rules whose mean time is the unit of aggregated times.
    unit: Vec<usize>,
}

impl Rule {
    /// Creates a rule for thieves that take one task at a time and rest as `idle` describes.
    pub fn new(name: &str, idle: &str) -> Self {
        let idle = idle.parse();
        Self {
            name: name.to_owned(),
            idle: idle.expect("a rule of this program"),
            steal: StealAmount::One,
            victim: None,
            memory: None,
            desire: None,
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

    /// Creates a rule with the runtime's defaults.
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
    /// Reads a load's name.
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
    pub fn cells(&self) -> impl Iterator<Item = (&Rule, &Work, Load)> {
        self.rules.iter().flat_map(move |rule| {
            let loads = move |work| self.loads.iter().map(move |load| (rule, work, *load));
            self.works.iter().flat_map(loads)
        })
    }

    /// Returns the name that identifies a cell on the machine `place`.
    pub fn name(place: &str, (rule, work, load): (&Rule, &Work, Load)) -> String {
        let Rule {
            idle,
            steal,
            victim,
            memory,
            desire,
            ..
        } = rule;
        let mut rule_in_full = format!("idle={idle} steal={steal}");
        if let Some(victim) = victim {
            rule_in_full += &format!(" victim={victim}");
        }
        if let Some(memory) = memory {
            rule_in_full += &format!(" memory={memory}");
        }
        if let Some((desire, cycle)) = desire {
            rule_in_full += &format!(" desire={desire} cycle={cycle}ns");
        }
        let (name, work_in_full, load_name) = (work.name, work.in_full(), load.name());
        let rule_name = &rule.name;
        format!("{place}/{name}/{work_in_full}/{rule_name}/{rule_in_full}/{load_name}")
    }
}

impl Plan {
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
        let cell = |(rule, work, load): (&Rule, &Work, Load)| {
            let machine = machines[&load.processors].clone();
            let case = Case {
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
            let run = Cell::new(full, move |run| case.observe(run));
            (Self::short(on, (rule, work, load)), run)
        };
        self.cells().map(cell).collect()
    }

    /// Returns the cells on this machine.
    pub fn here(&self) -> Result<Vec<Named<Observed>>, Failure> {
        let processes = real::Processes::new()?;
        let cell = |(rule, work, load): (&Rule, &Work, Load)| {
            let short = Self::short("here", (rule, work, load));
            let full = Self::name("here", (rule, work, load));
            let (processes, rule, work) = (processes.clone(), rule.clone(), work.clone());
            let run = Cell::new(full, move |run| processes.observe(&rule, &work, load, run));
            (short, run)
        };
        Ok(self.cells().map(cell).collect())
    }

    fn short(on: &str, (rule, work, load): (&Rule, &Work, Load)) -> String {
        format!("{on}/{}/{}/{}", work.name, rule.name, load.name())
    }
}

/// The time of an instance of a program.
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

/// A plan together with the cells to run.
pub struct Trial {
    plan: Plan,
    cells: Vec<Cell<'static, Observed>>,
    runs: u64,
    real: bool,
}

impl Plan {
    /// Prepares the plan for the simulated machine `place`. `settings` describes that machine with
    /// a given number of processors.
    pub fn simulated(
        self,
        place: &str,
        runs: u64,
        settings: impl Fn(usize) -> tidegate_sim::Settings,
    ) -> Trial {
        // A machine of thousands of processors takes milliseconds to describe, and is in many cells.
        let machine = |load: &Load| (load.processors, settings(load.processors));
        let machines: BTreeMap<_, _> = self.loads.iter().map(machine).collect();
        let cell = |(rule, work, load): (&Rule, &Work, Load)| {
            let machine = machines[&load.processors].clone();
            let case = Case {
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
                width: rule
                    .desire
                    .map_or(Width::Fixed(load.processors), |(desire, _)| {
                        Width::Desired(desire)
                    }),
            };
            let name = Self::name(place, (rule, work, load));
            Cell::new(name, move |run| case.observe(run))
        };
        let cells = self.cells().map(cell).collect();
        Trial {
            plan: self,
            cells,
            runs,
            real: false,
        }
    }

    /// Prepares the plan for this machine.
    pub fn real(self, place: &str, runs: u64) -> Result<Trial, Failure> {
        let processes = real::Processes::new()?;
        let cell = |(rule, work, load): (&Rule, &Work, Load)| {
            let name = Self::name(place, (rule, work, load));
            let (processes, rule, work) = (processes.clone(), rule.clone(), work.clone());
            Cell::new(name, move |run| processes.observe(&rule, &work, load, run))
        };
        let cells = self.cells().map(cell).collect();
        Ok(Trial {
            plan: self,
            cells,
            runs,
            real: true,
        })
    }
}

impl Trial {
    pub fn expect(&self, session: &Session) {
        session.expect(&self.cells, self.runs);
    }

    pub fn measure(self, session: &Session) -> Result<Grid, Failure> {
        let observed = if self.real {
            session.in_turns(&self.cells, self.runs)?
        } else {
            session.side_by_side(&self.cells, self.runs)?
        };
        Ok(Grid::new(self.plan, observed))
    }
}

impl Grid {
    /// Creates the results from the runs of the plan's cells, in the order of [`Plan::cells`].
    pub fn new(plan: Plan, observed: Vec<Vec<Observed>>) -> Self {
        let unit = (0..plan.rules.len()).collect();
        Self {
            plan,
            observed,
            unit,
        }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    fn runs(&self, rule: usize, work: usize, load: usize) -> &[Observed] {
        let (works, loads) = (self.plan.works.len(), self.plan.loads.len());
        &self.observed[(rule * works + work) * loads + load]
    }

    /// Returns a figure of each run of the cell with these indices of rule, program and load.
    pub fn sample(
        &self,
        (rule, work, load): (usize, usize, usize),
        figure: impl Fn(&Observed) -> f64,
    ) -> Sample {
        Sample::new(self.runs(rule, work, load).iter().map(figure))
    }

    pub fn seconds(&self, rule: usize, work: usize, load: usize) -> Sample {
        self.sample((rule, work, load), |observed| observed.seconds)
    }

    /// Returns the aggregated time under a rule: its time relative to the mean time under the rules
    /// that form the unit, averaged over the programs (Haselsteiner, "Adaptive Work-Stealing
    /// Techniques", 2015, section 3.2).
    pub fn aggregated(&self, rule: usize, load: usize) -> Interval {
        let works: Vec<usize> = (0..self.plan.works.len()).collect();
        self.aggregated_over(rule, &works, load)
    }

    fn aggregated_over(&self, rule: usize, works: &[usize], load: usize) -> Interval {
        self.aggregate(works, load, |values| values[rule])
    }

    /// Computes a statistic over the aggregated times of all rules. Programs that `--only` left out
    /// do not count.
    fn aggregate(
        &self,
        works: &[usize],
        load: usize,
        statistic: impl Fn(&[f64]) -> f64,
    ) -> Interval {
        let rules = self.plan.rules.len();
        let is_whole =
            |work: &&usize| (0..rules).all(|rule| !self.runs(rule, **work, load).is_empty());
        let works: Vec<usize> = works.iter().filter(is_whole).copied().collect();
        if works.is_empty() {
            return Interval::exact(f64::NAN);
        }
        let samples: Vec<Sample> = works
            .iter()
            .flat_map(|&work| (0..rules).map(move |rule| self.seconds(rule, work, load)))
            .collect();
        let samples: Vec<&Sample> = samples.iter().collect();
        Interval::of(&samples, |medians| {
            let mut values = vec![0.0; rules];
            for times in medians.chunks(rules) {
                let unit = self.unit.iter().map(|rule| times[*rule]).sum::<f64>();
                let unit = unit / self.unit.len() as f64;
                for (value, time) in values.iter_mut().zip(times) {
                    *value += time / unit / works.len() as f64;
                }
            }
            statistic(&values)
        })
    }

    pub fn rule(&self, name: &str) -> usize {
        let found = self.plan.rules.iter().position(|rule| rule.name == name);
        found.expect("a rule of the plan")
    }

    pub fn load(&self, name: &str) -> usize {
        let mut loads = self.plan.loads.iter();
        let found = loads.position(|load| load.name() == name);
        found.expect("a load of the plan")
    }

    /// Draws the aggregated times, with the loads on the x axis.
    pub fn aggregated_chart(&self, title: &str) -> Chart {
        let line = |rule| self.line(rule, |load| self.aggregated(rule, load));
        Chart {
            title: title.to_owned(),
            x: "processors - instances".to_owned(),
            y: "time / mean".to_owned(),
            labels: self.plan.loads.iter().map(|load| load.name()).collect(),
            log: false,
            lines: (0..self.plan.rules.len()).map(line).collect(),
        }
    }

    fn line(&self, rule: usize, mean: impl Fn(usize) -> Interval) -> Line {
        Line {
            name: self.plan.rules[rule].name.clone(),
            points: points((0..self.plan.loads.len()).map(mean)),
        }
    }
}

/// Creates points at 0, 1 and so on. Cells that `--only` left out get no point.
fn points(means: impl Iterator<Item = Interval>) -> Vec<Point> {
    let point = |(number, mean): (usize, Interval)| Point::new(number as f64, mean);
    means.enumerate().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_workloads::Size;

    fn grid() -> Grid {
        let work = |name| Work::new(name, name, Size::Tiny, "");
        let plan = Plan {
            rules: vec![Rule::new("fast", "none"), Rule::new("slow", "yield")],
            works: vec![work("short"), work("long")],
            loads: vec![Load {
                processors: 8,
                instances: 2,
            }],
        };
        let seconds = [[1.0, 1.0], [100.0, 100.0], [3.0, 3.0], [100.0, 100.0]];
        let observed = seconds.map(|runs| {
            let run = |seconds| Observed {
                seconds,
                ..Observed::default()
            };
            runs.map(run).into()
        });
        Grid::new(plan, observed.into())
    }

    #[test]
    fn long_programs_get_equal_weight() {
        let grid = grid();
        let aggregated = [0, 1].map(|rule| grid.aggregated(rule, 0).value);
        assert_eq!(aggregated, [0.75, 1.25]);
    }

    /// Lines must have the names of the rules, and labels the names of the loads.
    #[test]
    fn chart_names_rules_and_loads() {
        let chart = grid().aggregated_chart("all");
        let names: Vec<&str> = chart.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(
            (names, chart.labels),
            (vec!["fast", "slow"], vec!["8-2".to_owned()])
        );
    }
}
