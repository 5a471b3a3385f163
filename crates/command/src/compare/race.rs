//! A race: something in which each runtime can be measured.

use std::io;
use std::num::NonZero;

use tidegate_workloads::{Chili, Rayon, Runtime, Threads, Tidegate};

use super::Rival;
use super::lane::Lane;
use crate::failure::Failure;
use crate::output::show_count;

/// The runtime of serial lanes.
pub const SERIAL: &str = "serial";

/// The runtime of lanes with two serial copies.
pub const TWICE_SERIAL: &str = "2xserial";

/// Makes lanes that borrow what lives for `'a`.
pub trait Race<'a> {
    /// What is measured.
    fn name(&self) -> String;

    /// The lane of runtime `R`.
    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure>;

    /// The lane of Tidegate, where it differs from that of a runtime whose type nobody knows.
    fn on_tidegate(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        self.on::<Tidegate>(workers)
    }

    /// The lane of chili, where it differs.
    fn on_chili(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        self.on::<Chili>(workers)
    }

    /// The lane without a runtime.
    fn serial(&self) -> Result<Lane<'a>, Failure> {
        Ok(Lane::not_applicable(&self.name(), SERIAL, 1))
    }

    /// The lane of two copies without a runtime, side by side.
    fn twice_serial(&self) -> Result<Lane<'a>, Failure> {
        Ok(Lane::not_applicable(&self.name(), TWICE_SERIAL, 2))
    }
}

/// The lanes of a race: those without a runtime first, then Tidegate and its rivals by number of workers.
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

/// The lanes by `lane`, which makes that of a rival, or else of Tidegate. Not generic over the race, and so compiled once.
fn in_order<'a>(
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

/// Starts a runtime.
pub fn start<R: Runtime>(workers: usize) -> Result<R, Failure> {
    let refused = |error: io::Error| {
        Failure::Impossible(format!(
            "{} does not start with {}: {error}",
            R::NAME,
            show_count(workers, "worker")
        ))
    };
    R::with_workers(workers).map_err(refused)
}

/// chili as its users start it: the thread that makes a scope takes part. [`Chili`] instead gives the
/// root a thread of its own, with a deep stack, which is no matter where the clock runs inside.
pub fn start_chili(workers: usize) -> chili::ThreadPool {
    chili::ThreadPool::with_config(chili::Config {
        thread_count: NonZero::new(workers),
        ..chili::Config::default()
    })
}
