//! The lanes of a program: its serial version, two copies of the serial version, and its body on
//! each runtime.
//!
//! A sample is the mean time of several runs, as [`timed`](mod@timed) measures them. The thread
//! that runs the root task reads the clock, so the time to enter the runtime isn't measured. The
//! answer of each sample's last run is checked.
//!
//! The number of samples depends on the time of the serial version, not on how much the samples
//! vary. The table shows the variation.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use tidegate_workloads::{Program, Runtime, Visitor, visit};

use super::Rival;
use super::Setting;
use super::lane::{Lane, Measurement};
use super::race::{self, Race, SERIAL, TWICE_SERIAL};
use super::rounds;
use super::row::Outcome;
use crate::arguments::Chosen;
use crate::failure::Failure;
use crate::inside::inside;
use crate::output::show_nanos;
use crate::reference::{Found, Reference};
use crate::stack;
use crate::timed::{self, timed};
use crate::usage::Usage;

/// The total time of a row's samples, unless the user sets the number of samples.
const ROW: Duration = Duration::from_secs(5);

/// The minimum and maximum number of samples in a row, unless the user sets the number.
const SAMPLES: (f64, f64) = (5.0, 101.0);

/// The default rivals of a program.
const RIVALS: &[Rival] = &[
    Rival::Serial,
    Rival::TwiceSerial,
    Rival::Rayon,
    Rival::Chili,
    Rival::Std,
];

/// Compares a program on several runtimes.
pub fn compare(chosen: &Chosen, setting: &Setting) -> Result<Outcome, Failure> {
    let size = setting.size.into();
    visit(chosen.name, size, &chosen.given, Compared(setting))?
}

struct Compared<'a>(&'a Setting);

impl Visitor for Compared<'_> {
    type Out = Result<Outcome, Failure>;

    fn visit<P: Program>(self, program: P) -> Self::Out {
        let Self(setting) = self;
        let trial = Trial::new(&program, P::NAME.to_owned())?;
        let lanes = race::lanes(&&trial, &setting.rivals(RIVALS)?, &setting.workers()?)?;
        self.take(lanes, trial.sample_seconds(), &trial.refusals)
    }
}

impl Compared<'_> {
    /// Measures the lanes. A sample takes about `seconds`.
    fn take(
        &self,
        lanes: Vec<Lane<'_>>,
        seconds: f64,
        refusals: &RefCell<BTreeSet<String>>,
    ) -> Result<Outcome, Failure> {
        let preset = (ROW.as_secs_f64() / seconds).clamp(SAMPLES.0, SAMPLES.1);
        let rows = rounds::take(lanes, self.0.repeat(preset as u32))?;
        let twice = rows.iter().find(|row| row.runtime == TWICE_SERIAL);
        let half = twice.and_then(|row| row.median()).map(|median| {
            let half = show_nanos(median / 2.0);
            format!("half the time of two serial copies at the same time: {half}")
        });
        Ok(Outcome {
            rows,
            measure: "one run".into(),
            notes: half.into_iter().chain(refusals.take()).collect(),
            conclusion: None,
        })
    }
}

/// The mean time of a sample's runs, in nanoseconds, and the output of the last run.
type Timed<P> = (f64, <P as Program>::Output);

/// A program with its input and its correct answer.
pub struct Trial<'a, P: Program> {
    name: String,
    program: &'a P,
    input: RefCell<P::Input>,
    reference: RefCell<Reference<P>>,
    /// Explanations of why some runtimes are left out.
    refusals: RefCell<BTreeSet<String>>,
    /// The time of the serial version's first run.
    serial: Duration,
    /// All measured times are divided by this number.
    units: f64,
}

impl<'a, P: Program> Trial<'a, P> {
    /// Prepares the input, and runs the serial version to get its time and its answer.
    pub fn new(program: &'a P, name: String) -> Result<Self, Failure> {
        let mut input = prepare(program)?;
        let start = Instant::now();
        let output = program.serial(&mut input);
        let serial = start.elapsed();
        let found = Found::new(program, &input, output);
        let reference = Reference::published(program).unwrap_or_else(|| Reference::serial(found));
        Ok(Self {
            name,
            program,
            input: input.into(),
            reference: reference.into(),
            refusals: RefCell::default(),
            serial,
            units: 1.0,
        })
    }

    /// Divides the times of all samples by `units`.
    pub fn per(mut self, units: u32) -> Self {
        self.units = units.into();
        self
    }

    fn sample_seconds(&self) -> f64 {
        self.serial.max(timed::SAMPLE).as_secs_f64()
    }

    /// Takes a sample and checks the answer of its last run.
    fn sample(
        &self,
        runtime: &str,
        runs: &mut dyn FnMut(&mut P::Input) -> Timed<P>,
    ) -> Result<Measurement, Failure> {
        let mut input = self.input.borrow_mut();
        let (used, (nanos, output)) = Usage::of(|| runs(&mut input));
        let mut found = Found::new(self.program, &input, output);
        let mut reference = self.reference.borrow_mut();
        if !reference.check(self.program, &input, &mut found).agrees {
            return Err(Failure::Wrong(format!(
                "{} on {runtime}: the answer differs from {}",
                P::NAME,
                reference.source()
            )));
        }
        Ok(Measurement {
            nanos: nanos / self.units,
            used,
        })
    }
}

impl<'a, P: Program> Race<'a> for &'a Trial<'a, P> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let trial = *self;
        if !trial.program.applies_to::<R>() {
            return Ok(Lane::not_applicable(&trial.name, R::NAME, workers));
        }
        let runtime = race::start::<R>(workers)?;
        if let Err(refusal) = trial.program.fits(&runtime) {
            trial.refusals.borrow_mut().insert(refusal.to_string());
            return Ok(Lane::not_applicable(&trial.name, R::NAME, workers));
        }
        // `applies_to` has already rejected such programs. But this condition is constant, so the
        // compiler doesn't instantiate bodies that never run.
        if P::INTERVALS && !R::INTERVALS {
            return Ok(Lane::not_applicable(&trial.name, R::NAME, workers));
        }
        let program = trial.program;
        let take = move || {
            trial.sample(R::NAME, &mut |input| {
                let mut sample = None;
                inside(&runtime, &mut |fork| {
                    let once = |input: &mut P::Input| program.parallel::<R>(input, fork);
                    sample = Some(timed(program, input, once));
                });
                sample.expect("it has run")
            })
        };
        Ok(Lane::new(&trial.name, R::NAME, workers, take))
    }

    fn serial(&self) -> Result<Lane<'a>, Failure> {
        let trial = *self;
        let take = move || {
            trial.sample(SERIAL, &mut |input| {
                timed(trial.program, input, |input| trial.program.serial(input))
            })
        };
        Ok(Lane::new(&trial.name, SERIAL, 1, take))
    }

    fn twice_serial(&self) -> Result<Lane<'a>, Failure> {
        let trial = *self;
        let mut inputs = [prepare(trial.program)?, prepare(trial.program)?];
        let take = move || {
            let [one, other] = &mut inputs;
            let copy = |input: &mut P::Input| {
                let serial = |input: &mut P::Input| trial.program.serial(input);
                timed(trial.program, input, serial).0
            };
            let (used, nanos) = Usage::of(|| side_by_side(&mut || copy(one), &mut || copy(other)));
            Ok(Measurement {
                nanos: nanos? / trial.units,
                used,
            })
        };
        Ok(Lane::new(&trial.name, TWICE_SERIAL, 2, take))
    }
}

fn prepare<P: Program>(program: &P) -> Result<P::Input, Failure> {
    program
        .prepare()
        .map_err(|error| Failure::Impossible(error.to_string()))
}

/// Runs two serial copies at the same time, and returns the time of the slower one.
fn side_by_side(
    one: &mut dyn FnMut() -> f64,
    other: &mut (dyn FnMut() -> f64 + Send),
) -> Result<f64, Failure> {
    thread::scope(|scope| {
        let other = scope.spawn(|| stack::with_deep_stack(other));
        let one = one();
        let other = other
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(one.max(other))
    })
}
