//! How thieves rest: all backoffs and quanta on the programs of Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, alone and several at once.

mod findings;
mod machines;
mod real;
mod simulated;
mod sweeps;

use tidegate_workloads::Size;

use super::grid::{Grid, Rule};
use super::page::{Page, Section, Setting, Sheet};
use super::simulated::Work;
use crate::arguments::ReproduceArguments;
use tidegate_command::failure::Failure;
use tidegate_command::output::show_seconds;

/// The thesis' seven schedulers, its other backoffs, and our default.
const RULES: [&str; 12] = [
    "linear",
    "quanta",
    "long-quanta",
    "none",
    "pheet-original",
    "yield",
    "abp-yield",
    "exponential",
    "exponential-linear",
    "linear-exponential",
    "combination",
    "elastic",
];

/// A program under its own name.
fn work(program: &'static str, size: Size) -> Work {
    Work::new(program, program, size, &[])
}

/// The trees of the thesis with four million nodes, and smaller ones of their kinds.
fn trees(size: Size) -> [Work; 2] {
    let (geometric, hybrid): (&[_], &[_]) = match size {
        Size::Tiny => (&[("tree", "tiny")], &[("tree", "T4"), ("depth", "4")]),
        Size::Small => (&[("tree", "small")], &[("tree", "T4"), ("depth", "12")]),
        Size::Paper => (&[("tree", "T1")], &[("tree", "T4")]),
    };
    [("UTS-0", geometric), ("UTS-4", hybrid)].map(|(name, given)| Work {
        name,
        given,
        ..work("uts", size)
    })
}

/// Elements for `quicksort`, which has as many as the thesis already where it is small.
fn quicksort(size: Size) -> Work {
    let given: &[_] = match size {
        Size::Tiny => &[("n", "2000")],
        Size::Small => &[("n", "1000000")],
        Size::Paper => &[("n", "10000000")],
    };
    Work {
        given,
        ..work("quicksort", size)
    }
}

fn rules() -> Vec<Rule> {
    RULES.iter().map(|rule| Rule::new(rule, rule)).collect()
}

/// Makes the page.
pub fn page(arguments: &ReproduceArguments) -> Result<Page, Failure> {
    let mut page = Page {
        experiment: "adaptive".to_owned(),
        title: "How thieves rest".to_owned(),
        source: "Haselsteiner, \"Adaptive Work-Stealing Techniques\", 2015, chapters 4 to 6"
            .to_owned(),
        expected: false,
        made: vec![
            Setting::new("size", format!("{:?}", arguments.size).to_lowercase()),
            Setting::new("runs", arguments.runs),
        ],
        findings: vec![],
        sections: vec![],
    };
    let size = arguments.size.into();
    if !arguments.real {
        simulated::add(&mut page, size, arguments.runs)?;
    }
    if !arguments.sim {
        real::add(&mut page, size, arguments.runs)?;
    }
    Ok(page)
}

/// What the aggregated result is, as a section with a chart for each grid.
fn overall(title: &str, grids: &[(&str, &Grid)]) -> Section {
    let text = "For each program the mean time under a rule is divided by the mean over all rules, and these ratios are averaged over the programs (section 3.2). \
                Lower is better; 1 is the average rule. 80-4 is four instances on 80 processors.";
    Section {
        title: title.to_owned(),
        text: text.to_owned(),
        charts: grids
            .iter()
            .map(|(name, grid)| grid.aggregated_chart(name))
            .collect(),
        tables: vec![],
    }
}

/// Each program of a grid.
fn by_program(place: &str, grid: &Grid) -> Section {
    let works = 0..grid.plan().works.len();
    Section {
        title: format!("Each program {place}"),
        text: "Mean time of an instance in units of the mean over all rules, with the interval of 95 % confidence.".to_owned(),
        charts: works.map(|work| grid.chart_of(work)).collect(),
        tables: vec![times(grid)],
    }
}

/// Each program's mean time under the thesis' best rule, for who wants to know what the ratios are of.
fn times(grid: &Grid) -> Sheet {
    let rule = grid.rule("linear");
    let loads = || grid.plan().loads.iter().enumerate();
    let row = |(number, work): (usize, &Work)| {
        let times = loads().map(|(load, _)| show_seconds(grid.seconds(rule, number, load).value));
        std::iter::once(work.name.to_owned()).chain(times).collect()
    };
    Sheet {
        title: "Time with linear backoff".to_owned(),
        columns: std::iter::once("program".to_owned())
            .chain(loads().map(|(_, load)| load.name()))
            .collect(),
        rows: grid.plan().works.iter().enumerate().map(row).collect(),
    }
}

/// How long and how often workers slept under this load (table 5.5).
fn sleeps(place: &str, grid: &Grid, load: &str) -> Section {
    let load = grid.load(load);
    let row = |(number, work): (usize, &Work)| {
        let slept = ["quanta", "linear"].map(|rule| {
            let cell = (grid.rule(rule), number, load);
            let asleep = grid.mean(cell, |observed| observed.asleep).value;
            let naps = grid.mean(cell, |observed| observed.naps).value;
            format!("{} ({naps:.0})", show_seconds(asleep))
        });
        std::iter::once(work.name.to_owned()).chain(slept).collect()
    };
    Section {
        title: format!("Sleeps {place}"),
        text: "How long all workers of an instance slept, and how often (table 5.5).".to_owned(),
        charts: vec![],
        tables: vec![Sheet {
            title: "Time asleep (sleeps)".to_owned(),
            columns: ["program", "quanta", "linear"].map(str::to_owned).into(),
            rows: grid.plan().works.iter().enumerate().map(row).collect(),
        }],
    }
}
