//! The error of a shutdown with a time limit.

use std::fmt;
use std::time::Duration;

/// The error of [`Pool::shutdown_timeout`](crate::Pool::shutdown_timeout): the pool has not ended
/// within the time limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShutdownTimeout {
    pub(super) name: String,
    pub(super) limit: Duration,
}

impl fmt::Display for ShutdownTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, limit } = self;
        write!(
            f,
            "pool {name} has not ended within {limit:?}: its threads finish the tasks that are left"
        )
    }
}

impl std::error::Error for ShutdownTimeout {}
