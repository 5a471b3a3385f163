//! What runs: programs, each under its own rules, because a rule's parameters depend on the program.

use tidegate_cli_support::failure::Failure;
use tidegate_policy::memory::{DepthFirst, DfDeques, Hybrid, SleepFunction};
use tidegate_policy::{MemoryPolicy, Nanos};
use tidegate_sim::{Settings, WorkSpan};
use tidegate_workloads::Size;
use toml::Value;

use crate::bench::memory::policy::{self, LOOKS_OF_SLIDES, Policy};
use crate::reproduce::measured::Batch;
use crate::reproduce::observed::Observed;
use crate::reproduce::paper::{self, Paper, texts};
use crate::reproduce::plan::{Load, Plan, Rule};
use crate::reproduce::simulated::Workload;

/// How many average tasks an operation of the slides' scheduling thread takes. With this many,
/// Narlikar's scheduler takes 465 times as long as work stealing on modified fib with 16 processors.
const OPERATION: f64 = 17.6;

/// The part of S1 that the slides' alpha is. With this part, the hybrid needs about 0.75 times the
/// memory of work stealing on modified fib with 16 processors.
const ALPHA: u64 = 8;

/// A program, with the work, span and peak of its serial run.
pub struct Profile {
    work: Workload,
    extent: WorkSpan,
}

impl Profile {
    pub fn new(work: Workload) -> Result<Self, Failure> {
        let dag = work.dag(1.0)?;
        let s1 = WorkSpan::of(&*dag).peak_bytes;
        let extent = WorkSpan::with_k(&*dag, k(s1));
        Ok(Self { work, extent })
    }

    fn s1(&self) -> u64 {
        self.extent.peak_bytes
    }

    /// Returns the program with what the bounds of its peaks depend on.
    pub fn item(&self) -> Value {
        let budget = match Policy::Budget.memory(self.s1(), LOOKS_OF_SLIDES) {
            MemoryPolicy::Budget(budget) => budget.bytes as u64,
            _ => unreachable!("the policy of this name"),
        };
        let number = |number: u64| Value::from(number as i64);
        paper::item([
            ("program", self.work.name.into()),
            ("s1", number(self.s1())),
            ("k", number(k(self.s1()))),
            ("depth", number(self.extent.depth)),
            ("most", number(budget)),
            ("work", Value::from(self.extent.work as f64 / 1e9)),
        ])
    }
}

/// Returns the parameter k of Narlikar's scheduler and of DFDeques.
fn k(s1: u64) -> u64 {
    policy::k(s1, LOOKS_OF_SLIDES)
}

/// Returns the programs: modified fib, nested (the source's example of two loops), and our other
/// programs that declare memory. With this n and mix, work stealing holds about as many blocks of
/// modified fib as of the source's program; see the first findings.
pub fn works(size: Size) -> Vec<Workload> {
    let fib = match size {
        Size::Tiny => "n=9 hold=itself mix=0.35",
        Size::Small => "n=12 hold=itself mix=0.35 bytes=4194304",
        Size::Paper => "n=12 hold=itself mix=0.35",
    };
    #[rustfmt::skip]
    let ours = [
        "nested", "memfib", "matmul", "strassen", "sortmany", "decompress",
    ];
    let ours = ours.map(|name| Workload::new(name, name, size, ""));
    std::iter::once(Workload::new("modified fib", "memfib", size, fib))
        .chain(ours)
        .collect()
}

/// Returns the programs of a list.
pub fn those<'a>(paper: &Paper, profiles: &'a [Profile], list: &str) -> Vec<&'a Profile> {
    let names: Vec<&str> = texts(&paper.lists[list], "program").collect();
    let is_there = |profile: &&Profile| names.contains(&profile.work.name);
    profiles.iter().filter(is_there).collect()
}

/// Returns the source's schedulers under the source's names, and two of ours.
fn schedulers(s1: u64) -> [Rule; 5] {
    [
        ("work stealing", Policy::None),
        ("hybrid", Policy::Hybrid),
        ("Narlikar", Policy::DepthFirst),
        ("DFDeques", Policy::DfDeques),
        ("budget", Policy::Budget),
    ]
    .map(|(name, policy)| Rule::with_memory(name, policy.memory(s1, LOOKS_OF_SLIDES)))
}

/// Creates a plan that runs each scheduler on a program.
pub fn plan(profile: &Profile, processors: &[usize]) -> Plan {
    let load = |&processors| Load {
        processors,
        instances: 1,
    };
    Plan {
        rules: schedulers(profile.s1()).into(),
        works: vec![profile.work.clone()],
        loads: processors.iter().map(load).collect(),
    }
}

pub fn simulated(
    on: &str,
    runs: u64,
    profiles: &[&Profile],
    processors: &[usize],
) -> Vec<Batch<Observed>> {
    let plans = profiles.iter().map(|profile| plan(profile, processors));
    let batch = |plan: Plan| Batch::simulated(runs, plan.on_machine(on, on, Settings::new));
    plans.map(batch).collect()
}

/// Runs the source's schedulers with what its figures of modified fib allow to fit: one scheduling
/// thread for Narlikar's, and the hybrid's alpha.
pub fn slides(runs: u64, fib: &Profile, processors: &[usize]) -> Batch<Observed> {
    let mut plan = plan(fib, processors);
    plan.rules.truncate(3);
    plan.rules[1] = Rule::with_memory("hybrid", policy::hybrid(fib.s1(), ALPHA));
    let WorkSpan { work, tasks, .. } = fib.extent;
    let scheduler = (OPERATION * work as f64 / tasks as f64) as Nanos;
    let place = format!("slides/scheduler={scheduler}ns");
    let machine = |processors| {
        let mut settings = Settings::new(processors);
        settings.costs.scheduler = scheduler;
        settings
    };
    Batch::simulated(runs, plan.on_machine("slides", &place, machine))
}

/// Runs work stealing, and each scheduler with several parameters, on 16 processors. The source
/// calls the parameters "voodoo" and does not print them.
pub fn swept(paper: &Paper, runs: u64, profiles: &[&Profile]) -> Vec<Batch<Observed>> {
    let parts: Vec<u64> = paper.numbers("part").collect();
    let batch = |profile: &&Profile| {
        let s1 = profile.s1();
        let swept = parts.iter().flat_map(|part| {
            let k = s1.div_ceil(*part) as usize;
            let hybrid = |beta, sleep| {
                let alpha = k;
                MemoryPolicy::Hybrid(Hybrid { alpha, beta, sleep })
            };
            // A name has no `/`, because that separates the parts of cell names.
            [
                ("hybrid", hybrid(k / 4, SleepFunction::Linear)),
                ("hybrid, sqrt", hybrid(k / 4, SleepFunction::Sqrt)),
                ("hybrid, square", hybrid(k / 4, SleepFunction::Square)),
                ("hybrid, beta 0", hybrid(0, SleepFunction::Linear)),
                ("Narlikar", MemoryPolicy::DepthFirst(DepthFirst { k })),
                ("DFDeques", MemoryPolicy::DfDeques(DfDeques { k })),
            ]
            .map(|(line, memory)| Rule::with_memory(&format!("{line} at {part}"), memory))
        });
        let stealing = Rule::with_memory("work stealing", MemoryPolicy::None);
        let plan = Plan {
            rules: std::iter::once(stealing).chain(swept).collect(),
            works: vec![profile.work.clone()],
            loads: vec![Load::of("16")],
        };
        Batch::simulated(runs, plan.on_machine("swept", "swept", Settings::new))
    };
    profiles.iter().map(batch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule is written in docs/memory.md, "Alpha and beta". It applies even if a sweep finds
    /// better values.
    #[test]
    fn alpha_follows_the_written_rule() {
        for (s1, alpha, beta) in [(64 << 20, 1 << 20, 1 << 18), (100, 2, 0)] {
            let sleep = SleepFunction::Linear;
            let expected = MemoryPolicy::Hybrid(Hybrid { alpha, beta, sleep });
            assert_eq!(schedulers(s1)[1].memory, Some(expected));
            assert_eq!(k(s1), alpha as u64);
        }
    }
}
