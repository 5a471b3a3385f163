//! The experiments on this machine: each job is a process with its own pool.

mod jobs;

use crate::engine::ratios::{farthest, greatest};
use crate::engine::{Cell, Session};
use crate::reproduce::measured::{Batch, Figure, View};
use crate::reproduce::page::{Page, Setting};
use crate::reproduce::paper::{Paper, Results};
use crate::reproduce::real::Processes;
use jobs::Ran;
use tidegate_cli_support::failure::Failure;
use tidegate_workloads::Size;
use toml::Value;

/// With fewer processors, the jobs' allotments can hardly differ, so some claims cannot be judged.
const SEVERAL: usize = 4;

/// The experiments that are possible with this machine's number of processors.
pub struct Here {
    processors: usize,
    names: Vec<String>,
    pub batch: Batch<Ran>,
}

impl Here {
    pub fn new(size: Size, runs: u64) -> Result<Self, Failure> {
        let processors = tidegate::machine::Machine::read().usable().len();
        let processes = Processes::new()?;
        let all = jobs::all(size, processors);
        let names = all.iter().map(|jobs| jobs.name.clone()).collect();
        let cells = all.into_iter().map(|jobs| {
            let (name, in_full) = (jobs.name.clone(), &jobs.in_full);
            let full = format!("real/{name}/{in_full} processors={processors}");
            let processes = processes.clone();
            (name, Cell::new(full, move |_| jobs.run(&processes)))
        });
        Ok(Self {
            processors,
            names,
            batch: Batch::real(runs, cells),
        })
    }

    /// Runs the cells and adds the results to the page.
    pub fn add(self, paper: &Paper, page: &mut Page, session: &Session) -> Result<(), Failure> {
        let (processors, measured) = (self.processors, self.batch.measure(session)?);
        let mut results = Results::new(paper, measured, FIGURES, session.size());
        results.list("processors", vec![(processors as i64).into()]);
        results.list("jobs", self.names.into_iter().map(Value::from).collect());
        if processors < SEVERAL {
            results.cannot.push("few processors");
        }
        page.made.push(Setting::new("processors here", processors));
        let mut findings = results.findings("real");
        if results.measured.runs("O2/P3/fib/fixed").is_empty() {
            findings.retain(|finding| finding.id != "real-O1");
        }
        page.findings.extend(findings);
        page.sections.extend(results.sections("real"));
        Ok(())
    }
}

type V<'a> = View<'a, Ran>;

#[rustfmt::skip]
pub const FIGURES: &[Figure<Ran>] = &[
    ("response", |v| response(v, "{jobs}")),
    ("end", |v| v.median("{jobs}", Ran::end)),
    ("power", |v| v.median("{jobs}", Ran::power)),
    ("usage", |v| v.median("{jobs}", Ran::usage)),
    ("real-O2-slope", |v| greatest(&v.each("work", |v| v.ratio("O2/{work}/1 ms", "O2/{work}/5 ms", Ran::response)))),
    ("real-O2-none-at-5", |v| {
        greatest(&v.each("work", |v| {
            v.ratio("O2/{work}/5 ms", "O2/P3/{work}/fixed", Ran::response)
        }))
    }),
    ("by halves", |v| v.ratio("{jobs}/sharing", "{jobs}/halves", Ran::response)),
    // If a job takes time T on one half, the response of three with static halves, where the third
    // waits, is 4T/3 and the throughput 3/(2T).
    ("real-P1-halves", |v| {
        let sharing = v.median("P1/fib/sharing", Ran::power);
        let alone = response(v, "P1/fib/halves");
        sharing / (3.0 / (2.0 * alone) / (4.0 * alone / 3.0))
    }),
    ("by thirds", |v| {
        let power = |jobs| v.median(jobs, Ran::power);
        power("P1/fib/sharing{late}") / power("P1/fib/thirds{late}")
    }),
    ("real-P3-fixed", |v| {
        farthest(&v.each("work", |v| {
            v.ratio("P3/{work}/sharing", "O2/P3/{work}/fixed", Ran::response)
        }))
    }),
    ("real-P3-bound", |v| greatest(&v.each("work", by_bound))),
];

fn response(v: V<'_>, jobs: &str) -> f64 {
    v.median(jobs, Ran::response)
}

/// A job's time by the greedy bound. The span of fib is a few calls, that of loopy one subtask.
fn by_bound(v: V<'_>) -> f64 {
    let time = response(v, "P3/{work}/sharing");
    let usage = v.median("P3/{work}/sharing", Ran::usage);
    let serial = response(v, "P3/{work}/serial");
    let subtasks = 4.0 * v.number("processors");
    let span = if v.fill("{work}") == "fib" {
        0.0
    } else {
        serial / subtasks
    };
    time / (serial / usage.max(1.0) + span)
}
