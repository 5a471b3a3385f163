//! One runtime with one number of workers, ready to take samples of one case.

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::version;
use crate::failure::Failure;
use crate::usage::Usage;

/// Time between two measurements, in which the threads of the lane before come to rest.
const SETTLE: Duration = Duration::from_millis(1);

/// What one repetition gave.
#[derive(Serialize, Deserialize, Clone, Copy, Debug)]
pub struct Measurement {
    /// The time in question.
    pub nanos: f64,
    /// What it cost.
    pub used: Usage,
}

/// Measures once.
pub type Take<'a> = Box<dyn FnMut() -> Result<Measurement, Failure> + 'a>;

/// Something to be measured in turns with others.
pub struct Lane<'a> {
    /// What is measured.
    pub case: String,
    /// On which runtime.
    pub runtime: &'static str,
    /// Its version, where it has one.
    pub version: Option<String>,
    /// With how many workers.
    pub workers: usize,
    /// How; none where the runtime cannot do it.
    pub take: Option<Take<'a>>,
}

impl<'a> Lane<'a> {
    /// A lane that takes samples.
    pub fn new(
        case: &str,
        runtime: &'static str,
        workers: usize,
        take: impl FnMut() -> Result<Measurement, Failure> + 'a,
    ) -> Self {
        Self::of(case, runtime, workers, Some(Box::new(take)))
    }

    /// A lane for a runtime that cannot do it.
    pub fn not_applicable(case: &str, runtime: &'static str, workers: usize) -> Self {
        Self::of(case, runtime, workers, None)
    }

    /// What it is, in full.
    pub fn name(&self) -> String {
        let Self {
            case,
            runtime,
            workers,
            ..
        } = self;
        format!("{case}/{runtime}/{workers}")
    }

    /// Measures once; nothing where the runtime cannot do it.
    pub fn measure(&mut self) -> Option<Result<Measurement, Failure>> {
        let take = self.take.as_mut()?;
        thread::sleep(SETTLE);
        Some(take())
    }

    fn of(case: &str, runtime: &'static str, workers: usize, take: Option<Take<'a>>) -> Self {
        Self {
            case: case.to_owned(),
            runtime,
            version: version::of(runtime),
            workers,
            take,
        }
    }
}
