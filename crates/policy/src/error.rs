//! The error type of this crate.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

/// An invalid setting: what is wrong, where, and what was expected.
///
/// ```
/// let error = "1:2".parse::<tidegate_policy::StealAmount>().unwrap_err();
/// assert_eq!(
///     error.within("TIDEGATE_STEAL").to_string(),
///     "unknown steal amount \"1:2\" in TIDEGATE_STEAL: expected one, half, half-above:N, fixed:N"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(Box<Parts>);

/// Boxed, so that a result of parsing is small and dropping it takes little code.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    problem: String,
    /// The word between the problem and the location.
    preposition: &'static str,
    at: String,
    hint: String,
}

impl ParseError {
    /// Creates an error for `problem` in `at`, which is empty if the caller doesn't know the
    /// location.
    pub(crate) fn new(at: &str, problem: &str, expected: &str) -> Self {
        Self(Box::new(Parts {
            problem: problem.into(),
            preposition: "in",
            at: at.into(),
            hint: format!(": expected {expected}"),
        }))
    }

    /// Creates an error for an invalid `value` of the setting `at`.
    pub(crate) fn value(at: &str, value: &str, expected: &str) -> Self {
        let mut error = Self::new(at, &format!("invalid value {value}"), expected);
        error.0.preposition = "for";
        error
    }

    /// Creates an error for a name that is probably a misspelling of `name`.
    pub(crate) fn misspelled(problem: &str, name: &str) -> Self {
        let mut error = Self::new("", problem, "");
        error.0.hint = format!("; did you mean {name:?}?");
        error
    }

    /// Returns the error without its location.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.0.at.clear();
        self
    }

    /// Returns the error with `outer` added to its location, for example an environment variable.
    ///
    /// ```
    /// let error = "both".parse::<tidegate_policy::StealAmount>().unwrap_err();
    /// assert!(error.within("TIDEGATE_STEAL").to_string().contains("in TIDEGATE_STEAL"));
    /// ```
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        if !self.0.at.is_empty() {
            self.0.at.push_str(" in ");
        }
        self.0.at.push_str(outer);
        self
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.problem)?;
        if !self.0.at.is_empty() {
            write!(f, " {} {}", self.0.preposition, self.0.at)?;
        }
        f.write_str(&self.0.hint)
    }
}

impl core::error::Error for ParseError {}
