//! `tidegate-lab compare`: runtimes in one mechanism, in turns.
//!
//! | file | lanes of |
//! |---|---|
//! | [`wake`] | a fork that has to wake a worker |
//! | [`idle`] | pools with nothing to do |
//! | [`arms`] | two long arms of a join |
//! | [`hidden`] | work behind an owner that polls nothing |
//! | [`loops`] | short loops |
//! | [`iter`] | rayon's iterators, on either rayon-core, each in a process of its own |

mod arms;
mod fact;
mod hidden;
mod idle;
mod iter;
mod loops;
mod wake;

use tidegate_command::compare::carry_out;
use tidegate_command::failure::Failure;

use crate::arguments::{Case, CompareArguments};

/// Compares runtimes in the chosen case.
pub fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    carry_out(&arguments.flags, |setting| match &arguments.case {
        Case::Wake => wake::compare(setting),
        Case::Idle => idle::compare(setting),
        Case::JoinArms => arms::compare(setting),
        Case::Hidden => hidden::compare(setting),
        Case::Loop => loops::compare(setting),
        Case::Iter { chains } => iter::compare(chains, setting),
    })
}
