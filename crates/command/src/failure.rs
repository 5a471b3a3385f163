//! The ways in which a command can fail, and their exit codes.

use std::fmt;
use std::process::ExitCode;

use tidegate::memory::ReservationError;
use tidegate_workloads::ParameterError;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// A result of the program differs from the reference answer.
    Wrong(String),
    /// The user passed an invalid value.
    Usage(String),
    /// Something outside this program prevented the command from finishing.
    Impossible(String),
}

impl Failure {
    /// Returns the exit code of the process.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Wrong(_) => 1,
            Self::Usage(_) => 2,
            Self::Impossible(_) => 3,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Wrong(message) | Self::Usage(message) | Self::Impossible(message)) = self;
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
