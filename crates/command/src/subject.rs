//! A program as a trait object, so that code that uses it is compiled only once.
//!
//! [`compare`](crate::compare) is in the same crate, so that both modules share the instances of
//! generic code.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tidegate_workloads::{
    Answer, Given, Program, Progress, Recorded, Size, Tidegate, Visitor, visit,
};

use crate::failure::Failure;
use crate::inside::inside;
use crate::reference::{Found, Reference};

/// The outcome of comparing all runs with the reference answer.
#[derive(Default)]
pub struct Check {
    /// The source of the reference answer.
    pub reference: &'static str,
    /// How many runs were compared.
    pub runs: usize,
    /// How many of these runs had a different answer.
    pub wrong: usize,
    /// Descriptions of changes outside the program during the runs. The comparison ignored them.
    pub changed: Vec<String>,
}

/// A program whose input has not been prepared yet.
pub trait Candidate {
    /// Returns the program's name.
    fn name(&self) -> &'static str;

    /// Returns whether the program consists of intervals, so that its runs can be recorded.
    fn intervals(&self) -> bool;

    /// Prepares the program's input.
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

/// Finds the program with this name, applies these parameters, and passes it to `work`.
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

/// Where and how a program runs.
#[derive(Clone, Copy)]
pub enum On<'a> {
    /// On this thread, with the program's serial version.
    Thread,
    /// On a pool, with the program's parallel version.
    Pool(&'a Tidegate),
    /// On a pool that records intervals. The program must consist of intervals.
    Recorded(&'a Recorded),
}

/// A program with its input and the results of its runs.
pub trait Subject<'a> {
    /// Returns the program's name.
    fn name(&self) -> &'static str;

    /// Returns the program's parameters.
    fn parameters(&self) -> Answer;

    /// Returns whether the program reads files.
    fn reads_files(&self) -> bool;

    /// Returns the progress of the current run.
    fn progress(&self) -> Option<&'a Progress>;

    /// Checks that the pool has everything that the program requires.
    fn fits(&self, pool: &Tidegate) -> Result<(), Failure>;

    /// Restores the program's input to its initial state.
    fn reset(&mut self);

    /// Runs the program once, and returns the time that this took.
    fn run(&mut self, on: On<'_>) -> Duration;

    /// Keeps the output of the last run for the final check.
    fn keep(&mut self);

    /// Compares all kept outputs with the published answer or, if none is published, with the
    /// output of the last run. Returns `None` if there is neither: an output that was kept cannot
    /// be the reference.
    fn check(&mut self) -> Option<Check>;

    /// Returns the answer of the last kept run.
    fn answer(&self) -> &Answer;
}

/// A program with its input and the results of its runs.
pub struct Trial<'a, P: Program> {
    program: &'a P,
    input: P::Input,
    /// The output of the last run, until it is kept or checked.
    output: Option<P::Output>,
    found: Vec<Found<P>>,
}

impl<'a, P: Program> Trial<'a, P> {
    /// Prepares the program's input.
    pub fn new(program: &'a P) -> Result<Self, Failure> {
        let input = program.prepare();
        Ok(Self {
            program,
            input: input.map_err(|error| Failure::Impossible(error.to_string()))?,
            output: None,
            found: Vec::new(),
        })
    }

    /// Returns the output of the last kept run.
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
            // The condition is constant, so the compiler doesn't instantiate programs without
            // intervals for `Recorded`.
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
