//! A program with its input, run on one pool or another, and what a run gave.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tidegate::Counters;
use tidegate_workloads::{Program, Runtime, Tidegate, Visitor, visit};

use crate::reproduce::simulated::Work;
use tidegate_command::failure::Failure;
use tidegate_command::reference::{Found, Reference};

/// One run: its time, and what all workers counted meanwhile.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
pub struct Ran {
    pub seconds: f64,
    /// How often a worker parked, and how often one was woken.
    pub parks: f64,
    pub wakes: f64,
    /// Attempts of owners, which only queues in place of the split deque count.
    pub takes: f64,
    pub failed_takes: f64,
    /// Attempts of thieves.
    pub attempts: f64,
    pub steals: f64,
}

impl Ran {
    fn between(seconds: f64, before: &Counters, after: &Counters) -> Self {
        let since = |count: fn(&Counters) -> u64| (count(after) - count(before)) as f64;
        Self {
            seconds,
            parks: since(|counters| counters.sleeps),
            wakes: since(|counters| counters.wakes),
            takes: since(|counters| counters.takes),
            failed_takes: since(|counters| counters.failed_takes),
            attempts: since(|counters| counters.attempts),
            steals: since(|counters| counters.steals),
        }
    }

    pub fn failed_steals(&self) -> f64 {
        self.attempts - self.steals
    }

    /// The share of all tasks out of a queue that thieves took.
    pub fn stolen_share(&self) -> f64 {
        self.steals / self.tasks()
    }

    /// The same, as if thieves had taken one at least, for comparisons with it.
    pub fn stolen_share_or_one(&self) -> f64 {
        self.steals.max(1.0) / self.tasks()
    }

    fn tasks(&self) -> f64 {
        self.takes - self.failed_takes + self.steals
    }
}

/// A program whose input is made before its first run.
pub struct Subject {
    work: Work,
    prepared: Mutex<Option<Box<dyn Prepared>>>,
}

trait Prepared: Send {
    fn run(&mut self, pool: &Tidegate) -> Result<Ran, Failure>;
}

struct Ready<P: Program> {
    program: P,
    input: P::Input,
    reference: Reference<P>,
}

impl Subject {
    pub fn new(work: Work) -> Self {
        Self {
            work,
            prepared: Mutex::default(),
        }
    }

    /// One run, whose answer is checked.
    pub fn run(&self, pool: &Tidegate) -> Result<Ran, Failure> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if prepared.is_none() {
            let Work { program, size, .. } = self.work;
            *prepared = Some(visit(program, size, &self.work.given(), Prepare)??);
        }
        prepared.as_mut().expect("made above").run(pool)
    }
}

struct Prepare;

impl Visitor for Prepare {
    type Out = Result<Box<dyn Prepared>, Failure>;

    fn visit<P: Program>(self, program: P) -> Self::Out {
        let failed = |error: io::Error| Failure::Impossible(error.to_string());
        let mut input = program.prepare().map_err(failed)?;
        let reference = Reference::published(&program).unwrap_or_else(|| {
            let output = program.serial(&mut input);
            Reference::serial(Found::new(&program, &input, output))
        });
        Ok(Box::new(Ready {
            program,
            input,
            reference,
        }))
    }
}

impl<P: Program> Prepared for Ready<P> {
    fn run(&mut self, pool: &Tidegate) -> Result<Ran, Failure> {
        let Self {
            program,
            input,
            reference,
        } = self;
        program.fits(pool)?;
        program.reset(input);
        let counters = || pool.pool().stats().counters;
        let before = counters();
        let (seconds, output) = pool.install(|fork| {
            let start = Instant::now();
            let output = program.parallel::<Tidegate>(input, fork);
            (start.elapsed().as_secs_f64(), output)
        });
        let ran = Ran::between(seconds, &before, &counters());
        let mut found = Found::new(program, input, output);
        match reference.check(program, input, &mut found).agrees {
            true => Ok(ran),
            false => Err(Failure::Wrong(format!(
                "{}: the answer is not that of {}",
                P::NAME,
                reference.source()
            ))),
        }
    }
}
