//! Why a pool could not be made.

use std::fmt;
use tidegate_policy::ParseError;

/// Why a pool could not be made.
#[derive(Debug)]
pub struct BuildError {
    message: String,
}

impl BuildError {
    pub(crate) fn new(message: String) -> Self {
        Self { message }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BuildError {}

impl From<ParseError> for BuildError {
    fn from(error: ParseError) -> Self {
        Self {
            message: error.to_string(),
        }
    }
}
