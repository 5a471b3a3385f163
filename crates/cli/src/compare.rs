//! `tidegate compare`: a program on several runtimes, in turns.
//!
//! What is measured and how is [`tidegate_command::compare`]'s.

use tidegate_command::compare::{self, program};
use tidegate_command::failure::Failure;

use crate::arguments::CompareArguments;

/// Compares runtimes in a program.
pub fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    compare::carry_out(&arguments.flags, |setting| {
        program::compare(&arguments.chosen, setting)
    })
}
