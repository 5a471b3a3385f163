//! The cost of estimating a job's desire.

use std::fs;
use std::hint::spin_loop;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tidegate::Pool;
use tidegate::policy::{Choose, SharePolicy};
use tidegate::trace::{Event, Source, Stream};
use tidegate_policy::tunables::{Allowed, EST_CYCLE};

use tidegate_cli_support::failure::Failure;

/// The pool's name. It is short because the share controller's thread is named after the pool, and
/// Linux keeps only 15 characters of a thread's name.
const NAME: &str = "estimate";

/// Returns the CPU time in nanoseconds that the share controller uses per estimate, averaged over
/// `count` estimates. `None` if the system does not report it or has no share controllers.
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
        // Before its first estimate, the controller also reads the machine's limits and takes its
        // seat in the table, so start measuring after that estimate.
        let (before, first) = (await_estimates(&pool, 1)?, cpu_nanos()?);
        let (after, last) = (await_estimates(&pool, before + count)?, cpu_nanos()?);
        Some((last - first) as f64 / (after - before) as f64)
    }))
}

const PAUSE: Duration = Duration::from_millis(1);

/// Spins until the controller has made `count` estimates, and returns how many it has made.
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
        // Reading the trace blocks the share controller, so pause between reads.
        let pause = Instant::now();
        while pause.elapsed() < PAUSE {
            spin_loop();
        }
    }
}

/// Returns the CPU time in nanoseconds that the share controller has used so far. `None` if the
/// system does not report it per thread.
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
