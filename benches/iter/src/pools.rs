//! The pools, one per number of workers, each kept until the process ends.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::trouble::Trouble;

/// The pools that there are.
#[derive(Default)]
pub struct Pools(HashMap<usize, ThreadPool>);

impl Pools {
    /// The pool with so many workers, started if this is the first time that anybody asks.
    pub fn with(&mut self, workers: usize) -> Result<&ThreadPool, Trouble> {
        Ok(match self.0.entry(workers) {
            Entry::Occupied(pool) => pool.into_mut(),
            Entry::Vacant(place) => place.insert(start(ThreadPoolBuilder::new(), workers)?),
        })
    }
}

/// Starts a pool.
pub fn start(builder: ThreadPoolBuilder, workers: usize) -> Result<ThreadPool, Trouble> {
    let refused = |error| {
        Trouble::Refused(format!(
            "a pool of {workers} workers does not start: {error}"
        ))
    };
    builder.num_threads(workers).build().map_err(refused)
}
