//! The interface that every benchmark program implements.
//!
//! A run calls [`from_values`](Program::from_values) and [`prepare`](Program::prepare) once. Each
//! repetition then calls [`reset`](Program::reset), the timed [`serial`](Program::serial) or
//! [`parallel`](Program::parallel), and [`answer`](Program::answer). Only the timed part does the
//! program's work: creating the input and summarizing the output are not timed.
//!
//! A run is correct if its answer equals the [`published`](Program::published) one or, if there is
//! none, the serial version's. Inputs that the program does not own, such as the files below a
//! path, may change between two runs. Therefore, [`settle`](Program::settle) removes from both
//! outputs whatever has changed.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::parameter::{Kind, Parameter, ParameterError, Values, Words, named};
use crate::runtime::Runtime;

/// A summary of a run's result, as named fields.
pub type Answer = serde_json::Map<String, Value>;

/// The description of a field of a program's [`Answer`], for help texts.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The field's name in the answer.
    pub name: &'static str,
    /// What the field holds, including the unit.
    pub meaning: &'static str,
}

pub(crate) const fn field(name: &'static str, meaning: &'static str) -> Field {
    Field { name, meaning }
}

/// An answer known without running the serial version.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The answer that every correct run gives.
    pub answer: Answer,
    /// The source of the answer, as text for the user.
    pub source: &'static str,
}

/// A benchmark program with its parameters.
pub trait Program: Sized + Send + Sync + 'static {
    /// The program's name on the command line.
    const NAME: &'static str;
    /// A one-line description for lists of programs.
    const SUMMARY: &'static str;
    /// The parameters. Positional ones are in their order on the command line.
    const PARAMETERS: &'static [Parameter];
    /// The fields of the answer.
    const RESULT: &'static [Field];
    /// Whether a run reads files. If so, the first run may wait for the disk, but later runs don't.
    const READS_FILES: bool = false;
    /// Whether the program requires a runtime with [intervals](Runtime::INTERVALS).
    const INTERVALS: bool = false;
    /// Whether the parallel body spawns its tasks, whatever the parameters.
    const SPAWNS: bool = false;

    /// The data on which a run works.
    type Input: Send;
    /// The result of a run.
    type Output: Send;

    /// Creates the program with these parameters.
    ///
    /// # Errors
    /// If the values are valid individually but not in combination.
    fn from_values(values: &Values) -> Result<Self, ParameterError>;

    /// Checks constraints between the parameters.
    ///
    /// # Errors
    /// If the values are valid individually but not in combination.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    /// Returns the parameters that affect a run, with their values.
    fn parameters(&self) -> Answer;

    /// Creates the input.
    ///
    /// # Errors
    /// If the input is unavailable; the message names the input.
    fn prepare(&self) -> io::Result<Self::Input>;

    /// Restores an input to its initial state after a run.
    fn reset(&self, _input: &mut Self::Input) {}

    /// Computes the output with the serial version.
    fn serial(&self, input: &mut Self::Input) -> Self::Output;

    /// Runs the parallel body. Call this inside [`Runtime::install`].
    ///
    /// # Panics
    /// If the program needs [intervals](Self::INTERVALS) and the runtime has none.
    fn parallel<R: Runtime>(&self, input: &mut Self::Input, fork: &mut R::Fork<'_>)
    -> Self::Output;

    /// Whether [`parallel`](Self::parallel) can run tasks in parallel on this runtime.
    fn applies_to<R: Runtime>(&self) -> bool {
        R::SPAWNS || !Self::SPAWNS
    }

    /// Checks that the runtime supports what the program needs with these parameters.
    ///
    /// # Errors
    /// If the runtime lacks a feature; the message names it.
    fn fits<R: Runtime>(&self, _runtime: &R) -> Result<(), ParameterError> {
        if R::INTERVALS || !Self::INTERVALS {
            return Ok(());
        }
        let (program, runtime) = (Self::NAME, R::NAME);
        let what = format!("{program} needs intervals, and {runtime} has none");
        Err(ParameterError::new(what))
    }

    /// Returns a summary of a run's result.
    fn answer(&self, input: &Self::Input, output: &Self::Output) -> Answer;

    /// Returns the answer of a correct run, if it is known in advance.
    fn published(&self) -> Option<Reference> {
        None
    }

    /// Compares the outputs of two runs, removes from both whatever changed for reasons outside the
    /// program, and returns the names of what it removed.
    fn settle(&self, _one: &mut Self::Output, _other: &mut Self::Output) -> Vec<String> {
        Vec::new()
    }

    /// Returns the progress of the current run, if the program reports it.
    fn progress(&self) -> Option<&Arc<Progress>> {
        None
    }
}

/// The progress of a run. Any thread may read it at any time.
#[derive(Debug, Default)]
pub struct Progress {
    files: AtomicU64,
    bytes: AtomicU64,
}

// Relaxed throughout: the counters publish no other data.
impl Progress {
    /// Returns the number of files finished so far.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes read so far.
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

/// How a parallel body creates its tasks. Some programs support both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// With joins that repeatedly halve the range.
    Join,
    /// With one spawn per part, in a scope.
    Spawn,
}

impl Words for Form {
    const ALL: &'static [Self] = &[Self::Join, Self::Spawn];
    const NAMES: &'static [&'static str] = &["join", "spawn"];
}

impl Form {
    /// Returns the parameter `form` with its default.
    pub(crate) const fn parameter(preset: &'static str) -> Parameter {
        let meaning = "fork with joins that split in half, or with one spawn per part";
        named("form", Kind::Choice(Self::NAMES), [preset; 3], meaning)
    }

    /// Returns the form's name as a parameter value.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub(crate) fn applies_to<R: Runtime>(self) -> bool {
        self == Self::Join || R::SPAWNS
    }
}

/// Implements the part of [`Program`] that concerns its parameters. Each row names a field, and
/// describes the parameter that sets it. The last row may be `..field = value;`, for a field that no
/// parameter sets.
macro_rules! parameters {
    ($($field:ident = $parameter:expr;)* $(..$constant:ident = $value:expr;)?) => {
        const PARAMETERS: &'static [$crate::Parameter] = &[$($parameter),*];

        fn from_values(values: &$crate::Values) -> Result<Self, $crate::ParameterError> {
            let program = Self {
                $($field: $crate::parameter::Setting::read(values, $parameter.name)?,)*
                $($constant: $value)?
            };
            program.check()?;
            Ok(program)
        }

        fn parameters(&self) -> $crate::Answer {
            $crate::program::answer([
                $(($parameter.name, $crate::parameter::Setting::show(&self.$field)),)*
            ])
        }
    };
}

/// Implements the part of [`Program`] that concerns its answer, which is computed from the input and
/// the output. Each row has a field's name, what the field holds, and its value.
macro_rules! result {
    ($this:ident, $input:pat, $output:pat => $($name:ident $meaning:literal = $value:expr;)*) => {
        const RESULT: &'static [$crate::Field] =
            &[$($crate::program::field(stringify!($name), $meaning)),*];

        fn answer(&$this, $input: &Self::Input, $output: &Self::Output) -> $crate::Answer {
            $crate::program::answer([$((stringify!($name), ($value).into())),*])
        }
    };
}

/// Implements the part of [`Program`] that concerns the input of a program without one.
macro_rules! without_input {
    () => {
        type Input = ();

        fn prepare(&self) -> std::io::Result<()> {
            Ok(())
        }
    };
}

/// Implements the part of [`Program`] that concerns the field `form`.
macro_rules! with_form {
    () => {
        fn applies_to<R: $crate::Runtime>(&self) -> bool {
            self.form.applies_to::<R>()
        }
    };
}

pub(crate) use {parameters, result, with_form, without_input};

pub(crate) fn answer<const N: usize>(fields: [(&str, Value); N]) -> Answer {
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
