//! The experiment on simulated machines like those of the thesis.

use tidegate_workloads::Size;

use super::claims::{SEVEN, findings};
use super::machines::{MARS, Machine, SATURN};
use super::medians::{On, View};
use super::sweeps::SWEEPS;
use crate::engine::Session;
use crate::reproduce::grid::{Grid, Plan, Rule, Trial};
use crate::reproduce::page::{Chart, Line, Page, Point, Section, Setting};
use crate::reproduce::simulated::Work;
use tidegate_command::failure::Failure;

/// The number of runs of each cell in a sweep, as in the thesis.
const RUNS_OF_A_SWEEP: u64 = 7;
/// The maximum number of runs of UTS-7, because a single run at the size of the thesis takes
/// minutes.
const RUNS_OF_UTS_7: u64 = 3;

/// Returns the programs, with tasks so long that the workers of an instance sleep as long as
/// published.
///
/// In the thesis (table 5.5), the sleeps on each of 80 processors add up to 1.4 s for LU and to 0.2
/// s for quicksort. Smaller inputs have longer tasks, so that the work is the same. LU gets only a
/// tenth of the work, because it would otherwise take an hour to simulate thieves that never rest.
pub fn slowed(size: Size) -> Vec<Work> {
    let slower = match size {
        Size::Tiny => [1.0; 5],
        Size::Small => [10.0, 10.0, 10.0, 50.0, 50.0],
        Size::Paper => [100.0, 1.0, 5.0, 1.0, 1.0],
    };
    let slowed = |(work, slower)| Work { slower, ..work };
    let works = super::works(size).into_iter();
    works.zip(slower).map(slowed).collect()
}

fn slowed_tree(size: Size) -> Work {
    let slower = match size {
        Size::Tiny | Size::Paper => 1.0,
        Size::Small => 50.0,
    };
    Work {
        slower,
        ..super::binomial_tree(size)
    }
}

/// The results: a grid for each machine, a grid of UTS-7 for each machine, and a grid for each
/// sweep.
pub struct Results {
    pub mars: Grid,
    pub saturn: Grid,
    pub mars_binomial: Grid,
    pub saturn_binomial: Grid,
    pub sweeps: Vec<Grid>,
}

impl View<'_, Results> {
    pub fn mars(&self) -> On<'_> {
        self.on(&self.results.mars)
    }

    pub fn saturn(&self) -> On<'_> {
        self.on(&self.results.saturn)
    }

    pub fn mars_binomial(&self) -> On<'_> {
        self.on(&self.results.mars_binomial)
    }

    pub fn saturn_binomial(&self) -> On<'_> {
        self.on(&self.results.saturn_binomial)
    }

    pub fn sweep(&self, title: &str) -> On<'_> {
        self.on(self.results.sweep(title))
    }

    /// Returns the values of the parameter that a sweep varies.
    pub fn values(&self, title: &str) -> Vec<&str> {
        let rules = self.results.sweep(title).plan().rules.iter();
        rules.map(|rule| rule.name.as_str()).collect()
    }
}

impl Results {
    fn sweep(&self, title: &str) -> &Grid {
        let number = SWEEPS.iter().position(|sweep| sweep.title == title);
        &self.sweeps[number.expect("a sweep of this experiment")]
    }
}

/// Returns the plans of [`Results`], in the order of its fields.
pub fn plans(size: Size) -> (Vec<Plan>, Vec<Plan>) {
    let works = slowed(size);
    let whole = |machine: Machine| Plan {
        rules: super::rules(),
        works: works.clone(),
        loads: machine.loads(),
    };
    let binomial = |machine: Machine, few: &[usize]| Plan {
        rules: SEVEN.map(|rule| Rule::new(rule, rule)).into(),
        works: vec![slowed_tree(size)],
        loads: few
            .iter()
            .map(|&processors| machine.alone(processors))
            .chain(machine.full())
            .collect(),
    };
    let whole = vec![
        whole(MARS),
        whole(SATURN),
        binomial(MARS, &[1, 40]),
        binomial(SATURN, &[1]),
    ];
    (
        whole,
        SWEEPS.iter().map(|sweep| sweep.plan(&works)).collect(),
    )
}

/// The cells of all plans of [`Results`].
pub struct Trials {
    whole: Vec<Trial>,
    sweeps: Vec<Trial>,
}

impl Trials {
    pub fn new(session: &Session) -> Self {
        let (whole, sweeps) = plans(session.size().into());
        let runs = super::runs(session);
        let several = [runs, runs, runs.min(RUNS_OF_UTS_7), runs.min(RUNS_OF_UTS_7)];
        let machines = [MARS, SATURN, MARS, SATURN];
        let whole = whole.into_iter().zip(machines).zip(several);
        let whole = whole.map(|((plan, machine), runs)| {
            plan.simulated(machine.name, runs, |processors| {
                machine.settings(processors)
            })
        });
        let runs = runs.min(RUNS_OF_A_SWEEP);
        let sweeps = sweeps.into_iter().zip(&SWEEPS).map(|(plan, sweep)| {
            let place = format!("{}/{}", sweep.machine.name, sweep.title);
            plan.simulated(&place, runs, |processors| {
                sweep.machine.settings(processors)
            })
        });
        let trials = Self {
            whole: whole.collect(),
            sweeps: sweeps.collect(),
        };
        let all = trials.whole.iter().chain(&trials.sweeps);
        all.for_each(|trial| trial.expect(session));
        trials
    }

    /// Runs the cells and adds the results to the page.
    pub fn add(self, session: &Session, page: &mut Page) -> Result<(), Failure> {
        let grids = |trials: Vec<Trial>| -> Result<Vec<Grid>, Failure> {
            let measured = trials.into_iter().map(|trial| trial.measure(session));
            measured.collect()
        };
        let whole = grids(self.whole)?.into_iter();
        let whole: Vec<Grid> = whole.map(|grid| grid.in_units_of(&SEVEN)).collect();
        let [mars, saturn, mars_binomial, saturn_binomial] =
            <[Grid; 4]>::try_from(whole).unwrap_or_else(|_| unreachable!("four plans"));
        let results = Results {
            mars,
            saturn,
            mars_binomial,
            saturn_binomial,
            sweeps: grids(self.sweeps)?,
        };
        page.findings
            .extend(findings(&results, session.size().into()));
        page.made.extend(made(session, &results));
        page.sections.extend(sections(&results));
        Ok(())
    }
}

fn made(session: &Session, results: &Results) -> Vec<Setting> {
    let runs = super::runs(session);
    let works = results.mars.plan().works.iter();
    let works = works.chain(&results.mars_binomial.plan().works);
    let slowed = works.filter(|work| work.slower > 1.0);
    let slowed: Vec<String> = slowed
        .map(|work| format!("{} {}", work.name, work.slower))
        .collect();
    let mut made = vec![
        Setting::new("runs of a sweep", runs.min(RUNS_OF_A_SWEEP)),
        Setting::new("runs of UTS-7", runs.min(RUNS_OF_UTS_7)),
        Setting::new(
            "machines",
            [MARS, SATURN].map(|machine| machine.told()).join("; "),
        ),
        Setting::new(
            "thieves",
            "as in the thesis, they look once at each level of a binary tree of processors, nearest \
             first, before they rest: 7 levels on Mars, 6 on Saturn",
        ),
        Setting::new(
            "looks",
            "each look costs a working victim the time in which it fetches a cache line back",
        ),
        Setting::new(
            "processors",
            "as in the thesis, thread i of each instance stays on processor i",
        ),
    ];
    if !slowed.is_empty() {
        made.push(Setting::new("times as long", slowed.join(", ")));
    }
    made
}

fn sections(results: &Results) -> Vec<Section> {
    let Results {
        mars,
        saturn,
        mars_binomial,
        saturn_binomial,
        sweeps,
    } = results;
    vec![
        super::overall(
            "Simulated: aggregated",
            &[("Mars", mars), ("Saturn", saturn)],
        ),
        super::by_program("on simulated Mars", mars),
        super::by_program("on simulated Saturn", saturn),
        super::by_program("of 111 million nodes on simulated Mars", mars_binomial),
        super::by_program("of 111 million nodes on simulated Saturn", saturn_binomial),
        steals_of_lu(mars),
        parameters(sweeps),
        super::sleeps("on all of simulated Mars", mars, "80"),
    ]
}

/// Creates the section that shows figure 4.2.
fn steals_of_lu(mars: &Grid) -> Section {
    let (rule, work) = (
        mars.rule("none"),
        mars.work("lu").expect("a program of the plan"),
    );
    let loads = mars.plan().loads.iter().enumerate();
    let alone: Vec<(usize, usize)> = loads
        .filter(|(_, load)| load.instances == 1)
        .map(|(number, load)| (number, load.processors))
        .collect();
    let line = |name: &str, figure: fn(&crate::reproduce::observed::Observed) -> f64| {
        let point = |(x, &(load, _)): (usize, &(usize, usize))| {
            let count = mars.sample((rule, work, load), figure).interval();
            // A logarithmic axis cannot show 0.
            Point::new(x as f64, count).filter(|point| point.low > 0.0)
        };
        Line {
            name: name.to_owned(),
            points: alone.iter().enumerate().filter_map(point).collect(),
        }
    };
    Section {
        title: "Steals of LU".to_owned(),
        text:
            "Attempts to steal and successful steals of LU on Mars without a backoff (figure 4.2)."
                .to_owned(),
        charts: vec![Chart {
            title: "Steals of LU without a backoff".to_owned(),
            x: "processors".to_owned(),
            y: "number".to_owned(),
            labels: alone.iter().map(|(_, count)| count.to_string()).collect(),
            log: true,
            lines: vec![
                line("attempts", |observed| observed.attempts),
                line("steals", |observed| observed.steals),
            ],
        }],
        tables: vec![],
    }
}

fn parameters(sweeps: &[Grid]) -> Section {
    let charts = SWEEPS.iter().zip(sweeps).map(|(sweep, grid)| {
        let title = format!("{}, {}", sweep.title, sweep.machine.name);
        grid.sweep_chart(&title, sweep.x)
    });
    Section {
        title: "Simulated: parameters".to_owned(),
        text:
            "Each parameter over a range, in units of the mean over its values, for one, two and \
               four instances: aggregated over LU, the prefix sum, quicksort and UTS-0, but the \
               weight of the combination and the longest sleep of quanta of quicksort alone, as in \
               the figures of the thesis. Lower is better."
                .to_owned(),
        charts: charts.collect(),
        tables: vec![],
    }
}
