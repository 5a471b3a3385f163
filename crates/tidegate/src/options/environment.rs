//! Options from environment variables.
//!
//! Every option of the [`Builder`](crate::Builder) that is a number or a choice has a variable, which takes the same text as the
//! option's `FromStr` and the flag of the `tidegate` command. What the builder says wins. The variables are read when a pool
//! is made; changing one later changes no pool.
//!
//! A bad value is an error that names the variable and what is allowed. The global pool has nobody to give an error
//! to, since a program that only calls [`join`](crate::join) has not asked for a pool and cannot do anything about the
//! environment; so there a bad value is reported on standard error and the default is used.

use super::{BuildError, Source};
use std::fmt;
use tidegate_policy::Tunable;
use tidegate_policy::tunables::Setting;
use tidegate_sync::stderr::print_line;

/// Makes pools explain themselves; see [`crate::explain`].
const EXPLAIN: &str = "TIDEGATE_EXPLAIN";

/// What becomes of bad values in the environment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Environment {
    /// They are errors.
    Strict,
    /// They are reported and passed over.
    Forgiving,
}

impl Environment {
    /// The builder's value, else the environment's, else the default; checked. `method` names the builder's in errors.
    pub(crate) fn option<T: Setting>(
        self,
        method: &'static str,
        given: Option<T>,
        tunable: &Tunable<T>,
    ) -> Result<(T, Source), BuildError> {
        if let Some(value) = given {
            let named = Tunable {
                name: method,
                variable: None,
                ..*tunable
            };
            return Ok((named.check(value)?, Source::Builder));
        }
        let Some(text) = tunable.variable.and_then(std::env::var_os) else {
            return Ok((tunable.default, Source::Default));
        };
        // Text that is not Unicode is shown with replacement signs and refused like any other bad value.
        match tunable.parse(&text.to_string_lossy()) {
            Ok(value) => Ok((value, Source::Variable)),
            Err(error) => {
                self.forgive(error.into(), &tunable.row().default)?;
                Ok((tunable.default, Source::Default))
            }
        }
    }

    /// Whether pools are to explain themselves.
    pub(crate) fn explain(self) -> Result<bool, BuildError> {
        let Some(text) = std::env::var_os(EXPLAIN) else {
            return Ok(false);
        };
        match text.to_str() {
            Some("0") => Ok(false),
            Some("1") => Ok(true),
            _ => {
                let error = format!("{EXPLAIN}: {text:?} cannot be read; allowed: 0, 1");
                self.forgive(BuildError::new(error), &0)?;
                Ok(false)
            }
        }
    }

    /// A bad value: an error, or a line for the user that says what is used instead.
    pub(crate) fn forgive(
        self,
        error: BuildError,
        instead: &dyn fmt::Display,
    ) -> Result<(), BuildError> {
        match self {
            Self::Strict => Err(error),
            Self::Forgiving => {
                print_line(format_args!("{error}; going on with {instead}"));
                Ok(())
            }
        }
    }
}
