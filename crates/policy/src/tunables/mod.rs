//! Every number and every choice that could be another one.
//!
//! A tunable is one constant: what it is called, what values make sense, which one holds unless somebody says otherwise,
//! and why. Code takes the value from the constant ([`Tunable::default`]), checks what it is given against it
//! ([`Tunable::check`], [`Tunable::parse`]) and prints it from it ([`rows`]); no number stands anywhere else.
//!
//! The parameters of policies are tunables as well: the last part of the name, after the dot, is the key under
//! which the text form of the policy knows it. They have no environment variable of their own, the whole policy has one.
//!
//! This module reads no environment: the runtime does, and hands the text to [`Tunable::parse`].
//!
//! ```
//! use tidegate_policy::tunables::WORKERS;
//!
//! assert_eq!(WORKERS.parse("12")?, Some(12));
//! let error = WORKERS.parse("0").unwrap_err().to_string();
//! assert_eq!(error, "TIDEGATE_WORKERS: 0 is out of range; allowed: 1 to 4096");
//! # Ok::<(), tidegate_policy::ParseError>(())
//! ```

mod desire;
mod idle;
mod runtime;
mod setting;
mod sharing;
mod simulator;
mod space;

pub use desire::*;
pub use idle::*;
pub use runtime::*;
pub use setting::Setting;
pub use sharing::*;
pub use simulator::*;
pub use space::*;

use crate::error::ParseError;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// What the values of a tunable count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, written with a unit of time.
    Time,
    /// Bytes, written plainly or with a binary unit.
    Bytes,
    /// Things of this name.
    Count(&'static str),
    /// A number without dimension.
    Ratio,
    /// One of several names.
    Choice,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "time",
            Self::Bytes => "bytes",
            Self::Count(things) => things,
            Self::Ratio => "ratio",
            Self::Choice => "choice",
        })
    }
}

/// Where a default comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Measured for this project.
    Measured,
    /// Chosen by judgement, not yet measured.
    Guessed,
    /// Taken from the publication named.
    Published(&'static str),
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured => f.write_str("measured"),
            Self::Guessed => f.write_str("guessed"),
            Self::Published(source) => write!(f, "published ({source})"),
        }
    }
}

/// The values that a tunable may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed<T> {
    /// From the first to the second, both included.
    Between(T, T),
    /// One of these forms.
    OneOf(&'static [&'static str]),
}

/// One tunable, its values typed as the code uses them: [`Nanos`](crate::Nanos) for times, `usize` for counts and bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tunable<T> {
    /// Name, unique in the table.
    pub name: &'static str,
    /// What the values count.
    pub unit: Unit,
    /// Which values make sense.
    pub allowed: Allowed<T>,
    /// The value that holds unless somebody sets another.
    pub default: T,
    /// The environment variable that sets it, if one does.
    pub variable: Option<&'static str>,
    /// What it is and why it is so.
    pub why: &'static str,
    /// Where the default comes from.
    pub basis: Basis,
}

impl<T: Setting> Tunable<T> {
    /// Reads a value in the form that [`rows`] prints.
    ///
    /// # Errors
    /// Names the variable (or the tunable, where it has none), the text and what is allowed.
    pub fn parse(&self, text: &str) -> Result<T, ParseError> {
        let value = T::read(text, self.unit).map_err(|error| {
            let error = match self.allowed {
                Allowed::Between(..) => error.and_allowed(&self.shown_range()),
                _ => error,
            };
            error.within(self.label())
        })?;
        self.check(value)
    }

    /// Hands `value` back if it is allowed.
    ///
    /// # Errors
    /// Names the variable (or the tunable, where it has none), the value and what is allowed.
    pub fn check(&self, value: T) -> Result<T, ParseError> {
        match self.allowed {
            Allowed::Between(min, max) if !value.lies_between(min, max) => {
                let what = alloc::format!("{} is out of range", value.show(self.unit));
                Err(ParseError::new(self.label(), what, self.shown_range()))
            }
            _ => Ok(value),
        }
    }

    /// The key of a policy's parameter: the last part of the name.
    pub(crate) fn key(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }

    /// The variable if there is one, else the key.
    fn label(&self) -> &'static str {
        self.variable.unwrap_or_else(|| self.key())
    }

    pub(crate) fn shown_range(&self) -> String {
        match self.allowed {
            Allowed::Between(min, max) => {
                alloc::format!("{} to {}", min.show(self.unit), max.show(self.unit))
            }
            Allowed::OneOf(names) => names.join(", "),
        }
    }

    /// The tunable as text, for a table.
    #[must_use]
    pub fn row(&self) -> Row {
        Row {
            name: self.name,
            unit: self.unit,
            allowed: self.shown_range(),
            default: self.default.show(self.unit),
            variable: self.variable,
            why: self.why,
            basis: self.basis,
        }
    }
}

impl Tunable<usize> {
    /// The allowed value that is nearest to `value`.
    #[must_use]
    pub fn nearest(&self, value: usize) -> usize {
        match self.allowed {
            Allowed::Between(min, max) => value.clamp(min, max),
            Allowed::OneOf(_) => self.default,
        }
    }
}

impl<T: Copy> Tunable<T> {
    const fn new(name: &'static str, unit: Unit, allowed: Allowed<T>, default: T) -> Self {
        Self {
            name,
            unit,
            allowed,
            default,
            variable: None,
            why: "",
            basis: Basis::Guessed,
        }
    }

    const fn set_by(mut self, variable: &'static str) -> Self {
        self.variable = Some(variable);
        self
    }

    const fn because(mut self, why: &'static str, basis: Basis) -> Self {
        self.why = why;
        self.basis = basis;
        self
    }
}

const fn time(name: &'static str, min: u64, max: u64, default: u64) -> Tunable<u64> {
    Tunable::new(name, Unit::Time, Allowed::Between(min, max), default)
}

const fn ratio(name: &'static str, min: f64, max: f64, default: f64) -> Tunable<f64> {
    Tunable::new(name, Unit::Ratio, Allowed::Between(min, max), default)
}

const fn count<T: Copy>(
    name: &'static str,
    things: &'static str,
    min: T,
    max: T,
    default: T,
) -> Tunable<T> {
    Tunable::new(
        name,
        Unit::Count(things),
        Allowed::Between(min, max),
        default,
    )
}

const fn bytes(name: &'static str, min: usize, max: usize, default: usize) -> Tunable<usize> {
    Tunable::new(name, Unit::Bytes, Allowed::Between(min, max), default)
}

/// What a choice between two is called.
const SWITCH: &[&str] = &["on", "off"];

const fn choice<T: Copy>(
    name: &'static str,
    names: &'static [&'static str],
    default: T,
) -> Tunable<T> {
    Tunable::new(name, Unit::Choice, Allowed::OneOf(names), default)
}

/// A tunable with its values as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// [`Tunable::name`].
    pub name: &'static str,
    /// [`Tunable::unit`].
    pub unit: Unit,
    /// The range or the choices.
    pub allowed: String,
    /// The default, in a form that can be set.
    pub default: String,
    /// [`Tunable::variable`].
    pub variable: Option<&'static str>,
    /// [`Tunable::why`].
    pub why: &'static str,
    /// [`Tunable::basis`].
    pub basis: Basis,
}

/// The whole table: what a user sets first, then the runtime's numbers, then how jobs share the machine, then the
/// parameters of the estimators and of the idle policies, then the simulator's costs.
#[must_use]
pub fn rows() -> Vec<Row> {
    let mut rows = runtime::rows();
    rows.extend(sharing::rows());
    rows.extend(desire::rows());
    rows.extend(idle::rows());
    rows.extend(space::rows());
    rows.extend(simulator::rows());
    rows
}

/// Defines tunables and the function that lists them, so that none can be forgotten.
macro_rules! table {
    ($($name:ident: $type:ty = $make:expr, $why:literal, $basis:expr;)*) => {
        $(
            #[doc = $why]
            pub const $name: Tunable<$type> = $make.because($why, $basis);
        )*

        pub(super) fn rows() -> Vec<Row> {
            vec![$($name.row()),*]
        }

        #[cfg(test)]
        pub(super) fn assert_that_defaults_are_allowed_and_shown_as_they_are_read() {
            $(
                assert_eq!($name.check($name.default), Ok($name.default));
                assert_eq!($name.parse(&$name.row().default), Ok($name.default));
            )*
        }
    };
}
use table;

#[cfg(test)]
mod tests {
    #[test]
    fn every_default_is_allowed_and_shown_as_it_is_read() {
        super::runtime::assert_that_defaults_are_allowed_and_shown_as_they_are_read();
        super::desire::assert_that_defaults_are_allowed_and_shown_as_they_are_read();
        super::sharing::assert_that_defaults_are_allowed_and_shown_as_they_are_read();
        super::idle::assert_that_defaults_are_allowed_and_shown_as_they_are_read();
        super::simulator::assert_that_defaults_are_allowed_and_shown_as_they_are_read();
        super::space::assert_that_defaults_are_allowed_and_shown_as_they_are_read();
    }
}
