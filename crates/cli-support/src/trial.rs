//! Turns what goes wrong in a program's [`Trial`] into a [`Failure`].

use tidegate_workloads::trial::Check;
use tidegate_workloads::{On, Trial};

use crate::failure::Failure;

/// Creates the program's input.
pub fn prepare(trial: &mut dyn Trial) -> Result<(), Failure> {
    let prepared = trial.prepare();
    prepared.map_err(|error| Failure::Impossible(error.to_string()))
}

/// Checks the answer of the last run, which was on `on`.
pub fn check_last(trial: &mut dyn Trial, on: On<'_>) -> Result<(), Failure> {
    match trial.check_last() {
        Some(Check {
            wrong: 1..,
            reference,
            ..
        }) => Err(Failure::Wrong(format!(
            "{} on {}: the answer differs from {reference}",
            trial.name(),
            on.name()
        ))),
        _ => Ok(()),
    }
}
