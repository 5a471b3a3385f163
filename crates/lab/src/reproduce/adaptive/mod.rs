//! How idle thieves rest: reproduces the experiments with backoffs and quanta of Haselsteiner,
//! "Adaptive Work-Stealing Techniques", 2015. The programs of that thesis run alone, and several at
//! once. Section and figure numbers in this module are those of the thesis.

mod claims;
mod looks;
mod machines;
mod medians;
mod outlook;
mod real;
mod rest;
mod simulated;
mod sweeps;

use tidegate_workloads::Size;

use super::grid::{Grid, Rule};
use super::page::{Page, Section, Setting};
use super::simulated::Work;
use crate::engine::Session;
use claims::{SEVEN, TUNED};
use tidegate_command::failure::Failure;
use tidegate_command::output::{Table, Value};

/// This runtime's default rule. Mean times over rules leave it out.
const OURS: &str = "elastic";

/// Returns the seven schedulers of the thesis, its other tuned backoffs, and our default.
fn rules() -> Vec<Rule> {
    let tuned = TUNED.iter().filter(|rule| !SEVEN.contains(rule));
    let names = SEVEN.iter().chain(tuned).chain([&OURS]);
    names.map(|rule| Rule::new(rule, rule)).collect()
}

/// Returns the programs of the thesis that have dags, with the inputs of the thesis. The other two
/// programs have no dag, because their tasks depend on which worker comes first.
fn works(size: Size) -> Vec<Work> {
    let work = |program| Work::new(program, program, size, &[]);
    let (sorted, geometric, hybrid): (&[_], &[_], &[_]) = match size {
        Size::Tiny => (
            &[("n", "2000")],
            &[("tree", "tiny")],
            &[("tree", "T4"), ("depth", "4")],
        ),
        Size::Small => (
            &[("n", "1000000")],
            &[("tree", "small")],
            &[("tree", "T4"), ("depth", "12")],
        ),
        Size::Paper => (&[("n", "10000000")], &[("tree", "T1")], &[("tree", "T4")]),
    };
    vec![
        work("lu"),
        work("prefixsum"),
        Work::new("quicksort", "quicksort", size, sorted),
        Work::new("UTS-0", "uts", size, geometric),
        Work::new("UTS-4", "uts", size, hybrid),
    ]
}

/// Returns the program that searches the tree of UTS-7. In the thesis, the tree has 111 million
/// nodes.
fn binomial_tree(size: Size) -> Work {
    let given: &[_] = match size {
        Size::Tiny => &[("tree", "tiny-binomial"), ("b0", "100")],
        Size::Small => &[("tree", "tiny-binomial"), ("b0", "8000")],
        Size::Paper => &[("tree", "T3L")],
    };
    Work::new("UTS-7", "uts", size, given)
}

/// Returns the number of runs of each cell; the thesis uses 20.
fn runs(session: &Session) -> u64 {
    session.runs(match session.size().into() {
        Size::Paper => 20,
        Size::Tiny | Size::Small => 3,
    })
}

pub fn page(session: &Session, sim: bool, real: bool) -> Result<Page, Failure> {
    let simulated = sim.then(|| simulated::Trials::new(session));
    let looks = sim.then(|| looks::Trials::new(session));
    let outlook = sim.then(|| outlook::Trials::new(session));
    let here = if real {
        Some(real::Here::new(session)?)
    } else {
        None
    };
    session.begin()?;
    let mut page = Page {
        made: vec![Setting::new("runs", runs(session))],
        ..Page::new(
            "adaptive",
            "How thieves rest",
            "Haselsteiner, \"Adaptive Work-Stealing Techniques\", 2015, chapters 4 to 7",
        )
    };
    if let Some(trials) = simulated {
        trials.add(session, &mut page)?;
        page.findings.push(rest::finding());
        page.sections.push(rest::section());
    }
    if let Some(trials) = looks {
        page.sections.push(trials.section(session)?);
    }
    if let Some(trials) = outlook {
        trials.add(session, &mut page)?;
    }
    if let Some(here) = here {
        here.add(session, &mut page)?;
    }
    Ok(page)
}

/// Creates a section with the aggregated times, in one chart per grid.
fn overall(title: &str, grids: &[(&str, &Grid)]) -> Section {
    Section {
        title: title.to_owned(),
        text: "The time of a program under a rule is divided by the mean over the seven schedulers \
               of chapter 6; the chart has the mean of these ratios over the programs (section \
               3.2). Lower is better. The other backoffs, and elastic, our default, are not part of \
               the unit. 80-4 is four instances on 80 processors."
            .to_owned(),
        charts: grids
            .iter()
            .map(|(name, grid)| grid.aggregated_chart(name))
            .collect(),
        tables: vec![],
    }
}

/// Creates a section with the results of each program in a grid.
fn by_program(place: &str, grid: &Grid) -> Section {
    let works = 0..grid.plan().works.len();
    Section {
        title: format!("Each program {place}"),
        text:
            "The time of an instance in units of the mean over the seven schedulers of chapter 6, \
               with intervals of 95 % confidence."
                .to_owned(),
        charts: works.map(|work| grid.chart_of(work)).collect(),
        tables: vec![times(grid)],
    }
}

/// Creates a table of the times under the linear backoff, which is the base of the ratios.
fn times(grid: &Grid) -> Table {
    let rule = grid.rule("linear");
    let loads = 0..grid.plan().loads.len();
    let names = loads.clone().map(|load| grid.plan().loads[load].name());
    let columns = std::iter::once("program".to_owned()).chain(names);
    let mut table = Table::new(columns).titled("Time with the linear backoff");
    for (number, work) in grid.plan().works.iter().enumerate() {
        let time = |load| {
            let seconds = grid.seconds(rule, number, load).median();
            Value::known(Some(seconds), Value::Seconds)
        };
        table.row(std::iter::once(Value::from(work.name)).chain(loads.clone().map(time)));
    }
    table
}

/// Creates a section that shows how long and how often workers slept under a load (table 5.5).
fn sleeps(place: &str, grid: &Grid, load: &str) -> Section {
    let load = grid.load(load);
    let columns = ["program", "quanta", "sleeps", "linear", "sleeps"];
    let mut table = Table::new(columns).titled("Time asleep and number of sleeps");
    for (number, work) in grid.plan().works.iter().enumerate() {
        let mut cells = vec![Value::from(work.name)];
        for rule in ["quanta", "linear"] {
            let cell = (grid.rule(rule), number, load);
            let asleep = grid.sample(cell, |observed| observed.asleep).median();
            let naps = grid.sample(cell, |observed| observed.naps).median();
            cells.push(Value::known(Some(asleep), Value::Seconds));
            cells.push(Value::known(Some(naps), Value::Number));
        }
        table.row(cells);
    }
    Section {
        title: format!("Sleeps {place}"),
        text: "How long all workers of an instance slept, and how often (table 5.5).".to_owned(),
        charts: vec![],
        tables: vec![table],
    }
}
