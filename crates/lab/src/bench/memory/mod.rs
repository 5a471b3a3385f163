//! `bench memory`: the peak memory and run times of programs whose tasks wait for memory.
//!
//! Each run is a separate job, because the system reports peak memory only for a whole process.

pub mod policy;
pub mod rows;

use std::path::Path;
use std::time::Duration;

use tidegate_policy::MemoryPolicy;
use tidegate_workloads::memory::decompress::Decompress;
use tidegate_workloads::memory::matmul::Matmul;
use tidegate_workloads::memory::memfib::Memfib;
use tidegate_workloads::memory::nested::Nested;
use tidegate_workloads::memory::sortmany::Sortmany;
use tidegate_workloads::memory::strassen::Strassen;
use tidegate_workloads::{
    Given, Length, Profiled, Program, Rayon, Runtime, Serial, Size, Tidegate, Values,
};

use super::crew::{self, Done, Spec};
use crate::bench::ProgramsArguments;
use crate::engine::Session;
use policy::{LOOKS_HERE, Policy, k};
use tidegate_cli_support::failure::Failure;

type Serially = fn(Size, &Path) -> Result<Baseline, Failure>;

/// The function that runs each program serially.
const PROGRAMS: [Serially; 6] = [
    serially::<Memfib>,
    serially::<Nested>,
    serially::<Matmul>,
    serially::<Strassen>,
    serially::<Sortmany>,
    serially::<Decompress>,
];

/// The numbers of workers. The largest may exceed this machine's number of processors.
const WORKERS: [usize; 4] = [1, 2, 4, 8];

pub fn bench(arguments: &ProgramsArguments) -> Result<(), Failure> {
    let folder = crew::folder()?;
    let table = folder.path().join("table.v1");
    let (table, size) = (table.as_path(), arguments.size.into());
    let baselines = PROGRAMS.iter().map(|serially| serially(size, table));
    let baselines: Vec<Baseline> = baselines.collect::<Result<_, _>>()?;
    let cases: Vec<Case<'_>> = baselines.iter().flat_map(Case::all).collect();
    let names: Vec<String> = cases.iter().map(Case::name).collect();
    let session = Session::whole("bench-memory", arguments.size, &arguments.keep);
    let runs = session.share_turns(&names, arguments.repeat.into(), |case, _| {
        run(cases[case].spec(), table)
    })?;
    let rows: Vec<(Case<'_>, Vec<Done>)> = cases.into_iter().zip(runs).collect();
    rows::print(&rows, arguments.format, &session.notes())
}

fn run(spec: Spec, table: &Path) -> Result<Done, Failure> {
    let done = crew::run(&[(spec, Duration::ZERO)], table)?;
    Ok(done.into_iter().next().expect("one job"))
}

/// A program and its serial run, with which its other runs are compared.
struct Baseline {
    program: &'static str,
    parameters: Vec<(String, String)>,
    serial: Done,
    /// The peak of the memory that the serial run declared, in bytes.
    s1: u64,
    span: Length,
}

/// Runs a program serially, in a job whose sharing table is at this path.
fn serially<P: Program>(size: Size, table: &Path) -> Result<Baseline, Failure> {
    let program = P::from_values(&Values::parse(P::PARAMETERS, size, &Given::default())?)?;
    let parameters = Spec::spelled(&program.parameters());
    let spec = Spec::new(P::NAME, parameters.clone(), Serial::NAME, 1);
    let counted = Spec {
        memory: Some(MemoryPolicy::None),
        ..spec
    };
    let serial = run(counted, table)?;
    let s1 = serial.memory.map_or(0, |memory| memory.declared);
    Ok(Baseline {
        program: P::NAME,
        parameters,
        serial,
        s1,
        span: span_of(&program, k(s1, LOOKS_HERE))?,
    })
}

/// Returns the program's span. A reservation counts as one action for each `k` bytes.
fn span_of<P: Program>(program: &P, k: u64) -> Result<Length, Failure> {
    let mut input = program
        .prepare()
        .map_err(|error| Failure::Impossible(error.to_string()))?;
    let body = || program.parallel::<Profiled>(&mut input, &mut ());
    Ok(Profiled::span_of(k, body).1)
}

struct Case<'a> {
    baseline: &'a Baseline,
    /// `None` if the case runs on rayon.
    policy: Option<Policy>,
    workers: usize,
}

impl<'a> Case<'a> {
    fn all(baseline: &'a Baseline) -> Vec<Self> {
        let on = |workers| {
            let policies = std::iter::once(None).chain(Policy::ALL.map(Some));
            policies.map(move |policy| Self {
                baseline,
                policy,
                workers,
            })
        };
        WORKERS.into_iter().flat_map(on).collect()
    }

    fn policy(&self) -> &'static str {
        self.policy.map_or(Rayon::NAME, Policy::name)
    }

    fn memory(&self) -> MemoryPolicy {
        let memory = |policy: Policy| policy.memory(self.baseline.s1, LOOKS_HERE);
        self.policy.map_or(MemoryPolicy::None, memory)
    }

    fn name(&self) -> String {
        let (program, policy) = (self.baseline.program, self.policy());
        format!("{program}/{policy}/{}", self.workers)
    }

    fn spec(&self) -> Spec {
        let (program, parameters) = (self.baseline.program, &self.baseline.parameters);
        let runtime = self.policy.map_or(Rayon::NAME, |_| Tidegate::NAME);
        Spec {
            memory: Some(self.memory()),
            ..Spec::new(program, parameters.clone(), runtime, self.workers)
        }
    }
}
