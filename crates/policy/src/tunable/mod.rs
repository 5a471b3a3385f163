//! The definition of a tunable, and the macro that declares a table of tunables.
//!
//! Each policy declares its own tunables with [`table!`], and [`tunables`](crate::tunables) lists
//! all of them. This module imports no policy, so that every policy can import it.

mod setting;

pub use setting::Setting;
pub(crate) use setting::{Shown, choices, words};

use crate::error::ParseError;
use crate::text;
use alloc::string::String;
use core::fmt;

/// The unit of a tunable's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, written with a unit such as `ms`.
    Time,
    /// Bytes, written as a plain number or with a binary unit.
    Bytes,
    /// A number of things, which the string names, for instance `"workers"`.
    Count(&'static str),
    /// A dimensionless number.
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
    /// Chosen by judgement, not measured.
    Guessed,
    /// Taken from this publication.
    Published(&'static str),
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured => f.write_str("measured"),
            Self::Guessed => f.write_str("default, untuned"),
            Self::Published(source) => write!(f, "published ({source})"),
        }
    }
}

/// The values that a tunable may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed<T> {
    /// A range that includes both ends.
    Between(T, T),
    /// One of these names.
    OneOf(&'static [&'static str]),
}

/// A setting with its range, its default and the reason for it. Its values have the type that the
/// code uses: [`Nanos`](crate::Nanos) for times, `usize` for counts and bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tunable<T> {
    /// The name, unique among all tunables.
    pub name: &'static str,
    /// The unit of the values.
    pub unit: Unit,
    /// The allowed values.
    pub allowed: Allowed<T>,
    /// The value that applies unless the user sets another.
    pub default: T,
    /// The environment variable that sets the tunable, if any.
    pub variable: Option<&'static str>,
    /// What the value controls, and the reason for the default.
    pub why: &'static str,
    /// Where the default comes from.
    pub basis: Basis,
}

impl<T: Setting> Tunable<T> {
    /// Parses a value in the form that [`rows`](crate::tunables::rows) prints.
    ///
    /// # Errors
    /// Returns an error if `text` cannot be parsed or the value is not allowed. The error names the
    /// variable (or the tunable, if it has no variable), the text and the allowed values.
    pub fn parse(&self, text: &str) -> Result<T, ParseError> {
        let mut entry = self.entry(self.default);
        entry.any().parse(text)?;
        Ok(entry.value)
    }

    /// Returns `value` if it is allowed.
    ///
    /// # Errors
    /// Returns an error if `value` is not allowed. The error names the variable (or the tunable, if
    /// it has no variable), the value and the allowed values.
    pub fn check(&self, value: T) -> Result<T, ParseError> {
        self.entry(value).any().check(None).map(|()| value)
    }

    /// Like [`check`](Self::check), but the error names `label`.
    ///
    /// # Errors
    /// Returns an error if `value` is not allowed.
    pub fn check_as(&self, label: &str, value: T) -> Result<T, ParseError> {
        self.entry(value).any().check(Some(label)).map(|()| value)
    }

    /// Returns the tunable with this value, which is not checked yet.
    pub fn entry(&self, value: T) -> Entry<'_, T> {
        Entry {
            tunable: self,
            value,
        }
    }

    /// Returns the tunable with its values as text.
    #[must_use]
    pub fn row(&self) -> Row {
        self.untyped().shown()
    }

    /// Returns a value in the form that [`parse`](Self::parse) reads.
    #[must_use]
    pub fn show(&self, value: T) -> String {
        value.show(self.unit)
    }

    /// Returns the tunable without the type of its values.
    pub(crate) const fn untyped(&self) -> Tunable<&dyn Shown> {
        Tunable {
            name: self.name,
            unit: self.unit,
            allowed: match &self.allowed {
                Allowed::Between(min, max) => Allowed::Between(min, max),
                Allowed::OneOf(names) => Allowed::OneOf(names),
            },
            default: &self.default,
            variable: self.variable,
            why: self.why,
            basis: self.basis,
        }
    }
}

/// A tunable and a value for it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a, T> {
    tunable: &'a Tunable<T>,
    /// The value.
    pub value: T,
}

impl<T: Setting> Entry<'_, T> {
    /// Returns the entry without its type. What takes it is compiled once, not once for each type.
    pub fn any(&mut self) -> &mut (dyn AnyEntry + '_) {
        self
    }
}

/// An [`Entry`] of any type. If an error is `None`, it is enough to print the allowed values.
#[doc(hidden)]
pub trait AnyEntry {
    fn tunable(&self) -> Tunable<&dyn Shown>;
    fn value(&self) -> &dyn Shown;
    fn reset(&mut self);
    fn read(&mut self, text: &str) -> Result<(), Option<ParseError>>;
    fn admit(&self) -> Result<(), Option<ParseError>>;
}

impl<T: Setting> AnyEntry for Entry<'_, T> {
    fn tunable(&self) -> Tunable<&dyn Shown> {
        self.tunable.untyped()
    }

    fn value(&self) -> &dyn Shown {
        &self.value
    }

    fn reset(&mut self) {
        self.value = self.tunable.default;
    }

    fn read(&mut self, text: &str) -> Result<(), Option<ParseError>> {
        self.value = T::read(text, self.tunable.unit)?;
        Ok(())
    }

    fn admit(&self) -> Result<(), Option<ParseError>> {
        match self.tunable.allowed {
            Allowed::Between(min, max) if !self.value.lies_between(min, max) => Err(None),
            _ => self.value.check_parts(),
        }
    }
}

impl dyn AnyEntry + '_ {
    /// The environment variable that sets the tunable, if any.
    #[must_use]
    pub fn variable(&self) -> Option<&'static str> {
        self.tunable().variable
    }

    /// Sets the value that `text` describes, or else the default.
    ///
    /// # Errors
    /// See [`Tunable::parse`].
    pub fn parse(&mut self, text: &str) -> Result<(), ParseError> {
        let result = self.read(text).and_then(|()| self.admit());
        result.map_err(|error| {
            self.reset();
            let tunable = self.tunable();
            tunable.refusal(tunable.label(), &alloc::format!("{text:?}"), error)
        })
    }

    /// Checks the value. The error names `label`, or else what [`Tunable::parse`] names.
    ///
    /// # Errors
    /// If the value is not allowed.
    pub fn check(&self, label: Option<&str>) -> Result<(), ParseError> {
        self.admit().map_err(|error| {
            let tunable = self.tunable();
            let label = label.unwrap_or(tunable.label());
            tunable.refusal(label, &self.value().show(tunable.unit), error)
        })
    }
}

impl Tunable<&dyn Shown> {
    /// Returns the error for a value that has the problem `error`, or else is not allowed.
    fn refusal(&self, label: &str, value: &str, error: Option<ParseError>) -> ParseError {
        if let Some(error) = error {
            return error.within(label);
        }
        let range = self.range();
        let expected = match self.unit {
            Unit::Time => alloc::format!("a time such as 5ms (ns, us, ms, s) from {range}"),
            Unit::Bytes => {
                alloc::format!("a size such as 64MiB (KiB, MiB, GiB, TiB) from {range}")
            }
            Unit::Count(_) => alloc::format!("an integer from {range}"),
            Unit::Ratio => alloc::format!("a number from {range}"),
            Unit::Choice => range,
        };
        ParseError::value(label, value, &expected)
    }

    fn label(&self) -> &'static str {
        self.variable.unwrap_or_else(|| key(self.name))
    }

    fn range(&self) -> String {
        match self.allowed {
            Allowed::Between(min, max) => {
                alloc::format!("{} to {}", min.show(self.unit), max.show(self.unit))
            }
            Allowed::OneOf(names) => text::listed(names),
        }
    }

    pub(crate) fn shown(&self) -> Row {
        Row {
            name: self.name,
            unit: self.unit,
            allowed: self.range(),
            default: self.default.show(self.unit),
            variable: self.variable,
            why: self.why,
            basis: self.basis,
        }
    }
}

/// Returns the key of a policy's parameter: the part of the tunable's name after the last dot.
pub(crate) fn key(name: &'static str) -> &'static str {
    name.rsplit('.').next().unwrap_or(name)
}

impl Tunable<usize> {
    /// Returns the allowed value nearest to `value`.
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

    pub(crate) const fn set_by(mut self, variable: &'static str) -> Self {
        self.variable = Some(variable);
        self
    }

    pub(crate) const fn because(mut self, why: &'static str, basis: Basis) -> Self {
        self.why = why;
        self.basis = basis;
        self
    }
}

pub(crate) const fn time(name: &'static str, min: u64, max: u64, default: u64) -> Tunable<u64> {
    Tunable::new(name, Unit::Time, Allowed::Between(min, max), default)
}

pub(crate) const fn ratio(name: &'static str, min: f64, max: f64, default: f64) -> Tunable<f64> {
    Tunable::new(name, Unit::Ratio, Allowed::Between(min, max), default)
}

pub(crate) const fn count<T: Copy>(
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

pub(crate) const fn bytes(
    name: &'static str,
    min: usize,
    max: usize,
    default: usize,
) -> Tunable<usize> {
    Tunable::new(name, Unit::Bytes, Allowed::Between(min, max), default)
}

pub(crate) const SWITCH: &[&str] = &["on", "off"];

pub(crate) const fn choice<T: Copy>(
    name: &'static str,
    names: &'static [&'static str],
    default: T,
) -> Tunable<T> {
    Tunable::new(name, Unit::Choice, Allowed::OneOf(names), default)
}

/// A tunable with its values as text, for tables of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// See [`Tunable::name`].
    pub name: &'static str,
    /// See [`Tunable::unit`].
    pub unit: Unit,
    /// The allowed values: a range or a list of names.
    pub allowed: String,
    /// The default, in the form that [`Tunable::parse`] reads.
    pub default: String,
    /// See [`Tunable::variable`].
    pub variable: Option<&'static str>,
    /// See [`Tunable::why`].
    pub why: &'static str,
    /// See [`Tunable::basis`].
    pub basis: Basis,
}

/// Declares tunables, a list of them without their types in the same order, and a test of their
/// defaults.
macro_rules! table {
    ($($name:ident: $type:ty = $make:expr, $why:literal, $basis:expr;)*) => {
        $(
            #[doc = $why]
            pub const $name: Tunable<$type> = $make.because($why, $basis);
        )*

        pub(crate) const ROWS: &[Tunable<&dyn $crate::tunable::Shown>] = &[$($name.untyped()),*];

        #[cfg(test)]
        mod defaults {
            #[test]
            fn are_allowed_and_read_back() {
                $(
                    let tunable = super::$name;
                    assert_eq!(tunable.check(tunable.default), Ok(tunable.default));
                    assert_eq!(tunable.parse(&tunable.row().default), Ok(tunable.default));
                )*
            }
        }
    };
}
pub(crate) use table;
