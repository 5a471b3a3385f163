//! `tidegate compare`: runs a program on several runtimes, with interleaved runs.
//! [`tidegate_command::compare`] does the work.

use tidegate_command::compare::{self, program};
use tidegate_command::failure::Failure;

use crate::arguments::CompareArguments;

pub fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    compare::carry_out(&arguments.flags, |setting| {
        program::compare(&arguments.chosen, setting)
    })
}
