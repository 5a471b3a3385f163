//! How much memory tasks need at a time: the experiments of the slides "Narlikar and hybrid schedulers for Cilk", which build on Narlikar and Blelloch, "Space-efficient scheduling of nested
//! parallelism", 1999.

mod findings;
mod real;
mod simulated;
mod sweep;
mod tables;

use tidegate_policy::Space;
use tidegate_policy::space::{DepthFirst, DfDeques, Hybrid};
use tidegate_sim::Extent;
use tidegate_workloads::{Simulated, SimulatedVisitor, Size, visit_simulated};

use super::grid::{Load, Plan, Rule};
use super::page::{Page, Setting};
use super::simulated::Work;
use crate::arguments::ReproduceArguments;
use crate::bench::space::Policy;
use tidegate_command::failure::Failure;

/// The most runs: those of the source are not told.
const RUNS: u64 = 5;

const STEALING: &str = "work stealing";
const HYBRID: &str = "hybrid";
const NARLIKAR: &str = "Narlikar";
const DFDEQUES: &str = "DFDeques";

/// As the source calls its schedulers, and two of ours. Narlikar's k and the hybrid's alpha and beta are "voodoo" to the source, which does not tell its own; the page has a sweep of them.
fn schedulers(s1: u64) -> [Rule; 5] {
    let k = s1.div_ceil(64) as usize;
    let budget = Policy::Budget.space(s1);
    [
        Rule::with_memory(STEALING, Space::None),
        Rule::with_memory(HYBRID, hybrid(k)),
        Rule::with_memory(NARLIKAR, Space::DepthFirst(DepthFirst { k })),
        Rule::with_memory(DFDEQUES, Space::DfDeques(DfDeques { k })),
        Rule::with_memory("budget", budget),
    ]
}

/// The hybrid with a beta that is a quarter of its alpha.
fn hybrid(alpha: usize) -> Space {
    Space::Hybrid(Hybrid {
        alpha,
        beta: alpha / 4,
    })
}

const MODIFIED_FIB: &str = "modified fib";
const MEMFIB: &str = "memfib";
const NESTED: &str = "nested";

/// Fib as the source's figures suggest it, a block for each call that computes; with a block for each call that has not ended; and the source's example.
fn works(size: Size) -> Vec<Work> {
    let (fib, held, loops): (&[_], &[_], &[_]) = match size {
        Size::Tiny => (
            &[("n", "9"), ("hold", "itself")],
            &[("n", "9")],
            &[("n", "8")],
        ),
        Size::Small => (
            &[("n", "16"), ("hold", "itself")],
            &[("n", "16")],
            &[("n", "64")],
        ),
        Size::Paper => (
            &[("n", "20"), ("hold", "itself")],
            &[("n", "20")],
            &[("n", "256")],
        ),
    };
    let work = |name, program, given| Work::new(name, program, size, given);
    vec![
        work(MODIFIED_FIB, "memfib", fib),
        work(MEMFIB, "memfib", held),
        work(NESTED, "nested", loops),
    ]
}

/// What the serial run of a program declares at most, and for how long a run without any scheduler goes on.
fn serial(work: &Work) -> Result<Extent, Failure> {
    struct Walked;

    impl SimulatedVisitor for Walked {
        type Out = Extent;

        fn visit<P: Simulated>(self, program: P) -> Extent {
            Extent::of(&program.dag())
        }
    }
    Ok(visit_simulated(
        work.program,
        work.size,
        &work.given(),
        Walked,
    )?)
}

/// Each scheduler on a program whose serial run declares so much.
fn plan(work: Work, s1: u64, processors: &[usize]) -> Plan {
    let load = |&processors| Load {
        processors,
        instances: 1,
    };
    Plan {
        rules: schedulers(s1).into(),
        works: vec![work],
        loads: processors.iter().map(load).collect(),
    }
}

/// Makes the page.
pub fn page(arguments: &ReproduceArguments) -> Result<Page, Failure> {
    let runs = arguments.runs.min(RUNS);
    let mut page = Page {
        experiment: "space".to_owned(),
        title: "How much memory tasks need at a time".to_owned(),
        source: "The slides \"Narlikar and hybrid schedulers for Cilk\", after Narlikar and Blelloch, \"Space-efficient scheduling of nested parallelism\", 1999".to_owned(),
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
