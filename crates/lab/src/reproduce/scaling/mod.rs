//! How far the runtime's defaults scale, compared with their alternatives, on machines larger than
//! ours.
//!
//! Each alternative differs from the defaults in one choice. The machine has packages of 64
//! processors; groups of 16 processors share a cache.

mod findings;

use std::fmt::Write;

use tidegate::machine::Topology;
use tidegate_policy::{StealAmount, VictimPolicy};
use tidegate_sim::Settings;
use tidegate_workloads::Size;

use super::grid::{Grid, Load, Plan, Rule};
use super::page::{Chart, Line, Page, Point, Section, Setting};
use super::simulated::Work;
use crate::engine::Session;
use findings::findings;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Table, Value};

/// The maximum number of runs.
const RUNS: u64 = 3;

/// The numbers of processors. Each is four times the previous one.
const PROCESSORS: [usize; 7] = [1, 4, 16, 64, 256, 1_024, 4_096];

const CACHE: usize = 16;
const PACKAGE: usize = 64;

const DEFAULTS: &str = "defaults";

/// Returns a rule with the defaults, and a rule for each alternative to one of them.
fn rules() -> Vec<Rule> {
    let idle = |name: &str| Rule {
        idle: name.parse().expect("a rule of this program"),
        ..Rule::usual(&format!("idle {name}"))
    };
    let victim = |victim: VictimPolicy| Rule {
        victim: Some(victim),
        ..Rule::usual(&format!("victim {victim}"))
    };
    let steal = |steal: StealAmount| Rule::usual(&format!("steal {steal}")).taking(steal);
    let mut rules = vec![Rule::usual(DEFAULTS)];
    rules.extend(["yield", "linear", "exponential", "quanta"].map(idle));
    rules.extend([StealAmount::Half, StealAmount::Fixed(2)].map(steal));
    rules.extend([VictimPolicy::Random, VictimPolicy::LastVictim].map(victim));
    rules
}

/// Parameters whose values differ from the defaults for the size.
type Parameters = &'static str;

/// Phases that take only a few milliseconds, because thieves that never rest take long to simulate.
const PHASES: Parameters = "rounds=10 solo=100000 steps=2000000 tasks=1024";

/// Returns programs of different kinds: even and uneven trees, a loop, a recursion that begins
/// serially, phases, and a factorization.
fn works(size: Size) -> Vec<Work> {
    let parameters: [Parameters; 7] = match size {
        Size::Tiny => [
            "n=5 k=4 r=0",
            "tree=tiny",
            "tree=tiny-binomial b0=100",
            "n=64 form=join",
            "",
            "",
            "",
        ],
        Size::Small => [
            "n=9 k=4 r=0",
            "tree=small",
            "tree=tiny-binomial",
            "n=16384 steps=100000 form=join",
            "n=1000000",
            PHASES,
            "n=16 block=50",
        ],
        Size::Paper => [
            "n=11 k=4 r=0",
            "tree=T1",
            "tree=T3",
            "n=65536 form=join",
            "n=10000000",
            PHASES,
            "n=50 block=100",
        ],
    };
    let programs = [
        ("knary", "knary"),
        ("UTS geometric", "uts"),
        ("UTS binomial", "uts"),
        ("loopy", "loopy"),
        ("quicksort", "quicksort"),
        ("phases", "phases"),
        ("sparselu", "sparselu"),
    ];
    let work = |((name, program), given)| Work::new(name, program, size, given);
    programs.into_iter().zip(parameters).map(work).collect()
}

fn machine(processors: usize) -> Settings {
    let mut text = format!("cpus 0-{}\n", processors - 1);
    for (name, size) in [("L3", CACHE), ("package", PACKAGE)] {
        text.push_str(name);
        for first in (0..processors).step_by(size) {
            let last = (first + size).min(processors) - 1;
            write!(text, " {first}-{last}").expect("a string takes all");
        }
        text.push('\n');
    }
    let topology: Topology = text.parse().expect("a topology of this program");
    Settings {
        places: topology.places(topology.cpus().as_slice()),
        ..Settings::new(processors)
    }
}

pub fn page(session: &Session, sim: bool) -> Result<Page, Failure> {
    if !sim {
        return Err(Failure::Usage(
            "scaling --real: no machine has these processors; use --sim".into(),
        ));
    }
    let runs = session.runs(RUNS);
    let load = |processors| Load {
        processors,
        instances: 1,
    };
    let plan = Plan {
        rules: rules(),
        works: works(session.size().into()),
        loads: PROCESSORS.map(load).into(),
    };
    let trial = plan.simulated("packages", runs, machine);
    trial.expect(session);
    session.begin()?;
    let grid = trial.measure(session)?;
    let machine = format!("packages of {PACKAGE} processors, {CACHE} to a cache");
    Ok(Page {
        expected: true,
        made: vec![Setting::new("runs", runs), Setting::new("machine", machine)],
        findings: findings(&grid),
        sections: vec![speedups(&grid), choices(&grid)],
        ..Page::new(
            "scaling",
            "How far the defaults scale",
            "Not published: the defaults of this runtime, on simulated machines",
        )
    })
}

/// Creates a section with the speed-ups of the defaults on increasing numbers of processors.
fn speedups(grid: &Grid) -> Section {
    let loads = grid.plan().loads.len();
    let speedup = |work: usize, load: usize| {
        let alone = grid.seconds(0, work, 0);
        alone.over(&grid.seconds(0, work, load))
    };
    let line = |work: usize| {
        let point = |load| Point::new(load as f64, speedup(work, load));
        Line {
            name: grid.plan().works[work].name.to_owned(),
            points: (0..loads).filter_map(point).collect(),
        }
    };
    let names: Vec<String> = grid.plan().loads.iter().map(|load| load.name()).collect();
    let works = 0..grid.plan().works.len();
    let columns = std::iter::once("program".to_owned()).chain(names.iter().cloned());
    let columns: Vec<String> = columns.collect();
    let mut times = Table::new(columns.clone()).titled("Time");
    let mut ratios = Table::new(columns).titled("Speed-up");
    for work in works.clone() {
        let name = Value::from(grid.plan().works[work].name);
        let time = |load| Value::known(Some(grid.seconds(0, work, load).median()), Value::Seconds);
        let ratio = |load| Value::known(Some(speedup(work, load).value), Value::Ratio);
        times.row(std::iter::once(name.clone()).chain((0..loads).map(time)));
        ratios.row(std::iter::once(name).chain((0..loads).map(ratio)));
    }
    Section {
        title: "The defaults".to_owned(),
        text:
            "Time and speed-up on more and more processors. A program of fixed size stops scaling \
               where its span, and the time to wake and find workers, is all that is left."
                .to_owned(),
        charts: vec![Chart {
            title: "Speed-up of the defaults".to_owned(),
            x: "processors".to_owned(),
            y: "speed-up".to_owned(),
            labels: names,
            log: true,
            lines: works.map(line).collect(),
        }],
        tables: vec![times, ratios],
    }
}

/// Creates a section that compares every alternative with the defaults, for each program.
fn choices(grid: &Grid) -> Section {
    let works = 0..grid.plan().works.len();
    let table = |load: usize| {
        let names = grid.plan().works.iter().map(|work| work.name.to_owned());
        let title = format!(
            "Time by that of the defaults on {} processors",
            grid.plan().loads[load].name()
        );
        let mut table = Table::new(std::iter::once("choice".to_owned()).chain(names)).titled(title);
        for rule in 1..grid.plan().rules.len() {
            let ratio = |work| {
                let ratio = grid
                    .seconds(rule, work, load)
                    .over(&grid.seconds(0, work, load));
                Value::known(Some(ratio.value), Value::Ratio)
            };
            let name = Value::from(grid.plan().rules[rule].name.clone());
            table.row(std::iter::once(name).chain(works.clone().map(ratio)));
        }
        table
    };
    Section {
        title: "Each choice".to_owned(),
        text:
            "One choice differs from the defaults. The chart is the mean over the programs of the \
               time by the mean over all choices; lower is better."
                .to_owned(),
        charts: vec![grid.aggregated_chart("All programs")],
        tables: (1..grid.plan().loads.len()).map(table).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_machines_have_three_distances() {
        for (processors, height) in [(1, 1), (16, 1), (64, 2), (256, 3)] {
            let settings = machine(processors);
            assert_eq!(settings.places.workers(), processors);
            assert_eq!(settings.places.height(), height, "{processors}");
        }
        let places = machine(256).places;
        let distances = [1, 16, 64].map(|other| places.distance(0, other));
        assert_eq!(distances, [1, 2, 3]);
    }

    #[test]
    fn each_rule_changes_one_default() {
        let rules = rules();
        let usual = &rules[0];
        for rule in &rules[1..] {
            let differs = [
                rule.idle != usual.idle,
                rule.steal != usual.steal,
                rule.victim != usual.victim,
            ];
            assert_eq!(
                differs.into_iter().filter(|differs| *differs).count(),
                1,
                "{}",
                rule.name
            );
        }
    }
}
