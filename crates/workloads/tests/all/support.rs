//! Builds parameters and prepares programs for tests.

use tidegate_workloads::{Given, On, ParameterError, Size, Trial, find};

/// The names and values of parameters.
pub type Named<'a> = [(&'a str, &'a str)];

pub fn given(named: &Named<'_>) -> Given {
    let named = named
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.into()));
    Given {
        named: named.collect(),
        ..Given::default()
    }
}

/// Returns the program with these parameters and size tiny, with its input and reference.
pub fn trial(program: &str, given: &Given) -> Box<dyn Trial> {
    let mut trial = find(program, Size::Tiny, given).unwrap();
    trial.prepare().unwrap();
    trial.refer();
    trial
}

/// Runs the program and checks that its answer is the reference answer.
pub fn is_right(trial: &mut dyn Trial, on: On<'_>) {
    trial.reset();
    trial.run(on);
    let check = trial.check_last().expect("there is a reference");
    let (name, parameters) = (trial.name(), trial.parameters());
    assert_eq!(check.wrong, 0, "{name} on {}: {parameters:?}", on.name());
}

/// Returns the error that a program reports for these parameters.
pub fn refusal(program: &str, wrong: &Named<'_>) -> ParameterError {
    find(program, Size::Tiny, &given(wrong)).err().unwrap()
}
