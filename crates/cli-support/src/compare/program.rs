//! The lanes of a program: its serial version, two copies of the serial version, and its body on
//! each runtime.
//!
//! A sample is the mean time of several runs, as [`Trial::sample`] measures them. The thread
//! that runs the root task reads the clock, so the time to enter the runtime isn't measured. The
//! answer of each sample's last run is checked.
//!
//! The number of samples depends on the time of the serial version, not on how much the samples
//! vary. The table shows the variation.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use tidegate_workloads::trial::SAMPLE;
use tidegate_workloads::{Chili, On, Rayon, Runtime, Threads, Tidegate, Trial, find};

use super::Rival;
use super::Setting;
use super::lane::{Lane, Measurement};
use super::race::{self, SERIAL, TWICE_SERIAL};
use super::rounds;
use super::row::Outcome;
use crate::arguments::Chosen;
use crate::failure::Failure;
use crate::output::show_nanos;
use crate::stack;
use crate::trial;
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
    let program = find(chosen.name, setting.size.into(), &chosen.given)?;
    let prepared = PreparedTrial::new(program, chosen.name.to_owned())?;
    let lanes = prepared.lanes(&setting.rivals(RIVALS)?, &setting.workers()?)?;
    let preset = (ROW.as_secs_f64() / prepared.sample_seconds()).clamp(SAMPLES.0, SAMPLES.1);
    let rows = rounds::take(lanes, setting.repeat(preset as u32))?;
    let twice = rows.iter().find(|row| row.runtime == TWICE_SERIAL);
    let half = twice.and_then(|row| row.median()).map(|median| {
        let half = show_nanos(median / 2.0);
        format!("half the time of two serial copies at the same time: {half}")
    });
    let notes = half.into_iter().chain(prepared.refusals.take());
    Ok(Outcome::new(rows, "one run", notes.collect()))
}

/// A program with its input and its correct answer.
pub struct PreparedTrial {
    name: String,
    trial: RefCell<Box<dyn Trial>>,
    /// Explanations of why some runtimes are left out.
    refusals: RefCell<BTreeSet<String>>,
    /// The time of the serial version's first run.
    serial: Duration,
    /// All measured times are divided by this number.
    units: f64,
}

impl PreparedTrial {
    /// Prepares the input, and runs the serial version to get its time and its answer.
    pub fn new(mut trial: Box<dyn Trial>, name: String) -> Result<Self, Failure> {
        trial::prepare(&mut *trial)?;
        let serial = trial.run(On::Thread);
        trial.refer();
        Ok(Self {
            name,
            trial: trial.into(),
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

    /// Creates the lanes of the program, in the order of [`race::lanes`].
    pub fn lanes(&self, rivals: &[Rival], workers: &[usize]) -> Result<Vec<Lane<'_>>, Failure> {
        race::in_order(rivals, workers, &|rival, workers| match rival {
            Some(Rival::Serial) => {
                let take = move || self.sample(On::Thread);
                Ok(Lane::new(&self.name, SERIAL, 1, take))
            }
            Some(Rival::TwiceSerial) => self.twice_serial(),
            None => self.on::<Tidegate>(workers),
            Some(Rival::Rayon) => self.on::<Rayon>(workers),
            Some(Rival::Chili) => self.on::<Chili>(workers),
            Some(Rival::Std) => self.on::<Threads>(workers),
        })
    }

    fn sample_seconds(&self) -> f64 {
        self.serial.max(SAMPLE).as_secs_f64()
    }

    /// Takes a sample and checks the answer of its last run.
    fn sample(&self, on: On<'_>) -> Result<Measurement, Failure> {
        let trial = &mut **self.trial.borrow_mut();
        let sample = Measurement::of(|| trial.sample(on) / self.units);
        trial::check_last(trial, on)?;
        Ok(sample)
    }

    fn on<'a, R: Runtime + 'a>(&'a self, workers: usize) -> Result<Lane<'a>, Failure>
    where
        for<'r> On<'r>: From<&'r R>,
    {
        let runtime = race::start::<R>(workers)?;
        let (trial, on) = (self.trial.borrow(), On::from(&runtime));
        let fits = trial.applies_to(on).then(|| trial.fits(on));
        if fits == Some(Ok(())) {
            let take = move || self.sample(On::from(&runtime));
            return Ok(Lane::new(&self.name, R::NAME, workers, take));
        }
        let refusal = fits.and_then(Result::err);
        let refusal = refusal.map(|refusal| refusal.to_string());
        self.refusals.borrow_mut().extend(refusal);
        Ok(Lane::not_applicable(&self.name, R::NAME, workers))
    }

    fn twice_serial(&self) -> Result<Lane<'_>, Failure> {
        let another = || {
            let mut trial = self.trial.borrow().another();
            trial::prepare(&mut *trial).map(|()| trial)
        };
        let [mut one, mut other] = [another()?, another()?];
        let take = move || {
            let (used, nanos) = Usage::of(|| {
                side_by_side(&mut || one.sample(On::Thread), &mut || {
                    other.sample(On::Thread)
                })
            });
            Ok(Measurement {
                nanos: nanos? / self.units,
                used,
            })
        };
        Ok(Lane::new(&self.name, TWICE_SERIAL, 2, take))
    }
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
