//! The error that building a pool can return.

use std::fmt;
use tidegate_policy::ParseError;

/// The error returned if a pool cannot be built: an option is out of range or contradicts another
/// one, or the operating system refused to start a thread. Its message names the option or variable
/// and the accepted values.
///
/// ```
/// let error = tidegate::Pool::builder().workers(0).build().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "invalid value 0 for Builder::workers: expected an integer from 1 to 4096"
/// );
/// ```
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
        Self::new(error.to_string())
    }
}
