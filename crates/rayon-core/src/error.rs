//! The error that building a pool may return.

use std::error::Error;
use std::{fmt, io};
use tidegate_core::BuildError;

/// The error returned if a pool cannot be built.
#[derive(Debug)]
pub struct ThreadPoolBuildError {
    kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    GlobalPoolAlreadyInitialized,
    CurrentThreadAlreadyInPool,
    Thread(io::Error),
    /// A number in the builder, or one of Tidegate's environment variables, is invalid.
    Options(BuildError),
}

impl From<Kind> for ThreadPoolBuildError {
    fn from(kind: Kind) -> Self {
        Self { kind }
    }
}

impl ThreadPoolBuildError {
    /// Whether the system has no threads.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(&self.kind, Kind::Thread(error) if error.kind() == io::ErrorKind::Unsupported)
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::GlobalPoolAlreadyInitialized => {
                f.write_str("The global thread pool has already been initialized.")
            }
            Kind::CurrentThreadAlreadyInPool => {
                f.write_str("The current thread is already part of another thread pool.")
            }
            Kind::Thread(error) => error.fmt(f),
            Kind::Options(error) => error.fmt(f),
        }
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            Kind::GlobalPoolAlreadyInitialized | Kind::CurrentThreadAlreadyInPool => None,
            Kind::Thread(error) => Some(error),
            Kind::Options(error) => Some(error),
        }
    }
}
