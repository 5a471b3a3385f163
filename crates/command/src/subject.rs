//! A program that is run, without its types: what is done with it is compiled once and not for every program.
//!
//! It lies beside [`compare`](crate::compare), so that both run the same compiled bodies.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tidegate_workloads::{
    Answer, Given, Program, Progress, Recorded, Size, Tidegate, Visitor, visit,
};

use crate::failure::Failure;
use crate::inside::inside;
use crate::reference::{Found, Reference};

/// The comparison of all runs with the reference answer.
#[derive(Default)]
pub struct Check {
    /// Where that answer is from.
    pub reference: &'static str,
    /// How many runs there were.
    pub runs: usize,
    /// How many of them had another answer.
    pub wrong: usize,
    /// What changed meanwhile and was left out.
    pub changed: Vec<String>,
}

/// A program before its input is made.
pub trait Candidate {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Whether it has intervals.
    fn intervals(&self) -> bool;

    /// Makes the input.
    fn prepare(&self) -> Result<Box<dyn Subject<'_> + '_>, Failure>;
}

impl<P: Program> Candidate for P {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn intervals(&self) -> bool {
        P::INTERVALS
    }

    fn prepare(&self) -> Result<Box<dyn Subject<'_> + '_>, Failure> {
        Ok(Box::new(Trial::new(self)?))
    }
}

/// Hands the program called `name`, with the parameters given, to `work`.
pub fn find(
    name: &str,
    size: Size,
    given: &Given,
    work: &mut dyn FnMut(&dyn Candidate) -> Result<(), Failure>,
) -> Result<(), Failure> {
    visit(name, size, given, Shown(work))?
}

struct Shown<'a>(&'a mut dyn FnMut(&dyn Candidate) -> Result<(), Failure>);

impl Visitor for Shown<'_> {
    type Out = Result<(), Failure>;

    fn visit<P: Program>(self, program: P) -> Self::Out {
        (self.0)(&program)
    }
}

/// Where a program runs.
#[derive(Clone, Copy)]
pub enum On<'a> {
    /// Here, in its serial version.
    Thread,
    /// On a pool.
    Pool(&'a Tidegate),
    /// On a pool that takes notes, of a program with intervals.
    Recorded(&'a Recorded),
}

/// A program with its input and what its runs found.
pub trait Subject<'a> {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Its parameters.
    fn parameters(&self) -> Answer;

    /// Whether it reads files.
    fn reads_files(&self) -> bool;

    /// How far the current run has come.
    fn progress(&self) -> Option<&'a Progress>;

    /// An error if the pool has not what it needs.
    fn fits(&self, pool: &Tidegate) -> Result<(), Failure>;

    /// Brings the input back to its first state.
    fn reset(&mut self);

    /// Runs it, and says how long that took.
    fn run(&mut self, on: On<'_>) -> Duration;

    /// Puts what the last run found beside what those before it did.
    fn keep(&mut self);

    /// Compares what was kept with the published answer, or else with that of the last run, if it was not kept.
    fn check(&mut self) -> Option<Check>;

    /// The answer of the last run that was kept.
    fn answer(&self) -> &Answer;
}

/// A program with its input, and the runs so far.
pub struct Trial<'a, P: Program> {
    program: &'a P,
    input: P::Input,
    /// What the last run gave, until it is kept.
    output: Option<P::Output>,
    found: Vec<Found<P>>,
}

impl<'a, P: Program> Trial<'a, P> {
    /// Makes the input.
    pub fn new(program: &'a P) -> Result<Self, Failure> {
        let input = program.prepare();
        Ok(Self {
            program,
            input: input.map_err(|error| Failure::Impossible(error.to_string()))?,
            output: None,
            found: Vec::new(),
        })
    }

    /// The output of the last run that was kept.
    pub fn output(&self) -> &P::Output {
        &self.last().output
    }

    fn last(&self) -> &Found<P> {
        self.found.last().expect("a run was kept")
    }

    fn take(&mut self) -> Option<Found<P>> {
        let output = self.output.take()?;
        Some(Found::new(self.program, &self.input, output))
    }
}

impl<'a, P: Program> Subject<'a> for Trial<'a, P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn parameters(&self) -> Answer {
        self.program.parameters()
    }

    fn reads_files(&self) -> bool {
        P::READS_FILES
    }

    fn progress(&self) -> Option<&'a Progress> {
        self.program.progress()
    }

    fn fits(&self, pool: &Tidegate) -> Result<(), Failure> {
        Ok(self.program.fits(pool)?)
    }

    fn reset(&mut self) {
        self.program.reset(&mut self.input);
    }

    fn run(&mut self, on: On<'_>) -> Duration {
        let (program, input, output) = (self.program, &mut self.input, &mut self.output);
        let mut took = Duration::ZERO;
        match on {
            On::Thread => {
                let start = Instant::now();
                let result = program.serial(black_box(input));
                took = start.elapsed();
                *output = Some(result);
            }
            On::Pool(pool) => inside(pool, &mut |fork| {
                let start = Instant::now();
                let result = program.parallel::<Tidegate>(black_box(&mut *input), fork);
                took = start.elapsed();
                *output = Some(result);
            }),
            // The constant keeps the compiler from making a second body of each program.
            On::Recorded(pool) if P::INTERVALS => inside(pool, &mut |fork| {
                *output = Some(program.parallel::<Recorded>(input, fork));
            }),
            On::Recorded(_) => unreachable!("{} has no intervals to take notes of", P::NAME),
        }
        took
    }

    fn keep(&mut self) {
        let found = self.take();
        self.found.extend(found);
    }

    fn check(&mut self) -> Option<Check> {
        let serial = self.take();
        let published = Reference::published(self.program);
        let mut reference = published.or_else(|| serial.map(Reference::serial))?;
        let mut check = Check {
            reference: reference.source(),
            runs: self.found.len(),
            ..Check::default()
        };
        for found in &mut self.found {
            let verdict = reference.check(self.program, &self.input, found);
            check.wrong += usize::from(!verdict.agrees);
            check.changed.extend(verdict.changed);
        }
        check.changed.sort();
        check.changed.dedup();
        Some(check)
    }

    fn answer(&self) -> &Answer {
        &self.last().answer
    }
}
