//! Errors in a description of a topology.

use std::fmt;

use crate::cpus::CPU_NUMBER_END;
use crate::files::{escaped, start};

/// An error in a description of a topology: the line, what is wrong there, and what is allowed.
///
/// # Examples
/// ```
/// let error = "cpus 3-1".parse::<tidegate_machine::Topology>().unwrap_err();
/// assert!(error.to_string().contains("3-1"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopologyError {
    line: usize,
    problem: Problem,
}

/// A [`TopologyError`] whose line is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    what: String,
    allowed: String,
}

impl Problem {
    #[inline]
    pub(super) fn new(what: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            allowed: allowed.into(),
        }
    }

    /// Creates the error for a word that is not a list of CPUs.
    #[inline]
    pub(super) fn list(word: &str) -> Self {
        Self::new(
            format!("{} is no list of CPUs", quoted(word)),
            format!("lists such as 0-3,8 with numbers below {CPU_NUMBER_END}, parted by blanks"),
        )
    }

    #[inline]
    pub(super) const fn at(self, line: usize) -> TopologyError {
        TopologyError {
            line,
            problem: self,
        }
    }
}

/// Prepares a word for a message: short, on one line, with control characters escaped.
#[inline]
pub(super) fn quoted(word: &str) -> String {
    let start = start(word);
    let more = if start == word { "" } else { ".." };
    format!("\"{}{more}\"", escaped(start))
}

impl fmt::Display for TopologyError {
    #[inline]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { what, allowed } = &self.problem;
        write!(out, "line {}: {what}: expected {allowed}", self.line)
    }
}

impl std::error::Error for TopologyError {}
