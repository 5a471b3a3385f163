//! Checks the results of programs.
//!
//! The reference is the published answer or, if none is published, the answer of the serial
//! version. If a program reads files, its answers may differ because the files changed between two
//! runs. Such a program removes the changed files from both outputs before they are compared, and
//! the report lists these files.

use tidegate_workloads::{Answer, Program};

/// The correct answer of a program, and where it comes from.
pub struct Reference<P: Program> {
    answer: Answer,
    source: &'static str,
    /// The serial version's output, if the answer comes from it.
    output: Option<P::Output>,
}

/// The result of a run.
pub struct Found<P: Program> {
    /// The answer, computed from the output.
    pub answer: Answer,
    /// The output, kept for the comparison with the reference.
    pub output: P::Output,
}

/// The outcome of a comparison with the reference.
pub struct Verdict {
    /// Whether the run's answer is the reference answer.
    pub agrees: bool,
    /// Descriptions of changes outside the program between the runs. The comparison ignored these
    /// changes. The text is safe to print on a terminal.
    pub changed: Vec<String>,
}

impl<P: Program> Found<P> {
    /// Creates the result of a run from its output.
    pub fn new(program: &P, input: &P::Input, output: P::Output) -> Self {
        Self {
            answer: program.answer(input, &output),
            output,
        }
    }
}

impl<P: Program> Reference<P> {
    /// Returns the published answer, or `None` if no answer is published.
    pub fn published(program: &P) -> Option<Self> {
        program.published().map(|published| Self {
            answer: published.answer,
            source: published.source,
            output: None,
        })
    }

    /// Returns the published answer or, if none is published, the serial version's. The serial
    /// version leaves its changes in `input`.
    pub fn of(program: &P, input: &mut P::Input) -> Self {
        Self::published(program).unwrap_or_else(|| {
            let output = program.serial(input);
            Self::serial(Found::new(program, input, output))
        })
    }

    /// Creates a reference from the serial version's result.
    pub fn serial(found: Found<P>) -> Self {
        Self {
            answer: found.answer,
            source: "the serial version",
            output: Some(found.output),
        }
    }

    /// Returns a description of where the answer comes from.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Compares a run with the reference. First removes from both outputs the parts that changed
    /// outside the program.
    pub fn check(&mut self, program: &P, input: &P::Input, found: &mut Found<P>) -> Verdict {
        let mut changed = Vec::new();
        if found.answer != self.answer
            && let Some(output) = &mut self.output
        {
            changed = program.settle(&mut found.output, output);
            if !changed.is_empty() {
                self.answer = program.answer(input, output);
                found.answer = program.answer(input, &found.output);
            }
        }
        Verdict {
            agrees: found.answer == self.answer,
            changed,
        }
    }
}
