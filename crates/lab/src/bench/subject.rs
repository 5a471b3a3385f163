//! Runs a program on pools of this process, with an input that is prepared only once, and measures
//! each run.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tidegate::Counters;
use tidegate_workloads::{Given, Program, Runtime, Size, Tidegate, Visitor, visit};

use tidegate_command::failure::Failure;
use tidegate_command::reference::{Found, Reference};
use tidegate_command::timed::timed;

/// The figures of one run. The counters are sums over all workers.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
pub struct Ran {
    pub seconds: f64,
    /// How often workers parked.
    pub parks: f64,
    /// How often workers were woken.
    pub wakes: f64,
    /// How often owners tried to take a task from their own queue. Alternative queues count this,
    /// but the split deque does not.
    pub takes: f64,
    /// How often owners failed to take a task from their own queue.
    pub failed_takes: f64,
    /// How often thieves tried to steal.
    pub attempts: f64,
    /// How often thieves succeeded.
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

    /// Returns the fraction of tasks that were stolen, among all tasks that were taken from queues.
    pub fn stolen_share(&self) -> f64 {
        self.steals / self.tasks()
    }

    /// Like `stolen_share`, but counts at least one steal, so that the result can be a divisor.
    pub fn stolen_share_or_one(&self) -> f64 {
        self.steals.max(1.0) / self.tasks()
    }

    fn tasks(&self) -> f64 {
        self.takes - self.failed_takes + self.steals
    }
}

/// A program whose input is prepared before its first run.
pub struct Subject {
    program: &'static str,
    size: Size,
    given: Given,
    prepared: Mutex<Option<Box<dyn Prepared>>>,
}

trait Prepared: Send {
    fn run(&mut self, pool: &Tidegate) -> Result<Ran, Failure>;
    fn time(&mut self, pool: Option<&Tidegate>) -> Result<f64, Failure>;
}

struct Ready<P: Program> {
    program: P,
    input: P::Input,
    reference: Reference<P>,
}

impl Subject {
    pub fn new(program: &'static str, size: Size, given: Given) -> Self {
        Self {
            program,
            size,
            given,
            prepared: Mutex::default(),
        }
    }

    /// Runs the program once and checks its answer.
    pub fn run(&self, pool: &Tidegate) -> Result<Ran, Failure> {
        self.prepared(|prepared| prepared.run(pool))
    }

    /// Runs the program several times, on a pool or serially, and returns the mean time in seconds.
    /// Checks the last answer.
    pub fn time(&self, pool: Option<&Tidegate>) -> Result<f64, Failure> {
        self.prepared(|prepared| prepared.time(pool))
    }

    fn prepared<T>(
        &self,
        work: impl FnOnce(&mut dyn Prepared) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if prepared.is_none() {
            *prepared = Some(visit(self.program, self.size, &self.given, Prepare)??);
        }
        work(&mut **prepared.as_mut().expect("made above"))
    }
}

struct Prepare;

impl Visitor for Prepare {
    type Out = Result<Box<dyn Prepared>, Failure>;

    fn visit<P: Program>(self, program: P) -> Self::Out {
        let failed = |error: io::Error| Failure::Impossible(error.to_string());
        let mut input = program.prepare().map_err(failed)?;
        let reference = Reference::of(&program, &mut input);
        Ok(Box::new(Ready {
            program,
            input,
            reference,
        }))
    }
}

impl<P: Program> Ready<P> {
    fn check(&mut self, output: P::Output) -> Result<(), Failure> {
        let Self {
            program,
            input,
            reference,
        } = self;
        let mut found = Found::new(program, input, output);
        if reference.check(program, input, &mut found).agrees {
            Ok(())
        } else {
            Err(Failure::Wrong(format!(
                "{}: the answer is not that of {}",
                P::NAME,
                reference.source()
            )))
        }
    }
}

impl<P: Program> Prepared for Ready<P> {
    fn run(&mut self, pool: &Tidegate) -> Result<Ran, Failure> {
        let Self { program, input, .. } = self;
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
        self.check(output)?;
        Ok(ran)
    }

    fn time(&mut self, pool: Option<&Tidegate>) -> Result<f64, Failure> {
        let Self { program, input, .. } = self;
        let (nanos, output) = match pool {
            None => timed(program, input, |input| program.serial(input)),
            Some(pool) => pool.install(|fork| {
                timed(program, input, |input| {
                    program.parallel::<Tidegate>(input, fork)
                })
            }),
        };
        self.check(output)?;
        Ok(nanos / 1e9)
    }
}
