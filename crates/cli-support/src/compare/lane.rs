//! A lane: one case on one runtime with one number of workers, ready to be measured.

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::version;
use crate::failure::Failure;
use crate::usage::Usage;

/// The pause before a measurement, during which the threads of the previous lane become idle.
const SETTLE: Duration = Duration::from_millis(1);

/// The result of one repetition.
#[derive(Serialize, Deserialize, Clone, Copy, Debug)]
pub struct Measurement {
    /// The measured time in nanoseconds.
    pub nanos: f64,
    /// The resources used during the repetition.
    pub used: Usage,
}

impl Measurement {
    /// Calls `work`, which returns the measured time in nanoseconds.
    pub fn of(work: impl FnOnce() -> f64) -> Self {
        let (used, nanos) = Usage::of(work);
        Self { nanos, used }
    }
}

/// A function that takes one measurement.
pub type Take<'a> = Box<dyn FnMut() -> Result<Measurement, Failure> + 'a>;

/// A case on one runtime with one number of workers. Its measurements are interleaved with those of
/// other lanes.
pub struct Lane<'a> {
    /// The program or mechanism that is measured, such as `fib 42`, as the first column shows it.
    pub case: String,
    /// The runtime, such as `tidegate`, as the second column shows it.
    pub runtime: &'static str,
    /// The runtime's version, or `None` if it has no version.
    pub version: Option<String>,
    /// The number of workers.
    pub workers: usize,
    /// Takes a measurement; `None` if the runtime doesn't support the case.
    pub take: Option<Take<'a>>,
}

impl<'a> Lane<'a> {
    /// Creates a lane that can be measured.
    pub fn new(
        case: &str,
        runtime: &'static str,
        workers: usize,
        take: impl FnMut() -> Result<Measurement, Failure> + 'a,
    ) -> Self {
        Self::of(case, runtime, workers, Some(Box::new(take)))
    }

    /// Creates the lane of a runtime that doesn't support the case.
    pub fn not_applicable(case: &str, runtime: &'static str, workers: usize) -> Self {
        Self::of(case, runtime, workers, None)
    }

    /// Returns the lane's full name.
    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.case, self.runtime, self.workers)
    }

    /// Takes one measurement. Returns `None` if the runtime doesn't support the case.
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
