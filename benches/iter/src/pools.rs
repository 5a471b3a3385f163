//! The number of workers of all pools, and the start of rayon's.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::trouble::Trouble;

static WORKERS: OnceLock<usize> = OnceLock::new();

/// Sets the number of workers of the pools that start when the first chain runs on them.
pub fn set_workers(workers: usize) {
    // Nothing else sets it.
    let _ = WORKERS.set(workers);
}

/// The number of workers in the tests, which set none.
const DEFAULT: usize = 2;

pub fn workers() -> usize {
    *WORKERS.get_or_init(|| DEFAULT)
}

pub fn start(builder: ThreadPoolBuilder, workers: usize) -> Result<ThreadPool, Trouble> {
    let builder = builder.num_threads(workers);
    builder.build().map_err(|error| refused(workers, &error))
}

/// Starts the global pool, which runs all calls from outside a pool.
pub fn start_global(workers: usize) -> Result<(), Trouble> {
    let builder = ThreadPoolBuilder::new().num_threads(workers);
    builder
        .build_global()
        .map_err(|error| refused(workers, &error))
}

fn refused(workers: usize, error: &ThreadPoolBuildError) -> Trouble {
    Trouble::Refused(format!(
        "a pool of {workers} workers does not start: {error}"
    ))
}
