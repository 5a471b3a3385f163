//! How much a thief takes: the experiments of Adnan and Sato, "Dynamic multiple work stealing strategy for flexible load balancing", 2012.

mod findings;
mod real;
mod simulated;
mod states;

use tidegate_policy::Amount;
use tidegate_workloads::Size;

use super::grid::{Grid, Rule};
use super::observed::Observed;
use super::page::{Page, Setting, Sheet};
use super::sample::Mean;
use super::simulated::Work;
use crate::arguments::ReproduceArguments;
use tidegate_command::failure::Failure;
use tidegate_command::output::{show_ratio, show_seconds};

/// The most runs: those of the source are not told.
const RUNS: u64 = 5;

/// As the source calls its strategies: tasks from the old end, one, a fixed number, or half of what there is.
const BOTTOMMOST: &str = "bottommost";
const FIXED_2: &str = "fixed, 2";
const FIXED_16: &str = "fixed, 16";
const FIXED_20: &str = "fixed, 20";
const DYNAMIC: &str = "dynamic";

/// After so many failures a thief of the source sleeps 100 us; here after each sweep over all others.
const IDLE: &str = "linear:min=100us,step=0ns,max=100us";

fn rules() -> Vec<Rule> {
    let amounts = [
        (BOTTOMMOST, Amount::One),
        (FIXED_2, Amount::Fixed(2)),
        (FIXED_16, Amount::Fixed(16)),
        (FIXED_20, Amount::Fixed(20)),
        (DYNAMIC, Amount::Half),
    ];
    let rule = |(name, amount)| Rule::new(name, IDLE).taking(amount);
    amounts.map(rule).into()
}

/// The source's programs; each task spawned, as there, but for those that have no spawns here.
fn works(size: Size) -> Vec<Work> {
    let (a, b, fib): (&[_], &[_], &[_]) = match size {
        Size::Tiny => (
            &[("tree", "tiny-binomial"), ("form", "spawn"), ("b0", "300")],
            &[
                ("tree", "tiny-binomial"),
                ("form", "spawn"),
                ("b0", "100"),
                ("m", "3"),
                ("q", "0.32"),
            ],
            &[("n", "16")],
        ),
        Size::Small => (
            &[("tree", "T3"), ("form", "spawn")],
            &[
                ("tree", "T3"),
                ("form", "spawn"),
                ("m", "3"),
                ("q", "0.332"),
            ],
            &[("n", "27")],
        ),
        Size::Paper => (
            &[("tree", "T3"), ("form", "spawn")],
            &[("tree", "BOTS-tiny"), ("form", "spawn")],
            &[("n", "33")],
        ),
    };
    let work = |name, program, given| Work::new(name, program, size, given);
    vec![
        work("UTS A", "uts", a),
        work("UTS B", "uts", b),
        work("fib", "fib", fib),
        work("Strassen", "strassen", &[("form", "spawn")]),
        work("SparseLU", "sparselu", &[]),
        work("FFT", "fft", &[]),
    ]
}

/// Makes the page.
pub fn page(arguments: &ReproduceArguments) -> Result<Page, Failure> {
    let runs = arguments.runs.min(RUNS);
    let mut page = Page {
        experiment: "multi-steal".to_owned(),
        title: "How much a thief takes".to_owned(),
        source: "Adnan and Sato, \"Dynamic multiple work stealing strategy for flexible load balancing\", 2012".to_owned(),
        expected: false,
        made: vec![
            Setting::new("size", format!("{:?}", arguments.size).to_lowercase()),
            Setting::new("runs", runs),
        ],
        findings: vec![],
        sections: vec![],
    };
    let size = arguments.size.into();
    if !arguments.real {
        simulated::add(&mut page, size, runs)?;
    }
    if !arguments.sim {
        real::add(&mut page, size, runs)?;
    }
    Ok(page)
}

/// What part of all workers' time went where.
#[derive(Clone, Copy)]
struct Shares {
    busy: Mean,
    steal: Mean,
    idle: Mean,
    steals: f64,
}

impl Shares {
    fn of(grid: &Grid, cell: (usize, usize, usize)) -> Self {
        let all = |run: &Observed| run.busy + run.stealing + run.asleep;
        Self {
            busy: grid.mean(cell, |run| run.busy / all(run)),
            steal: grid.mean(cell, |run| run.stealing / all(run)),
            idle: grid.mean(cell, |run| run.asleep / all(run)),
            steals: grid.mean(cell, |observed| observed.steals).value,
        }
    }
}

fn percent(share: Mean) -> String {
    format!("{:.1} %", share.value * 100.0)
}

/// Where the time went under a load, by program and strategy.
fn breakdown(grid: &Grid, load: usize) -> Sheet {
    let mut rows = Vec::new();
    for (work, program) in grid.plan().works.iter().enumerate() {
        let base = grid.seconds(0, work, load).value;
        for (rule, strategy) in grid.plan().rules.iter().enumerate() {
            let seconds = grid.seconds(rule, work, load).value;
            let shares = Shares::of(grid, (rule, work, load));
            rows.push(vec![
                program.name.to_owned(),
                strategy.name.clone(),
                show_seconds(seconds),
                show_ratio(seconds / base),
                percent(shares.busy),
                percent(shares.steal),
                percent(shares.idle),
                format!("{:.0}", shares.steals),
            ]);
        }
    }
    let columns = [
        "program",
        "strategy",
        "time",
        "by bottommost",
        "busy",
        "steal",
        "idle",
        "steals",
    ];
    Sheet {
        title: "Where the workers' time went".to_owned(),
        columns: columns.map(str::to_owned).into(),
        rows,
    }
}
