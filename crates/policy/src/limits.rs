//! The limits on the workers and threads of a pool.

use crate::tunable::{Basis, Tunable, count, table};

pub(crate) const MOST_WORKERS: usize = 4_096;
pub(crate) const MOST_THREADS: usize = 32_768;

table! {
    WORKERS: Option<usize> = count("workers", "workers", Some(1), Some(MOST_WORKERS), None).set_by("TIDEGATE_WORKERS"),
        "Number of workers in a pool; by default, as many as this machine lets run at the same time, \
        as `tidegate machine` explains.", Basis::Guessed;
}
