//! `tidegate compare`: runs a program on several runtimes, with interleaved runs.
//! [`tidegate_cli_support::compare`] does the work.

use tidegate_cli_support::compare::{self, program};
use tidegate_cli_support::failure::Failure;

use crate::arguments::CompareArguments;

pub fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    compare::carry_out(&arguments.flags, |setting| {
        program::compare(&arguments.chosen, setting)
    })
}
