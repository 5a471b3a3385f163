//! The experiment on processors as many as the source had.

use tidegate_policy::Victim;
use tidegate_sim::{Costs, Settings};
use tidegate_workloads::Size;

use super::findings::findings;
use super::{Shares, breakdown, rules, states, works};
use crate::reproduce::grid::{Grid, Load, Plan};
use crate::reproduce::page::{Chart, Line, Page, Point, Section, Setting};
use crate::reproduce::simulated;
use tidegate_command::failure::Failure;
use tidegate_command::output::Progress;

/// Two processors of twelve cores.
const PROCESSORS: [usize; 8] = [1, 2, 4, 8, 12, 16, 20, 24];

/// Where the source's tables are from.
pub const FULL: usize = PROCESSORS.len() - 1;

/// In StackThreads/MP the victim unwinds its stack to the frame that is asked for, and puts the others back: a steal takes some ten times as long as ours.
const DEAR: u64 = 20_000;

/// The grids with steals as dear as ours are, and as there.
pub struct Results {
    pub ours: Grid,
    pub dear: Grid,
}

/// Adds what comes of it to the page.
pub fn add(page: &mut Page, size: Size, runs: u64) -> Result<(), Failure> {
    let load = |processors| Load {
        processors,
        instances: 1,
    };
    let plan = Plan {
        rules: rules(),
        works: works(size),
        loads: PROCESSORS.map(load).into(),
    };
    let costs = [
        Costs::default(),
        Costs {
            steal: DEAR,
            ..Costs::default()
        },
    ];
    let progress = Progress::start(2 * plan.cells().count() as u64 * runs + states::STEPS);
    let mut grids = Vec::new();
    for costs in costs {
        let cases = plan.cases(|processors| Settings {
            victim: Victim::Random,
            costs,
            ..Settings::new(processors)
        });
        let observed = simulated::observe(&cases, runs, &progress)?;
        grids.push(Grid::new(plan.clone(), observed));
    }
    let (of_states, states) = states::add(size, &progress)?;
    drop(progress);
    let [ours, dear] = <[Grid; 2]>::try_from(grids).unwrap_or_else(|_| unreachable!("two costs"));
    let results = Results { ours, dear };
    page.made.extend([
        Setting::new("steal here", format!("{} us", costs[0].steal / 1_000)),
        Setting::new("steal there", format!("{} us", DEAR / 1_000)),
    ]);
    page.findings.extend(findings(&results));
    page.findings.extend(of_states);
    page.sections.extend([
        section(
            "Simulated: steals as dear as in StackThreads/MP",
            &results.dear,
        ),
        section("Simulated: steals as dear as ours", &results.ours),
        states,
    ]);
    Ok(())
}

fn section(title: &str, grid: &Grid) -> Section {
    let works = 0..grid.plan().works.len();
    let mut charts: Vec<Chart> = works.clone().map(|work| speedup(grid, work)).collect();
    charts.extend(works.map(|work| stealing(grid, work)));
    Section {
        title: title.to_owned(),
        text: "Speed-up against one processor, the share of the workers' time that goes into looking for work and stealing, and where the time of 24 workers went. Tasks are spawned as in the source: a child runs at once, and what a thief takes is \
               the rest of its forebears."
            .to_owned(),
        charts,
        tables: vec![breakdown(grid, FULL)],
    }
}

fn chart(grid: &Grid, title: String, y: &str, figure: impl Fn(usize, usize) -> Point) -> Chart {
    let loads = &grid.plan().loads;
    let line = |rule: usize| Line {
        name: grid.plan().rules[rule].name.clone(),
        points: (0..loads.len()).map(|load| figure(rule, load)).collect(),
    };
    Chart {
        title,
        x: "processors".to_owned(),
        y: y.to_owned(),
        labels: loads.iter().map(|load| load.name()).collect(),
        lines: (0..grid.plan().rules.len()).map(line).collect(),
    }
}

fn speedup(grid: &Grid, work: usize) -> Chart {
    let name = grid.plan().works[work].name;
    let alone = grid.seconds(0, work, 0).value;
    chart(grid, name.to_owned(), "speed-up", |rule, load| {
        let time = grid.seconds(rule, work, load);
        time.speedup(alone, load as f64)
    })
}

fn stealing(grid: &Grid, work: usize) -> Chart {
    let name = grid.plan().works[work].name;
    chart(
        grid,
        format!("{name}: stealing"),
        "% of all time",
        |rule, load| {
            let share = Shares::of(grid, (rule, work, load)).steal;
            share.over(0.01).at(load as f64)
        },
    )
}
