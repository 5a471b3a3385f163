//! The error type of this crate.

use alloc::string::String;
use core::fmt;

/// An invalid value. The message names the location, what is wrong and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    at: String,
    what: String,
    allowed: String,
}

impl ParseError {
    pub(crate) fn new(
        at: impl Into<String>,
        what: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        Self {
            at: at.into(),
            what: what.into(),
            allowed: allowed.into(),
        }
    }

    /// Adds the allowed range, for a value of the right form outside of it.
    pub(crate) fn and_allowed(mut self, range: &str) -> Self {
        self.allowed.push_str(", ");
        self.allowed.push_str(range);
        self
    }

    /// Returns the error without its location, for a caller that prints the location itself.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.at.clear();
        self
    }

    /// Returns the error with `outer` in front of its location, for instance the name of an
    /// environment variable.
    ///
    /// ```
    /// let error = "both".parse::<tidegate_policy::StealAmount>().unwrap_err();
    /// assert!(error.within("TIDEGATE_STEAL").to_string().starts_with("TIDEGATE_STEAL: "));
    /// ```
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        let inner = core::mem::replace(&mut self.at, outer.into());
        if !inner.is_empty() {
            self.at.push_str(": ");
            self.at.push_str(&inner);
        }
        self
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        write!(f, "{}; allowed: {}", self.what, self.allowed)
    }
}

impl core::error::Error for ParseError {}
