//! Builds parameters and prepares programs for tests.

use tidegate_workloads::{Given, On, Size, Trial, find};

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

/// Checks that each program rejects a parameter. A line has the program, the parameter, its value,
/// and what the error says.
pub fn assert_refused(lines: &[&str]) {
    for line in lines {
        let [program, name, value, told] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("four parts: {line}");
        };
        let error = find(program, Size::Tiny, &given(&[(name, value)])).err();
        let error = error.unwrap().to_string();
        assert!(error.contains(told), "{error}");
    }
}
