//! The cost of estimating a job's desire.

use std::fs;
use std::hint::spin_loop;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tidegate::trace::{Event, Source, Stream};
use tidegate::{Pool, policy::SharePolicy};
use tidegate_policy::tunables::{Allowed, EST_CYCLE};

use tidegate_command::failure::Failure;

/// The pool's name. The thread of its share controller is named after it, within the 15 characters
/// that Linux keeps.
const NAME: &str = "estimate";

/// The share controller's processor time per estimate, averaged over `count` estimates. `None` if
/// the system does not report it or pools have no share controller.
pub fn estimate(count: usize) -> Result<Option<f64>, Failure> {
    let shortest = match EST_CYCLE.allowed {
        Allowed::Between(shortest, _) => shortest,
        Allowed::OneOf(_) => EST_CYCLE.default,
    };
    let builder = Pool::builder().name(NAME).workers(1).share(SharePolicy::On);
    let builder = builder
        .est_cycle(Duration::from_nanos(shortest))
        .trace(true);
    let pool = builder
        .build()
        .map_err(|error| Failure::Impossible(error.to_string()))?;
    Ok(pool.install(|| {
        // Measure from the first estimate on: before the first one, the controller reads the
        // machine's limits and takes its seat in the table.
        let (before, first) = (await_estimates(&pool, 1)?, cpu_nanos()?);
        let (after, last) = (await_estimates(&pool, before + count)?, cpu_nanos()?);
        Some((last - first) as f64 / (after - before) as f64)
    }))
}

/// The pause between two reads of the trace.
const PAUSE: Duration = Duration::from_millis(1);

/// Computes until the controller has made `count` estimates, and returns how many it has made.
fn await_estimates(pool: &Pool, count: usize) -> Option<usize> {
    loop {
        let trace = pool.trace()?;
        let is_controller = |stream: &&Stream| stream.source == Source::ShareController;
        let estimates = trace
            .streams
            .iter()
            .find(is_controller)?
            .records()
            .filter(|record| matches!(record, Ok(record) if record.event == Event::Desire))
            .count();
        if estimates >= count {
            return Some(estimates);
        }
        // Reading the trace blocks the share controller, so the controller gets time to work in
        // between.
        let pause = Instant::now();
        while pause.elapsed() < PAUSE {
            spin_loop();
        }
    }
}

/// The share controller's processor time so far; `None` if the system does not count it for each
/// thread.
fn cpu_nanos() -> Option<u64> {
    let name = format!("{NAME}-share");
    let is_controller = |task: &PathBuf| {
        fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim_end() == name)
    };
    let tasks = fs::read_dir("/proc/self/task").ok()?.flatten();
    let controller = tasks.map(|task| task.path()).find(is_controller)?;
    let counted = fs::read_to_string(controller.join("schedstat")).ok()?;
    counted.split_whitespace().next()?.parse().ok()
}
