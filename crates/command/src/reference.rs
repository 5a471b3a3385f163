//! Checks results.
//!
//! The reference is the published answer if there is one, and otherwise the serial version's. The
//! answers of a program that reads files may differ because the files changed. Such a program first
//! removes the changed files from both outputs, and the report lists them.

use tidegate_workloads::{Answer, Program};

/// The correct answer and its source.
pub struct Reference<P: Program> {
    answer: Answer,
    source: &'static str,
    /// The serial version's output, if the answer comes from it.
    output: Option<P::Output>,
}

/// The result of a run.
pub struct Found<P: Program> {
    /// The run's answer.
    pub answer: Answer,
    /// The run's output.
    pub output: P::Output,
}

/// The outcome of a comparison.
pub struct Verdict {
    /// Whether the run's answer is the reference answer.
    pub agrees: bool,
    /// What changed outside the program between the runs and was ignored, safe to print on a
    /// terminal.
    pub changed: Vec<String>,
}

impl<P: Program> Found<P> {
    /// The result with this output.
    pub fn new(program: &P, input: &P::Input, output: P::Output) -> Self {
        Self {
            answer: program.answer(input, &output),
            output,
        }
    }
}

impl<P: Program> Reference<P> {
    /// Returns the published answer, if there is one.
    pub fn published(program: &P) -> Option<Self> {
        program.published().map(|published| Self {
            answer: published.answer,
            source: published.source,
            output: None,
        })
    }

    /// Takes the serial version's result as the reference.
    pub fn serial(found: Found<P>) -> Self {
        Self {
            answer: found.answer,
            source: "the serial version",
            output: Some(found.output),
        }
    }

    /// Returns a description of the source.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Compares a run with the reference. Whatever changed outside the program is removed from
    /// both.
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
