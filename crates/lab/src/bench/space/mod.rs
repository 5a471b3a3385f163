//! `bench space`: how much memory programs need at a time, and how long they take, when their tasks wait for it.
//!
//! Each run is a job of its own, so that the system's figure for its memory is that of this run. The runs of a program take turns.

mod row;

use std::time::Duration;

use tidegate_policy::space::{Budget, DepthFirst, DfDeques, Hybrid};
use tidegate_policy::{Share, Space};
use tidegate_workloads::space::decompress::Decompress;
use tidegate_workloads::space::matmul::Matmul;
use tidegate_workloads::space::memfib::Memfib;
use tidegate_workloads::space::nested::Nested;
use tidegate_workloads::space::sortmany::Sortmany;
use tidegate_workloads::space::strassen::Strassen;
use tidegate_workloads::{
    Given, Length, Profiled, Program, Rayon, Runtime, Serial, Size, Tidegate, Visitor, visit,
};

use super::crew::{self, Done, Spec};
use crate::arguments::ProgramsArguments;
use row::{Case, Row};
use tidegate_command::failure::Failure;
use tidegate_command::output::Progress;

/// The programs that declare memory.
const PROGRAMS: [&str; 6] = [
    Memfib::NAME,
    Nested::NAME,
    Matmul::NAME,
    Strassen::NAME,
    Sortmany::NAME,
    Decompress::NAME,
];

/// How many workers; the last ones are more than this machine may have processors for.
const WORKERS: [usize; 4] = [1, 2, 4, 8];

/// Measures them all.
pub fn bench(arguments: &ProgramsArguments) -> Result<(), Failure> {
    let folder = crew::folder()?;
    let table = folder.path().join("table.v1");
    let lanes = WORKERS.len() * Policy::ALL.len();
    let runs = PROGRAMS.len() * (1 + lanes * arguments.repeat as usize);
    let progress = Progress::start(runs as u64);
    let mut rows = Vec::new();
    for name in PROGRAMS {
        let measure = Measure {
            size: arguments.size.into(),
            repeat: arguments.repeat,
            table: &table,
            progress: &progress,
        };
        rows.extend(visit(name, measure.size, &Given::default(), measure)??);
    }
    drop(progress);
    row::print(&rows, arguments.format)
}

/// How a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Rayon,
    None,
    Hybrid,
    DepthFirst,
    DfDeques,
    Budget,
}

impl Policy {
    const ALL: [Self; 6] = [
        Self::Rayon,
        Self::None,
        Self::Hybrid,
        Self::DepthFirst,
        Self::DfDeques,
        Self::Budget,
    ];

    /// What a pool is told, for a program whose serial run declares so much.
    pub fn space(self, s1: u64) -> Space {
        let (serial, k) = (s1 as usize, k_of(s1) as usize);
        match self {
            Self::Rayon | Self::None => Space::None,
            Self::Hybrid => Space::Hybrid(hybrid(s1)),
            Self::DepthFirst => Space::DepthFirst(DepthFirst { k }),
            Self::DfDeques => Space::DfDeques(DfDeques { k }),
            Self::Budget => Space::Budget(Budget {
                bytes: serial + serial.div_ceil(10),
                serial,
            }),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Rayon => "rayon",
            Self::None => "none",
            Self::Hybrid => "hybrid",
            Self::DepthFirst => "depth-first",
            Self::DfDeques => "dfdeques",
            Self::Budget => "budget",
        }
    }
}

/// The k of a program: its S1. With a smaller one tasks are parked for each large block, which
/// costs more time and saves no memory (docs/performance.md).
fn k_of(s1: u64) -> u64 {
    s1.max(1)
}

/// The hybrid's parameters for a program (docs/space.md has the rule): its sleeps are proportional
/// to the requests, as the source wants them, only where alpha + beta p is small beside the largest
/// request. One of S1 bytes sleeps 32 rounds on 4 workers and 7 on 32.
fn hybrid(s1: u64) -> Hybrid {
    let alpha = s1.div_ceil(64).max(1) as usize;
    Hybrid {
        alpha,
        beta: alpha / 4,
    }
}

/// Measures the program that it is shown.
struct Measure<'a> {
    size: Size,
    repeat: u32,
    table: &'a std::path::Path,
    progress: &'a Progress,
}

impl Visitor for Measure<'_> {
    type Out = Result<Vec<Row>, Failure>;

    fn visit<P: Program>(self, program: P) -> Self::Out {
        self.progress
            .say(&format!("{}: the serial version and its span", P::NAME));
        let job = |policy, workers, s1| self.spec(&program, policy, workers, s1);
        let mut spec = job(Policy::None, 1, 0);
        spec.runtime = Serial::NAME.into();
        let serial = self.run(spec)?;
        let s1 = serial.memory.map_or(0, |memory| memory.declared);
        let span = span_of(&program, k_of(s1))?;
        self.progress.step();
        let mut rows = Vec::new();
        for workers in WORKERS {
            for policy in Policy::ALL {
                rows.push(Row::new(Case {
                    program: P::NAME,
                    policy,
                    workers,
                    s1,
                    k: k_of(s1),
                    span,
                    space: policy.space(s1),
                }));
            }
        }
        for round in 1..=self.repeat {
            for row in &mut rows {
                let Case {
                    policy, workers, ..
                } = row.case;
                self.progress.say(&format!(
                    "{}: round {round} of {}, {} on {workers}",
                    P::NAME,
                    self.repeat,
                    policy.name()
                ));
                let done = self.run(job(policy, workers, s1))?;
                row.add(&done, done.answer == serial.answer);
                self.progress.step();
            }
        }
        Ok(rows)
    }
}

impl Measure<'_> {
    fn spec<P: Program>(&self, program: &P, policy: Policy, workers: usize, s1: u64) -> Spec {
        let runtime = match policy {
            Policy::Rayon => Rayon::NAME,
            _ => Tidegate::NAME,
        };
        Spec {
            program: P::NAME.into(),
            parameters: Spec::parameters_of(program),
            runtime: runtime.into(),
            workers,
            share: Share::Off,
            idle: None,
            steal: None,
            space: Some(policy.space(s1)),
            processors: None,
            estimates: None,
        }
    }

    fn run(&self, spec: Spec) -> Result<Done, Failure> {
        let done = crew::run(&[(spec, Duration::ZERO)], self.table)?;
        Ok(done.into_iter().next().expect("one job"))
    }
}

/// The span of a program, where so many bytes of a lease are an action.
fn span_of<P: Program>(program: &P, k: u64) -> Result<Length, Failure> {
    let mut input = program
        .prepare()
        .map_err(|error| Failure::Impossible(error.to_string()))?;
    let body = || program.parallel::<Profiled>(&mut input, &mut ());
    Ok(Profiled::span_of(k, body).1)
}
