//! How far the runtime's defaults scale, compared with their alternatives, on machines larger than
//! ours.
//!
//! Each alternative differs from the defaults in one choice. The machine has packages of 64
//! processors; groups of 16 processors share a cache.

use std::fmt::Write;

use tidegate::machine::Topology;
use tidegate_policy::{StealAmount, VictimPolicy};
use tidegate_sim::Settings;
use tidegate_workloads::Size;

use super::measured::{Batch, Figure, View};
use super::observed::Observed;
use super::page::{Page, Setting};
use super::paper::{Paper, Results, items_of};
use super::plan::{Load, Plan, Rule, in_units, seconds};
use super::simulated::Workload;
use crate::engine::Session;
use crate::engine::ratios::geometric_mean;
use tidegate_cli_support::failure::Failure;

const PAPER: &str = include_str!("../../../papers/scaling.toml");

const RUNS: u64 = 3;

/// The numbers of processors. Each is four times the previous one.
const PROCESSORS: [usize; 7] = [1, 4, 16, 64, 256, 1_024, 4_096];

const CACHE: usize = 16;
const PACKAGE: usize = 64;

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
    let mut rules = vec![Rule::usual("defaults")];
    rules.extend(["yield", "linear", "exponential", "quanta"].map(idle));
    rules.extend([StealAmount::Half, StealAmount::Fixed(2)].map(steal));
    rules.extend([VictimPolicy::Random, VictimPolicy::LastVictim].map(victim));
    rules
}

/// Phases that take only a few milliseconds, because thieves that never rest take long to simulate.
const PHASES: &str = "rounds=10 solo=100000 steps=2000000 tasks=1024";

/// Programs of different kinds, each with its parameters by size: even and uneven trees, a loop, a
/// recursion that begins serially, phases, and a factorization.
#[rustfmt::skip]
const PROGRAMS: [(&str, &str, [&str; 3]); 7] = [
    ("knary", "knary", ["n=5 k=4 r=0", "n=9 k=4 r=0", "n=11 k=4 r=0"]),
    ("UTS geometric", "uts", ["tree=tiny", "tree=small", "tree=T1"]),
    ("UTS binomial", "uts", ["tree=tiny-binomial b0=100", "tree=tiny-binomial", "tree=T3"]),
    ("loopy", "loopy", ["n=64 form=join", "n=16384 steps=100000 form=join", "n=65536 form=join"]),
    ("quicksort", "quicksort", ["", "n=1000000", "n=10000000"]),
    ("phases", "phases", ["", PHASES, PHASES]),
    ("sparselu", "sparselu", ["", "n=16 block=50", "n=50 block=100"]),
];

fn works(size: Size) -> Vec<Workload> {
    let work = |(name, program, given): (_, _, [&str; 3])| {
        Workload::new(name, program, size, given[size as usize])
    };
    PROGRAMS.map(work).into()
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
    let batch = Batch::simulated(runs, plan.on_machine(ON, ON, machine));
    batch.expect(session);
    session.begin()?;
    let paper = Paper::read(PAPER);
    let mut results = Results::new(&paper, batch.measure(session)?, FIGURES, session.size());
    let names = plan.rules.iter().map(|rule| rule.name.as_str());
    let rules = items_of("rule", names);
    let loads = items_of("load", PROCESSORS.map(|processors| processors.to_string()));
    results.list("other rule", rules[1..].to_vec());
    results.list("rule", rules);
    results.list("several", loads[1..].to_vec());
    results.list("load", loads);
    results.list(
        "work",
        items_of("work", plan.works.iter().map(|work| work.name)),
    );
    let machine = format!("packages of {PACKAGE} processors, {CACHE} to a cache");
    Ok(Page {
        expected: true,
        made: vec![Setting::new("runs", runs), Setting::new("machine", machine)],
        findings: results.findings("scaling"),
        sections: results.sections("scaling"),
        ..Page::new(
            "scaling",
            "How far the defaults scale",
            "Not published: the defaults of this runtime, on simulated machines",
        )
    })
}

const ON: &str = "packages";

const FIGURES: &[Figure<Observed>] = &[
    ("in units", in_units),
    ("time", |v| seconds(v, "packages/{work}/defaults/{load}")),
    ("speed-up", |v| {
        let alone = seconds(v, "packages/{work}/defaults/1");
        alone / seconds(v, "packages/{work}/defaults/{load}")
    }),
    ("by defaults", by_defaults),
    // Programs that `--only` left out do not count.
    ("mean by defaults", |v| {
        let cells = [
            "packages/{work}/{rule}/{load}",
            "packages/{work}/defaults/{load}",
        ];
        let is_whole = |v: View<'_, Observed>| cells.map(|cell| v.is_measured(cell)) == [true; 2];
        let ratios = v.each("work", |v| is_whole(v).then(|| by_defaults(v)));
        geometric_mean(&ratios.into_iter().flatten().collect::<Vec<f64>>())
    }),
];

fn by_defaults(v: View<'_, Observed>) -> f64 {
    let time = seconds(v, "packages/{work}/{rule}/{load}");
    time / seconds(v, "packages/{work}/defaults/{load}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_and_figures_fit() {
        let lists = [("other rule", "rule"), ("several", "load")];
        let lists = lists.map(|(list, name)| (list, items_of(name, ["one"])));
        Paper::read(PAPER).check(&["scaling"], FIGURES, &lists);
    }

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
            let same = [rule.idle == usual.idle, rule.steal == usual.steal];
            let same = [&same[..], &[rule.victim == usual.victim]].concat();
            let differing = same.iter().filter(|same| !**same);
            assert_eq!(differing.count(), 1, "{}", rule.name);
        }
    }
}
