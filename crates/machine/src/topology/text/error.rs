//! What is wrong with a text.

use std::fmt;

use crate::cpus::{CPU_NUMBER_END, escaped};

/// How much of a word is repeated in a message.
const QUOTED_MAX: usize = 40;

/// A text that is no topology: says in which line, what is wrong there and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopologyError {
    line: usize,
    wrong: Wrong,
}

/// What is wrong, wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    what: String,
    allowed: String,
}

impl Wrong {
    pub(super) fn new(what: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            allowed: allowed.into(),
        }
    }

    /// The words of a statement that are not what they should be.
    pub(super) fn list(word: &str) -> Self {
        Self::new(
            format!("{} is no list of CPUs", quoted(word)),
            format!("lists such as 0-3,8 with numbers below {CPU_NUMBER_END}, parted by blanks"),
        )
    }

    pub(super) const fn at(self, line: usize) -> TopologyError {
        TopologyError { line, wrong: self }
    }
}

/// A word as a message has it: short, in one line, control characters escaped.
pub(super) fn quoted(word: &str) -> String {
    match word.char_indices().nth(QUOTED_MAX) {
        Some((end, _)) => format!("`{}..`", escaped(&word[..end])),
        None => format!("`{}`", escaped(word)),
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wrong { what, allowed } = &self.wrong;
        write!(out, "line {}: {what}; allowed: {allowed}", self.line)
    }
}

impl std::error::Error for TopologyError {}
