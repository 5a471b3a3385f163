//! How a command can fail, and the exit code of each way.

use std::fmt;
use std::process::ExitCode;

use tidegate::memory::ReservationError;
use tidegate_workloads::ParameterError;

/// Why a command was not carried out to a right answer.
#[derive(Debug)]
pub enum Failure {
    /// A result differs from its reference answer.
    Wrong(String),
    /// A value that cannot be used.
    Usage(String),
    /// Something outside this program stood in the way.
    Impossible(String),
}

impl Failure {
    /// What the process answers to its caller.
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
            "{error}; what the serial run of PROGRAM declares at most is told by: tidegate run PROGRAM --serial"
        ))
    }
}

impl From<ParameterError> for Failure {
    fn from(error: ParameterError) -> Self {
        Self::Usage(error.to_string())
    }
}
