//! A race: a case with the code that measures it on each runtime.

use std::io;
use std::num::NonZero;

use tidegate_workloads::{Chili, Rayon, Runtime, Threads, Tidegate};

use super::Rival;
use super::lane::Lane;
use crate::failure::Failure;
use crate::output::show_count;

/// The text that lanes of the serial version show in place of a runtime's name.
pub const SERIAL: &str = "serial";

/// The text that lanes with two serial copies show in place of a runtime's name.
pub const TWICE_SERIAL: &str = "2xserial";

/// A case with the code that creates its lanes.
pub trait Race<'a> {
    /// Returns the program or mechanism that is measured, such as `fib 42`.
    fn name(&self) -> String;

    /// Creates the lane that measures the case on runtime `R`.
    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure>;

    /// Creates the lane for Tidegate. Override this if Tidegate needs different code from other
    /// runtimes.
    fn on_tidegate(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        self.on::<Tidegate>(workers)
    }

    /// Creates the lane for chili. Override this if chili needs different code from other runtimes.
    fn on_chili(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        self.on::<Chili>(workers)
    }

    /// Creates the lane for the serial version.
    fn serial(&self) -> Result<Lane<'a>, Failure> {
        Ok(Lane::not_applicable(&self.name(), SERIAL, 1))
    }

    /// Creates the lane for two serial copies that run at the same time.
    fn twice_serial(&self) -> Result<Lane<'a>, Failure> {
        Ok(Lane::not_applicable(&self.name(), TWICE_SERIAL, 2))
    }
}

/// Creates the lanes of a race. The serial lanes come first; then, for each number of workers,
/// Tidegate and its rivals.
pub fn lanes<'a>(
    race: &impl Race<'a>,
    rivals: &[Rival],
    workers: &[usize],
) -> Result<Vec<Lane<'a>>, Failure> {
    in_order(rivals, workers, &|rival, workers| match rival {
        Some(Rival::Serial) => race.serial(),
        Some(Rival::TwiceSerial) => race.twice_serial(),
        None => race.on_tidegate(workers),
        Some(Rival::Rayon) => race.on::<Rayon>(workers),
        Some(Rival::Chili) => race.on_chili(workers),
        Some(Rival::Std) => race.on::<Threads>(workers),
    })
}

/// Like [`lanes`], but creates each lane by calling `lane`, with `None` for Tidegate. This function
/// isn't generic over the race, so that it is compiled only once.
pub(super) fn in_order<'a>(
    rivals: &[Rival],
    workers: &[usize],
    lane: &dyn Fn(Option<Rival>, usize) -> Result<Lane<'a>, Failure>,
) -> Result<Vec<Lane<'a>>, Failure> {
    let mut lanes = Vec::new();
    for (serial, copies) in [(Rival::Serial, 1), (Rival::TwiceSerial, 2)] {
        if rivals.contains(&serial) {
            lanes.push(lane(Some(serial), copies)?);
        }
    }
    for &workers in workers {
        lanes.push(lane(None, workers)?);
        for &rival in rivals {
            if !matches!(rival, Rival::Serial | Rival::TwiceSerial) {
                lanes.push(lane(Some(rival), workers)?);
            }
        }
    }
    Ok(lanes)
}

/// Starts a runtime with this number of workers.
pub fn start<R: Runtime>(workers: usize) -> Result<R, Failure> {
    let refused = |error: io::Error| {
        Failure::Impossible(format!(
            "cannot start {} with {}: {error}",
            R::NAME,
            show_count(workers, "worker")
        ))
    };
    R::with_workers(workers).map_err(refused)
}

/// Starts chili as its users do: the thread that creates a scope also works. [`Chili`] instead runs
/// the root task on a separate thread with a large stack. That makes no difference if the task
/// itself reads the clock.
pub fn start_chili(workers: usize) -> chili::ThreadPool {
    chili::ThreadPool::with_config(chili::Config {
        thread_count: NonZero::new(workers),
        ..chili::Config::default()
    })
}
