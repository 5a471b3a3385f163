//! The ways in which a command can fail, and their exit codes.

use std::fmt;
use std::process::ExitCode;

use tidegate::memory::ReservationError;
use tidegate_fan::{Error, Retry};
use tidegate_workloads::ParameterError;

/// What helps say about [exit codes](Failure::code).
pub const EXIT_CODES: &str = "\
Exit codes: 0 success, 1 wrong answer, 2 invalid usage or value, 3 the request could not be carried out.";

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// A result of the program differs from the reference answer.
    Wrong(String),
    /// The user passed an invalid value.
    Usage(String),
    /// Something outside this program prevented the command from finishing.
    Impossible(String),
    /// A signal ended the command, which has this exit code.
    Interrupted(u8, String),
}

impl Failure {
    /// Returns the exit code of the process.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Wrong(_) => 1,
            Self::Usage(_) => 2,
            Self::Impossible(_) => 3,
            Self::Interrupted(code, _) => *code,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Wrong(message)
        | Self::Usage(message)
        | Self::Impossible(message)
        | Self::Interrupted(_, message)) = self;
        f.write_str(message)
    }
}

impl From<ReservationError> for Failure {
    fn from(error: ReservationError) -> Self {
        Self::Impossible(format!(
            "{error}; `tidegate run PROGRAM --serial` prints the memory that the serial run of PROGRAM needs"
        ))
    }
}

impl From<ParameterError> for Failure {
    fn from(error: ParameterError) -> Self {
        Self::Usage(error.to_string())
    }
}

/// A verb of `fan` has failed: the exit code stays.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (code, text) = (error.code(), error.to_string());
        match error.retry() {
            retry if code != retry as u8 => Self::Interrupted(code, text),
            Retry::Perhaps => Self::Wrong(text),
            Retry::Never => Self::Usage(text),
            Retry::Elsewhere => Self::Impossible(text),
        }
    }
}

/// A piece of `fan` has failed: the exit code stays, and tells whether another attempt can succeed.
impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Wrong(text) | Failure::Interrupted(_, text) => Self::perhaps(text),
            Failure::Usage(text) => Self::never(text),
            Failure::Impossible(text) => Self::elsewhere(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_fan_keep_their_codes() {
        for code in 1..=3 {
            let error = [Error::perhaps, Error::never, Error::elsewhere][code - 1]("why");
            let failure = Failure::from(error.clone());
            assert_eq!(failure.code(), ExitCode::from(error.code()));
            assert_eq!(failure.to_string(), "why");
            let back = Error::from(failure);
            assert_eq!((back.code(), back.retry()), (code as u8, error.retry()));
        }
    }
}
