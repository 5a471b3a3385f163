//! Starts rayon's pools.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::trouble::Trouble;

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
