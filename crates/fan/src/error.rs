//! Why a verb has failed, and whether another attempt can succeed.

use std::fmt;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Whether another attempt can succeed. The numbers are exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Retry {
    /// Perhaps: the program panicked, or results are missing, torn or wrong.
    Perhaps = 1,
    /// Never: the plan, the item or the command line is wrong.
    Never = 2,
    /// On another machine or later: a disk is full, a folder cannot be written.
    Elsewhere = 3,
}

impl Retry {
    /// Returns what the exit code of a piece says, if it has one.
    pub(crate) fn after(code: Option<i32>) -> Self {
        let all = [Self::Never, Self::Elsewhere].into_iter();
        let mut named = all.filter(|retry| code == Some(*retry as i32));
        named.next().unwrap_or(Self::Perhaps)
    }
}

/// An error, which is one line of text.
#[derive(Clone, Debug)]
pub struct Error {
    retry: Retry,
    code: u8,
    text: String,
}

impl Error {
    /// Creates an error of a piece that another attempt can avoid, perhaps.
    pub fn perhaps(text: impl Into<String>) -> Self {
        Self::new(Retry::Perhaps, text)
    }

    /// Creates an error that every attempt would meet.
    pub fn never(text: impl Into<String>) -> Self {
        Self::new(Retry::Never, text)
    }

    /// Creates an error of this machine, which another one may not have.
    pub fn elsewhere(text: impl Into<String>) -> Self {
        Self::new(Retry::Elsewhere, text)
    }

    fn new(retry: Retry, text: impl Into<String>) -> Self {
        let text = text.into().replace('\n', " ");
        let code = retry as u8;
        Self { retry, code, text }
    }

    /// Returns the error of a verb that a signal has interrupted.
    pub(crate) fn interrupted(signal: u8, text: String) -> Self {
        let code = 128 + signal;
        Self {
            code,
            ..Self::perhaps(text)
        }
    }

    /// Returns the error of an operation on a file, which another machine may not have.
    pub(crate) fn at(path: &Path, error: &io::Error) -> Self {
        Self::elsewhere(format!("{}: {error}", path.display()))
    }

    /// Adds what has also failed, after this error, unless it is the same.
    pub(crate) fn and(self, other: &Self) -> Self {
        if self.text == other.text {
            return self;
        }
        let text = format!("{self}; {other}");
        Self { text, ..self }
    }

    /// Returns whether another attempt can succeed.
    #[must_use]
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// Returns the exit code of the process.
    #[must_use]
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}
