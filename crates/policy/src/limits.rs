//! How many workers and threads a pool may have.

use crate::tunable::{Basis, Tunable, count, table};

/// The largest number of workers that a pool supports.
pub(crate) const MOST_WORKERS: usize = 4_096;
/// The largest number of threads that a pool may have.
pub(crate) const MOST_THREADS: usize = 32_768;

table! {
    WORKERS: Option<usize> = count("workers", "workers", Some(1), Some(MOST_WORKERS), None).set_by("TIDEGATE_WORKERS"),
        "How many workers a pool has; derived: as many as affinity and quotas let run at once.", Basis::Guessed;
}
