//! How many tasks a thief takes: the experiments of Adnan and Sato, "Dynamic multiple work stealing
//! strategy for flexible load balancing", 2012.

mod figures;
mod programs;
mod states;
mod trees;

use std::time::Duration;

use tidegate::machine::Machine;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::show_nanos;
use tidegate_policy::{Nanos, VictimPolicy};
use tidegate_sim::{Costs, Settings};
use tidegate_workloads::{Runtime, Serial, Size};
use toml::Value;

use super::measured::Batch;
use super::observed::Observed;
use super::page::{Page, Setting};
use super::paper::{self, Paper, Results, items_of};
use super::plan::Load;
use super::real::{Processes, spec};
use crate::engine::{Cell, Session};
use figures::{FIGURES, OVERHEAD};
use programs::{fft, rule, strassen};

const PAPER: &str = concat!(
    include_str!("../../../papers/multi-steal/claims.toml"),
    include_str!("../../../papers/multi-steal/sections.toml"),
    include_str!("../../../papers/multi-steal/states.toml"),
    include_str!("../../../papers/multi-steal/here.toml"),
);

/// The number of runs of programs that take about a second to simulate. The source does not state
/// its number of runs.
const RUNS: u64 = 5;

/// The number of runs of the trees and of fib, which take up to a minute each.
const LONG_RUNS: u64 = 3;

/// What a steal costs thief and victim for each task in the victim's deque: in StackThreads/MP, a
/// victim suspends all its frames, and the thief waits for that. With this value, 24 workers spend
/// 34 % of their time stealing on UTS A under "bottommost first", as in table 2. The rest of a steal
/// costs what it costs in this runtime, because the source prints neither.
const UNWIND: Nanos = 175;

pub fn page(session: &Session, sim: bool, real: bool) -> Result<Page, Failure> {
    let paper = Paper::read(PAPER);
    let trees = trees::batch(session.size());
    let simulated = sim.then(|| (simulated(session), states::batch(session)));
    let here = real.then(|| here(session)).transpose()?;
    trees.expect(session);
    if let Some((programs, states)) = &simulated {
        programs.iter().for_each(|batch| batch.expect(session));
        states.expect(session);
    }
    if let Some((programs, overhead)) = &here {
        programs.iter().for_each(|batch| batch.expect(session));
        overhead.expect(session);
    }
    session.begin()?;
    let nodes = trees.measure(session)?;
    let mut page = Page {
        made: vec![
            Setting::new("runs", session.runs(RUNS)),
            Setting::new("runs of UTS and fib", session.runs(LONG_RUNS)),
        ],
        ..Page::new(
            "multi-steal",
            "How many tasks a thief takes",
            "Adnan and Sato, \"Dynamic multiple work stealing strategy for flexible load \
             balancing\", 2012",
        )
    };
    if let Some((programs, states)) = simulated {
        let mut results = results(&paper, Batch::measure_all(programs, session)?, session);
        trees::list(&mut results, &nodes);
        page.made.extend([
            Setting::new("a steal", show_nanos(Costs::default().steal as f64)),
            Setting::new(
                "with the costs of the source, for each task of the victim",
                show_nanos(UNWIND as f64),
            ),
        ]);
        results.add(&mut page, "sim");
        states::add(&mut page, &paper, states.measure(session)?, session.size());
    }
    if let Some((programs, overhead)) = here {
        let mut results = results(&paper, Batch::measure_all(programs, session)?, session);
        let overhead = Results::new(&paper, overhead.measure(session)?, OVERHEAD, session.size());
        let processors = Machine::read().usable().len();
        if processors < 2 {
            results.cannot.push("one processor");
        }
        page.made.push(Setting::new("processors here", processors));
        results.add(&mut page, "here");
        overhead.add(&mut page, "one worker");
    }
    Ok(page)
}

/// Returns what runs on simulated machines with as many processors as the source's machine, at the
/// source's costs of a steal and, where the cost of a steal is decisive, also at this runtime's.
fn simulated(session: &Session) -> Vec<Batch<Observed>> {
    let size = session.size().into();
    let settings = |costs| {
        move |processors| Settings {
            victim: VictimPolicy::Random,
            costs,
            ..Settings::new(processors)
        }
    };
    let costs = Costs {
        unwind: UNWIND,
        ..Costs::default()
    };
    let source = programs::source(size).into_iter().map(|(plan, runs)| {
        let place = format!("StackThreads/unwind={UNWIND}ns");
        Batch::simulated(
            session.runs(runs),
            plan.on_machine("source", &place, settings(costs)),
        )
    });
    let own = programs::at_own_costs(size).into_iter().map(|plan| {
        let cells = plan.on_machine("own", "own costs", settings(Costs::default()));
        Batch::simulated(session.runs(LONG_RUNS), cells)
    });
    source.chain(own).collect()
}

type Here = (Vec<Batch<Observed>>, Batch<f64>);

/// Returns what runs on this machine with two workers: according to the source, its strategies
/// differ only on more than two processors. Two programs also run on one worker with tasks, and
/// serially with plain calls.
fn here(session: &Session) -> Result<Here, Failure> {
    let (size, runs) = (session.size().into(), session.runs(RUNS));
    let plans = programs::here(size)
        .into_iter()
        .map(|plan| Ok(Batch::real(runs, plan.here()?)))
        .collect::<Result<Vec<_>, Failure>>()?;
    let processes = Processes::new()?;
    let one_worker = programs::on_one_worker(size).into_iter().flat_map(|work| {
        let processes = processes.clone();
        ["tasks", "calls"].map(move |runtime| {
            let full = format!("here/one worker/{}/{}/{runtime}", work.name, work.in_full());
            let short = format!("{}/{runtime}", work.name);
            let (work, processes) = (work.clone(), processes.clone());
            let run = move |run| {
                let mut spec = spec(&work, &rule("bottommost"), Load::of("1"), run)?;
                if runtime == "calls" {
                    spec.runtime = Serial::NAME.to_owned();
                }
                Ok(processes.run(&[(spec, Duration::ZERO)])?[0].seconds)
            };
            (short, Cell::new(full, run))
        })
    });
    Ok((plans, Batch::real(runs, one_worker)))
}

/// Adds the lists of programs, which depend on their size.
fn results<'a>(
    paper: &'a Paper,
    measured: super::measured::Measured<Observed>,
    session: &Session,
) -> Results<'a, Observed> {
    let mut results = Results::new(paper, measured, FIGURES, session.size());
    let size: Size = session.size().into();
    for (list, works) in [("strassen", strassen(size)), ("fft", fft(size))] {
        let names: Vec<&str> = works.iter().map(|work| work.name).collect();
        let pairs = names.windows(2).map(|pair| item(pair[1], pair[0]));
        results.list(&format!("larger {list}"), pairs.collect());
        let all: Vec<Value> = names.iter().map(|name| item(name, "")).collect();
        results.list(
            &format!("largest {list}"),
            all.last().cloned().into_iter().collect(),
        );
        results.list(list, all);
    }
    let programs = ["strassen", "fft"].map(|list| results.lists[list].clone());
    let programs = [items_of("work", ["fib", "SparseLU"]), programs.concat()].concat();
    let rows = |works: &[Value], rules: &str| {
        let of = |work: &Value| {
            let rules = results.lists[rules].iter().cloned();
            let row = |mut row: Value| {
                let values = row.as_table_mut().expect("a rule");
                values.insert("work".to_owned(), work["work"].clone());
                row
            };
            rules.map(row).collect::<Vec<_>>()
        };
        works.iter().flat_map(of).collect::<Vec<_>>()
    };
    let trees = rows(&results.lists["trees"], "strategy of trees");
    let rows = [trees, rows(&programs, "strategy")].concat();
    results.list("rows here", rows);
    results
}

fn item(work: &str, other: &str) -> Value {
    let id = work.to_lowercase().replace(' ', "-");
    paper::item([("work", work), ("id", &id), ("other", other)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_and_figures_fit() {
        let paper = Paper::read(PAPER);
        #[rustfmt::skip]
        let lists = [
            "strassen", "fft", "larger strassen", "larger fft", "largest strassen", "largest fft",
        ];
        let lists = lists.map(|list| (list, vec![item("work", "other")]));
        paper.check(&["sim", "here"], FIGURES, &lists);
        paper.check(&["states"], states::FIGURES, &[]);
        paper.check(&["one worker"], OVERHEAD, &[]);
    }
}
