//! The peak memory of tasks: the experiments of the slides "Narlikar and hybrid schedulers for
//! Cilk", which build on Narlikar and Blelloch, "Space-efficient scheduling of nested parallelism",
//! 1999.

mod batch;
mod findings;
mod functions;
mod modified_fib;
mod published;
mod real;
mod sweep;
mod tables;

use tidegate_workloads::Size;

use super::grid::{Load, Plan, Rule};
use super::page::{Page, Section, Setting};
use super::simulated::Work;
use crate::bench::memory::policy::{self, LOOKS_OF_SLIDES, Policy};
use crate::engine::Session;
use batch::{Batch, Subject};
use tables::{Results, overview};
use tidegate_command::failure::Failure;

/// The maximum number of runs. The source does not state its number of runs.
const RUNS: u64 = 5;

const STEALING: &str = "work stealing";
const HYBRID: &str = "hybrid";
const NARLIKAR: &str = "Narlikar";
const DFDEQUES: &str = "DFDeques";
const BUDGET: &str = "budget";

const MODIFIED_FIB: &str = "modified fib";
const MEMFIB: &str = "memfib";
const NESTED: &str = "nested";

/// Returns the parameter k of Narlikar's scheduler and of DFDeques.
fn k(s1: u64) -> u64 {
    policy::k(s1, LOOKS_OF_SLIDES)
}

/// Returns the source's schedulers under the source's names, and two of ours.
fn schedulers(s1: u64) -> [Rule; 5] {
    [
        (STEALING, Policy::None),
        (HYBRID, Policy::Hybrid),
        (NARLIKAR, Policy::DepthFirst),
        (DFDEQUES, Policy::DfDeques),
        (BUDGET, Policy::Budget),
    ]
    .map(|(name, policy)| Rule::with_memory(name, policy.memory(s1, LOOKS_OF_SLIDES)))
}

/// Returns the programs: modified fib, nested (the source's example of two loops), and our other
/// programs that declare memory.
fn works(size: Size) -> Vec<Work> {
    // With this n and mix, work stealing holds about as many blocks as with the source's program;
    // see the first findings.
    let fib: &str = match size {
        Size::Tiny => "n=9 hold=itself mix=0.35",
        Size::Small => "n=12 hold=itself mix=0.35 bytes=4194304",
        Size::Paper => "n=12 hold=itself mix=0.35",
    };
    let ours = ["matmul", "strassen", "sortmany", "decompress"];
    let ours = ours.map(|name| Work::new(name, name, size, ""));
    let slides = [
        Work::new(MODIFIED_FIB, "memfib", size, fib),
        Work::new(NESTED, "nested", size, ""),
        Work::new(MEMFIB, "memfib", size, ""),
    ];
    slides.into_iter().chain(ours).collect()
}

/// Creates a plan that runs each scheduler on a program.
fn plan(subject: &Subject, processors: &[usize]) -> Plan {
    let load = |&processors| Load {
        processors,
        instances: 1,
    };
    Plan {
        rules: schedulers(subject.extent.peak_bytes).into(),
        works: vec![subject.work.clone()],
        loads: processors.iter().map(load).collect(),
    }
}

/// The programs in the sweep of parameters.
const SWEPT: [&str; 4] = [MODIFIED_FIB, NESTED, "matmul", "strassen"];

pub fn page(session: &Session, sim: bool, real: bool) -> Result<Page, Failure> {
    let runs = session.runs(RUNS);
    let works = works(session.size().into());
    let subjects = works.into_iter().map(Subject::new);
    let subjects = subjects.collect::<Result<Vec<_>, _>>()?;
    let is_swept = |subject: &&Subject| SWEPT.contains(&subject.work.name);
    let swept = subjects.iter().filter(is_swept);
    let simulated = sim.then(|| {
        let all = Batch::simulated("simulated", runs, &subjects, |subject| {
            plan(subject, &published::PROCESSORS)
        });
        (all, Batch::simulated("swept", runs, swept, sweep::plan))
    });
    let here = if real {
        Some(real::Trials::new(&subjects, runs, sim)?)
    } else {
        None
    };
    if let Some((all, swept)) = &simulated {
        all.expect(session);
        swept.expect(session);
    }
    if let Some(here) = &here {
        here.expect(session);
    }
    session.begin()?;
    let mut page = Page {
        made: vec![
            Setting::new("runs", runs),
            Setting::new(
                "parameters",
                "S1 is the peak of the serial run; k and alpha are S1/64, beta is alpha/4, the \
                 budget is 1.1 S1",
            ),
        ],
        ..Page::new(
            "memory",
            "How much memory tasks need at a time",
            "The slides \"Narlikar and hybrid schedulers for Cilk\", after Narlikar and Blelloch, \
             \"Space-efficient scheduling of nested parallelism\", 1999",
        )
    };
    if let Some((all, swept)) = simulated {
        let results = all.measure(session)?;
        page.findings = findings::findings(&results, session.size());
        let swept = swept.measure(session)?;
        page.findings
            .extend(functions::findings(&swept, session.size()));
        page.sections = simulated_sections(&results, &swept);
    }
    if let Some(here) = here {
        here.add(&mut page, session)?;
    }
    Ok(page)
}

/// Creates the sections on simulated runs: one for each program, one for all programs, and one for
/// the sweep. The section of the first program also has the source's figures.
fn simulated_sections(results: &[Results], swept: &[Results]) -> Vec<Section> {
    let mut sections: Vec<Section> = results
        .iter()
        .map(|results| results.section("Simulated"))
        .collect();
    let (chart, table) = published::beside(&results[0]);
    sections[0].text.push_str(modified_fib::TEXT);
    sections[0].charts.insert(0, chart);
    sections[0].tables.insert(0, table);
    let on = |load: usize| {
        let processors = published::PROCESSORS[load];
        let title = format!("Peak and time on {processors} processors / work stealing");
        overview(results, load, &title)
    };
    sections.push(Section {
        title: "Simulated: all programs".to_owned(),
        text: "Each scheduler in units of work stealing on as many processors.".to_owned(),
        charts: vec![],
        tables: vec![on(0), on(3)],
    });
    sections.push(sweep::section(swept, functions::table(swept)));
    sections
}

#[cfg(test)]
mod tests {
    use tidegate_policy::MemoryPolicy;

    use super::*;
    use tidegate_policy::memory::{Hybrid, SleepFunction};

    #[test]
    fn first_scheduler_is_the_baseline() {
        let schedulers = schedulers(1 << 20);
        assert_eq!(schedulers[0].memory, Some(MemoryPolicy::None));
        let names = schedulers.each_ref().map(|rule| rule.name.as_str());
        assert_eq!(names, [STEALING, HYBRID, NARLIKAR, DFDEQUES, BUDGET]);
    }

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

    #[test]
    fn swept_rules_have_distinct_names() {
        let subject = Subject::new(works(Size::Tiny).remove(0)).unwrap();
        let plan = sweep::plan(&subject);
        let mut names: Vec<_> = plan.rules.iter().map(|rule| &rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), plan.rules.len());
        assert!(names.iter().all(|name| !name.contains('/')));
    }
}
