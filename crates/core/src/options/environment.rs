//! Options from environment variables.
//!
//! Every option of the [`Builder`](crate::Builder) that is a number or a choice has a variable,
//! which takes the same text as the option's `FromStr` and the command's flag. The builder's value
//! takes precedence. The variables are read when a pool is built; later changes don't affect that
//! pool.
//!
//! An invalid value is an error that names the variable and the values it accepts. The global pool
//! is an exception: a program that only calls [`join`](crate::join) never asked for a pool and
//! could not handle the error. It prints the error to standard error and uses the default.

use super::{BuildError, Source};
use std::fmt;
use tidegate_policy::Tunable;
use tidegate_policy::tunables::{self, AnyEntry, Setting};
use tidegate_sync::stderr::print_line;

/// How invalid values in the environment are handled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Environment {
    /// An invalid value is returned as an error.
    Strict,
    /// An invalid value is printed to standard error and replaced by a valid one.
    Forgiving,
    /// The variables are ignored, as if they were not set.
    Ignored,
}

impl Environment {
    /// Returns the builder's value, or else the environment's, or else the default, and checks it.
    /// `method` is the builder's method, for error messages.
    pub(crate) fn option<T: Setting>(
        self,
        method: &'static str,
        given: Option<T>,
        tunable: &Tunable<T>,
    ) -> Result<(T, Source), BuildError> {
        let mut entry = tunable.entry(given.unwrap_or(tunable.default));
        let from = self.source(given.is_some().then_some(method), entry.any())?;
        Ok((entry.value, from))
    }

    /// Checks the builder's value if this `method` set it, or else reads the environment's.
    fn source(
        self,
        method: Option<&'static str>,
        entry: &mut dyn AnyEntry,
    ) -> Result<Source, BuildError> {
        if let Some(method) = method {
            entry.check(Some(method))?;
            return Ok(Source::Builder(method));
        }
        let Some((variable, text)) = entry.variable().and_then(|name| self.read(name)) else {
            return Ok(Source::Default);
        };
        let from = Source::Variable(variable);
        match entry.parse(&text) {
            Ok(()) => Ok(from),
            Err(error) => self.forgive(from, error.into(), &"the default"),
        }
    }

    /// Returns the variable with its text. Text that is not Unicode is rejected like any other
    /// invalid value: the message shows replacement characters.
    fn read(self, variable: &'static str) -> Option<(&'static str, String)> {
        let text = std::env::var_os(variable).filter(|_| self != Self::Ignored)?;
        Some((variable, text.to_string_lossy().into_owned()))
    }

    /// Whether the global pool may be created.
    pub(crate) fn allows_global(self) -> Result<bool, BuildError> {
        let (allows, _) = self.option("build_global", None, &tunables::GLOBAL)?;
        Ok(allows)
    }

    /// Handles an invalid value: returns the error, or prints it with the value used instead. An
    /// error is forgiven only if the value came `from` a variable.
    pub(crate) fn forgive(
        self,
        from: Source,
        error: BuildError,
        instead: &dyn fmt::Display,
    ) -> Result<Source, BuildError> {
        if self != Self::Forgiving || !from.is_variable() {
            return Err(error);
        }
        print_line(format_args!("{error}; using {instead}"));
        Ok(Source::Default)
    }
}
