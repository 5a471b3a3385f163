//! Rules for thieves, each on the same programs under the same loads, and how they compare.

use tidegate_policy::{Amount, Idle, Space, Victim};

use super::observed::Observed;
use super::page::{Chart, Line, Point};
use super::sample::{Mean, Sample};
use super::simulated::{Case, Work};

/// A rule and what it is called here.
#[derive(Clone, Debug)]
pub struct Rule {
    pub name: String,
    pub idle: Idle,
    pub steal: Amount,
    /// Whom thieves ask, where the rule says so and not the machine.
    pub victim: Option<Victim>,
    /// Who may have memory, where memory is observed.
    pub space: Option<Space>,
}

/// How many workers a program has, and how many instances of it there are at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    pub processors: usize,
    pub instances: usize,
}

/// What is compared.
#[derive(Clone, Debug)]
pub struct Plan {
    pub rules: Vec<Rule>,
    pub works: Vec<Work>,
    pub loads: Vec<Load>,
}

/// What came of it.
pub struct Grid {
    plan: Plan,
    /// By rule, program and load in this order.
    observed: Vec<Vec<Observed>>,
}

impl Rule {
    /// How thieves rest that take one task at a time; in the text form.
    pub fn new(name: &str, idle: &str) -> Self {
        let idle = idle.parse();
        Self {
            name: name.to_owned(),
            idle: idle.expect("a rule of this program"),
            steal: Amount::One,
            victim: None,
            space: None,
        }
    }

    /// The same, and how many tasks they take.
    pub fn taking(self, steal: Amount) -> Self {
        Self { steal, ..self }
    }

    /// The runtime's own rules.
    pub fn usual(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            idle: Idle::default(),
            steal: Amount::default(),
            victim: Some(Victim::default()),
            space: None,
        }
    }

    /// The runtime's own rules, with one for memory.
    pub fn with_memory(name: &str, space: Space) -> Self {
        Self {
            space: Some(space),
            ..Self::usual(name)
        }
    }
}

impl Load {
    /// As in the thesis: the processors, and behind a dash the instances if they are several.
    pub fn name(self) -> String {
        match self.instances {
            1 => self.processors.to_string(),
            instances => format!("{}-{instances}", self.processors),
        }
    }
}

impl Plan {
    /// Each rule on each program under each load.
    pub fn cells(&self) -> impl Iterator<Item = (&Rule, &Work, Load)> {
        self.rules.iter().flat_map(move |rule| {
            let loads = move |work| self.loads.iter().map(move |load| (rule, work, *load));
            self.works.iter().flat_map(loads)
        })
    }

    /// The same as cases on machines that `settings` gives.
    pub fn cases(&self, settings: impl Fn(usize) -> tidegate_sim::Settings) -> Vec<Case> {
        let case = |(rule, work, load): (&Rule, &Work, Load)| {
            let machine = settings(load.processors);
            Case {
                work: work.clone(),
                settings: tidegate_sim::Settings {
                    idle: rule.idle,
                    steal: rule.steal,
                    victim: rule.victim.unwrap_or(machine.victim),
                    space: rule.space.unwrap_or(Space::None),
                    ..machine
                },
                instances: load.instances,
            }
        };
        self.cells().map(case).collect()
    }
}

impl Grid {
    /// What was observed of the plan's cells, in their order.
    pub fn new(plan: Plan, observed: Vec<Vec<Observed>>) -> Self {
        Self { plan, observed }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    fn runs(&self, rule: usize, work: usize, load: usize) -> &[Observed] {
        let (works, loads) = (self.plan.works.len(), self.plan.loads.len());
        &self.observed[(rule * works + work) * loads + load]
    }

    /// A figure of the runs under one rule.
    pub fn mean(
        &self,
        (rule, work, load): (usize, usize, usize),
        figure: impl Fn(&Observed) -> f64,
    ) -> Mean {
        Sample::new(self.runs(rule, work, load).iter().map(figure).collect()).mean()
    }

    pub fn seconds(&self, rule: usize, work: usize, load: usize) -> Mean {
        self.mean((rule, work, load), |observed| observed.seconds)
    }

    /// The time under a rule in units of the mean over all rules.
    fn relative(&self, rule: usize, work: usize, load: usize) -> Mean {
        let rules = self.plan.rules.len();
        let all = (0..rules).map(|rule| self.seconds(rule, work, load).value);
        let unit = all.sum::<f64>() / rules as f64;
        self.seconds(rule, work, load).over(unit)
    }

    /// The same averaged over the programs (Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, section 3.2).
    pub fn aggregated(&self, rule: usize, load: usize) -> Mean {
        let works = self.plan.works.len();
        let relatives: Vec<Mean> = (0..works)
            .map(|work| self.relative(rule, work, load))
            .collect();
        let squares: f64 = relatives.iter().map(|mean| mean.half_width.powi(2)).sum();
        Mean {
            value: relatives.iter().map(|mean| mean.value).sum::<f64>() / works as f64,
            half_width: squares.sqrt() / works as f64,
        }
    }

    /// Which rule has this name.
    pub fn rule(&self, name: &str) -> usize {
        let found = self.plan.rules.iter().position(|rule| rule.name == name);
        found.expect("a rule of the plan")
    }

    /// Which program it is, if it is one of the plan.
    pub fn work(&self, program: &str) -> Option<usize> {
        let mut works = self.plan.works.iter();
        works.position(|work| work.name == program)
    }

    /// Which load has this name.
    pub fn load(&self, name: &str) -> usize {
        let mut loads = self.plan.loads.iter();
        let found = loads.position(|load| load.name() == name);
        found.expect("a load of the plan")
    }

    /// A program's time under all rules, over the loads.
    pub fn chart_of(&self, work: usize) -> Chart {
        let name = self.plan.works[work].name;
        let line = |rule| self.line(rule, |load| self.relative(rule, work, load));
        Chart {
            title: name.to_owned(),
            x: "processors - instances".to_owned(),
            y: "time / mean of all".to_owned(),
            labels: self.plan.loads.iter().map(|load| load.name()).collect(),
            lines: (0..self.plan.rules.len()).map(line).collect(),
        }
    }

    /// The aggregated result over the loads.
    pub fn aggregated_chart(&self, title: &str) -> Chart {
        let line = |rule| self.line(rule, |load| self.aggregated(rule, load));
        Chart {
            title: title.to_owned(),
            x: "processors - instances".to_owned(),
            y: "time / mean of all".to_owned(),
            labels: self.plan.loads.iter().map(|load| load.name()).collect(),
            lines: (0..self.plan.rules.len()).map(line).collect(),
        }
    }

    /// The aggregated result over the rules, a line for each load.
    pub fn sweep_chart(&self, title: &str, x: &str) -> Chart {
        let rules = 0..self.plan.rules.len();
        let line = |(number, load): (usize, &Load)| Line {
            name: load.name(),
            points: points(rules.clone().map(|rule| self.aggregated(rule, number))),
        };
        Chart {
            title: title.to_owned(),
            x: x.to_owned(),
            y: "time / mean of all".to_owned(),
            labels: self
                .plan
                .rules
                .iter()
                .map(|rule| rule.name.clone())
                .collect(),
            lines: self.plan.loads.iter().enumerate().map(line).collect(),
        }
    }

    fn line(&self, rule: usize, mean: impl Fn(usize) -> Mean) -> Line {
        Line {
            name: self.plan.rules[rule].name.clone(),
            points: points((0..self.plan.loads.len()).map(mean)),
        }
    }
}

/// One point after the other.
fn points(means: impl Iterator<Item = Mean>) -> Vec<Point> {
    let point = |(number, mean): (usize, Mean)| mean.at(number as f64);
    means.enumerate().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_workloads::Size;

    fn grid() -> Grid {
        let work = |name| Work::new(name, name, Size::Tiny, &[]);
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
    fn a_long_program_counts_no_more_than_a_short_one() {
        let grid = grid();
        let aggregated = [0, 1].map(|rule| grid.aggregated(rule, 0).value);
        assert_eq!(aggregated, [0.75, 1.25]);
    }

    #[test]
    fn lines_have_the_names_of_the_rules_and_labels_those_of_the_loads() {
        let chart = grid().aggregated_chart("all");
        let names: Vec<&str> = chart.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(
            (names, chart.labels),
            (vec!["fast", "slow"], vec!["8-2".to_owned()])
        );
        let swept = grid().sweep_chart("all", "rule");
        assert_eq!(swept.labels, ["fast", "slow"]);
        assert_eq!(swept.lines[0].points[1].y, 1.25);
    }
}
