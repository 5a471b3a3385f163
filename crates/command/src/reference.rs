//! Whether a result is right.
//!
//! The reference answer is the published one where the program has one, and the serial version's
//! otherwise. A program whose input lives outside of it (the files below a path) may give different
//! answers for good reasons; it settles them first, and what it takes out is listed.

use tidegate_workloads::{Answer, Program};

/// The answer that a right run gives, and where it is from.
pub struct Reference<P: Program> {
    answer: Answer,
    source: &'static str,
    /// What the serial version found, if the answer is its.
    output: Option<P::Output>,
}

/// What came out of a run.
pub struct Found<P: Program> {
    /// Its answer.
    pub answer: Answer,
    /// Its output.
    pub output: P::Output,
}

/// The outcome of a comparison.
pub struct Verdict {
    /// Whether the run's answer is the reference answer.
    pub agrees: bool,
    /// What changed outside the program between the runs and was left out, fit for a terminal.
    pub changed: Vec<String>,
}

impl<P: Program> Found<P> {
    /// What `output` says.
    pub fn new(program: &P, input: &P::Input, output: P::Output) -> Self {
        Self {
            answer: program.answer(input, &output),
            output,
        }
    }
}

impl<P: Program> Reference<P> {
    /// The published answer, if there is one.
    pub fn published(program: &P) -> Option<Self> {
        program.published().map(|published| Self {
            answer: published.answer,
            source: published.source,
            output: None,
        })
    }

    /// What the serial version found.
    pub fn serial(found: Found<P>) -> Self {
        Self {
            answer: found.answer,
            source: "the serial version",
            output: Some(found.output),
        }
    }

    /// Where the answer is from, in words.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Compares a run with it. If something changed outside the program, it is taken out of both.
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
