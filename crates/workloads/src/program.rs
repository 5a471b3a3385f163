//! What a program offers to whoever runs it.
//!
//! A run is: [`from_values`](Program::from_values), [`prepare`](Program::prepare) once, then for
//! every repetition [`reset`](Program::reset), the timed [`serial`](Program::serial) or
//! [`parallel`](Program::parallel), and [`answer`](Program::answer). Only the timed part does the
//! program's work; making the input and summing up the output are outside.
//!
//! A run is right if its answer equals the [`published`](Program::published) one, or, where there is
//! none, the serial version's. Inputs that the program does not own (the files below a path) may
//! change between two runs; [`settle`](Program::settle) takes out of both what did.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::parameter::{Kind, Parameter, ParameterError, Preset, Values};
use crate::runtime::Runtime;

/// The fields of a result, by name: comparable and printable.
pub type Answer = serde_json::Map<String, Value>;

/// A field of a program's [`Answer`], for help texts.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the answer.
    pub name: &'static str,
    /// What it holds, with the unit.
    pub meaning: &'static str,
}

/// An answer known without running the serial version.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// What a right run must answer.
    pub answer: Answer,
    /// Where the answer comes from, in words.
    pub source: &'static str,
}

/// A benchmark program with its parameters.
pub trait Program: Sized + Send + Sync + 'static {
    /// The name by which a user asks for the program.
    const NAME: &'static str;
    /// One line for a list of programs.
    const SUMMARY: &'static str;
    /// The parameters, positional ones in their order.
    const PARAMETERS: &'static [Parameter];
    /// The fields of the answer.
    const RESULT: &'static [Field];
    /// Whether a run reads files, so that the first one may wait for a disk and later ones do not.
    const READS_FILES: bool = false;
    /// Whether it runs only on a runtime with [intervals](Runtime::INTERVALS).
    const INTERVALS: bool = false;

    /// What a run works on.
    type Input: Send;
    /// What a run returns.
    type Output: Send;

    /// The program with these parameters.
    ///
    /// # Errors
    /// If the values, each allowed by itself, do not go together.
    fn from_values(values: &Values) -> Result<Self, ParameterError>;

    /// The parameters as the program takes them.
    fn parameters(&self) -> Answer;

    /// Makes the input.
    ///
    /// # Errors
    /// If the input cannot be had; the message names it.
    fn prepare(&self) -> io::Result<Self::Input>;

    /// Brings an input that was run on back to its first state.
    fn reset(&self, _input: &mut Self::Input) {}

    /// The serial version.
    fn serial(&self, input: &mut Self::Input) -> Self::Output;

    /// The parallel body, to be called inside [`Runtime::install`].
    ///
    /// # Panics
    /// If it needs [intervals](Self::INTERVALS) and the runtime has none.
    fn parallel<R: Runtime>(&self, input: &mut Self::Input, fork: &mut R::Fork<'_>)
    -> Self::Output;

    /// Whether [`parallel`](Self::parallel) can be parallel on this runtime.
    fn applies_to<R: Runtime>(&self) -> bool {
        true
    }

    /// Whether that runtime has what these parameters need.
    ///
    /// # Errors
    /// Says what it has not.
    fn fits<R: Runtime>(&self, _runtime: &R) -> Result<(), ParameterError> {
        if R::INTERVALS || !Self::INTERVALS {
            return Ok(());
        }
        let (program, runtime) = (Self::NAME, R::NAME);
        let what = format!("{program} needs intervals, and {runtime} has none");
        Err(ParameterError::new(what))
    }

    /// What came out of a run.
    fn answer(&self, input: &Self::Input, output: &Self::Output) -> Answer;

    /// The answer that a right run gives, where it is known beforehand.
    fn published(&self) -> Option<Reference> {
        None
    }

    /// Takes out of the outputs of two runs what changed between them for reasons that are not the
    /// program's, and returns its names.
    fn settle(&self, _one: &mut Self::Output, _other: &mut Self::Output) -> Vec<String> {
        Vec::new()
    }

    /// How far the current run has come, for programs that can tell.
    fn progress(&self) -> Option<&Progress> {
        None
    }
}

/// How far a run has come; any thread may look at any time.
#[derive(Debug, Default)]
pub struct Progress {
    files: AtomicU64,
    bytes: AtomicU64,
}

// Relaxed throughout: the counters publish nothing but themselves.
impl Progress {
    /// Files done so far.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn add_file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn restart(&self) {
        self.files.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }
}

/// How a parallel body makes its tasks, where a program can do it in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By joins that halve what there is.
    Join,
    /// By one spawn per part, in a scope.
    Spawn,
}

impl Form {
    const NAMES: &'static [&'static str] = &["join", "spawn"];

    /// The parameter `form`, with the form that stands when none is given.
    pub(crate) const fn parameter(preset: &'static str) -> Parameter {
        Parameter {
            name: "form",
            positional: false,
            kind: Kind::Choice(Self::NAMES),
            preset: Preset::Sizes([preset; 3]),
            meaning: "by joins that halve what there is, or by one spawn per part",
        }
    }

    pub(crate) fn from_values(values: &Values) -> Result<Self, ParameterError> {
        Ok(match values.choice("form")? {
            "spawn" => Self::Spawn,
            _ => Self::Join,
        })
    }

    /// The form as a parameter takes it.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub(crate) fn applies_to<R: Runtime>(self) -> bool {
        self == Self::Join || R::SPAWNS
    }
}

/// Collects named values into an [`Answer`].
pub(crate) fn answer<const N: usize>(fields: [(&str, Value); N]) -> Answer {
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
