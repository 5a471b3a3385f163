//! Builds parameters for tests, and returns the errors that wrong parameters cause.

use tidegate_workloads::{Given, ParameterError, Program, Size, Visitor, visit};

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

/// Returns the error that a program reports for these parameters.
pub fn refusal(program: &str, wrong: &Named<'_>) -> ParameterError {
    struct Nothing;

    impl Visitor for Nothing {
        type Out = ();

        fn visit<P: Program>(self, _: P) {}
    }
    visit(program, Size::Tiny, &given(wrong), Nothing).unwrap_err()
}
