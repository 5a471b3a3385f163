//! Parameters of programs: valid values, defaults and parsing.
//!
//! A program lists its [`Parameter`]s. [`Values::parse`] checks the user's input against the
//! [`Kind`] of each parameter, fills in defaults for the requested [`Size`], and returns
//! [`Values`]. Each program checks constraints between parameters itself, in `from_values`.
//!
//! This module knows nothing about dashes, equal signs or help: a command line passes it names and
//! values. It never reads the environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// The problem size, which determines the defaults of the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// Runs that take less than 50 ms, for tests.
    Tiny,
    /// Runs that take at most a few seconds (default).
    #[default]
    Small,
    /// The size used in the paper or program from which the program was taken.
    Paper,
}

/// The description of a program's parameter: its name, type, default and help text.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The parameter's name on the command line.
    pub name: &'static str,
    /// Whether the user can also pass the value without the parameter's name.
    pub positional: bool,
    /// The valid values.
    pub kind: Kind,
    /// The default value.
    pub preset: Preset,
    /// The help text for the parameter, including its unit.
    pub meaning: &'static str,
}

/// The type and range of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An integer between the two bounds, inclusive.
    Integer(u64, u64),
    /// A number between the two bounds, inclusive.
    Number(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The path of a file or directory.
    Path,
}

/// The default of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Preset {
    /// The defaults for the sizes tiny, small and paper.
    Sizes([&'static str; 3]),
    /// No default: the user must pass a value.
    Required,
    /// The default depends on another parameter; the text describes it.
    Implied(&'static str),
}

/// Describes a parameter whose value needs its name; the defaults are those of the three sizes.
pub(crate) const fn named(
    name: &'static str,
    kind: Kind,
    sizes: [&'static str; 3],
    meaning: &'static str,
) -> Parameter {
    Parameter {
        name,
        positional: false,
        kind,
        preset: Preset::Sizes(sizes),
        meaning,
    }
}

/// Like [`named`], but the user may leave out the name.
pub(crate) const fn positional(
    name: &'static str,
    kind: Kind,
    sizes: [&'static str; 3],
    meaning: &'static str,
) -> Parameter {
    Parameter {
        positional: true,
        ..named(name, kind, sizes, meaning)
    }
}

/// Describes the parameter `seed`.
pub(crate) const fn seed(meaning: &'static str) -> Parameter {
    named("seed", Kind::Integer(0, u64::MAX), ["1"; 3], meaning)
}

/// The type of a program's field that a parameter sets.
pub(crate) trait Setting: Sized {
    /// Returns the value of the parameter `name`.
    fn read(values: &Values, name: &str) -> Result<Self, ParameterError>;

    /// Returns the value as it appears in a program's answer.
    fn show(&self) -> serde_json::Value;
}

macro_rules! integer_settings {
    ($($integer:ty),*) => {$(
        impl Setting for $integer {
            fn read(values: &Values, name: &str) -> Result<Self, ParameterError> {
                Ok(values.integer(name)? as Self)
            }

            fn show(&self) -> serde_json::Value {
                (*self).into()
            }
        }
    )*};
}

integer_settings!(u32, u64, usize);

impl Setting for f64 {
    fn read(values: &Values, name: &str) -> Result<Self, ParameterError> {
        values.number(name)
    }

    fn show(&self) -> serde_json::Value {
        (*self).into()
    }
}

/// An enum whose variants are the words of a [`Kind::Choice`].
pub(crate) trait Words: Copy + PartialEq + 'static {
    /// The variants and their words, in the same order.
    const ALL: &'static [Self];
    const NAMES: &'static [&'static str];
}

impl<T: Words> Setting for T {
    fn read(values: &Values, name: &str) -> Result<Self, ParameterError> {
        let word = values.choice(name)?;
        let place = T::NAMES.iter().position(|name| *name == word);
        place
            .map(|place| T::ALL[place])
            .ok_or_else(|| ParameterError::missing(name))
    }

    fn show(&self) -> serde_json::Value {
        let place = T::ALL.iter().position(|one| one == self);
        place.map(|place| T::NAMES[place]).into()
    }
}

/// The parameter values that the user passed, not yet checked.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Values without names, in order.
    pub positional: Vec<OsString>,
    /// Values with their parameters' names.
    pub named: Vec<(String, OsString)>,
}

/// Valid values for a program's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(BTreeMap<&'static str, Item>);

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Integer(u64),
    Number(f64),
    Choice(&'static str),
    Path(PathBuf),
}

/// The error for an unknown or missing parameter, or an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError(String);

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident -> $value:ty = $item:pat => $is:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// If no parameter of this kind and with this name has a value.
        pub fn $name(&self, name: &str) -> Result<$value, ParameterError> {
            match self.0.get(name) {
                Some($item) => Ok($is),
                _ => Err(ParameterError::missing(name)),
            }
        }
    )*};
}

impl Values {
    /// Checks `given` against `parameters` and fills in the defaults for `size`.
    ///
    /// # Errors
    /// If a name is unknown or given twice, if a value is invalid or missing, or if there are more
    /// positional values than positional parameters.
    ///
    /// ```
    /// use tidegate_workloads::{Given, Program, Size, Values, fib::Fib};
    ///
    /// let given = Given { positional: vec!["30".into()], ..Given::default() };
    /// let values = Values::parse(Fib::PARAMETERS, Size::Small, &given)?;
    /// assert_eq!(values.integer("n")?, 30);
    /// # Ok::<(), tidegate_workloads::ParameterError>(())
    /// ```
    pub fn parse(
        parameters: &'static [Parameter],
        size: Size,
        given: &Given,
    ) -> Result<Self, ParameterError> {
        let mut values = Self(BTreeMap::new());
        let mut places = parameters.iter().filter(|p| p.positional);
        for text in &given.positional {
            let place = places.next().ok_or_else(|| {
                ParameterError::new(format!("unexpected value {text:?}: too many parameters"))
            })?;
            values.put(place, text)?;
        }
        for (name, text) in &given.named {
            values.put(find(parameters, name)?, text)?;
        }
        for parameter in parameters {
            match parameter.preset {
                Preset::Sizes(texts) if !values.has(parameter.name) => {
                    values.put(parameter, texts[size as usize].as_ref())?;
                }
                Preset::Required if !values.has(parameter.name) => {
                    return Err(ParameterError::missing(parameter.name));
                }
                _ => {}
            }
        }
        Ok(values)
    }

    fn put(&mut self, parameter: &Parameter, text: &OsStr) -> Result<(), ParameterError> {
        let item = parameter.kind.read(text).ok_or_else(|| {
            let text = format!("{text:?}");
            ParameterError::invalid(text, parameter.name, parameter.kind)
        })?;
        match self.0.insert(parameter.name, item) {
            None => Ok(()),
            Some(_) => Err(ParameterError::new(format!(
                "duplicate parameter {}",
                parameter.name
            ))),
        }
    }

    /// Whether this parameter has a value.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    getters! {
        /// Returns the value of an integer parameter.
        integer -> u64 = Item::Integer(value) => *value;
        /// Returns the value of a number parameter.
        number -> f64 = Item::Number(value) => *value;
        /// Returns the value of a choice parameter.
        choice -> &'static str = Item::Choice(value) => value;
        /// Returns the value of a path parameter.
        path -> &Path = Item::Path(value) => value;
    }
}

fn find(
    parameters: &'static [Parameter],
    name: &str,
) -> Result<&'static Parameter, ParameterError> {
    parameters.iter().find(|p| p.name == name).ok_or_else(|| {
        let known: Vec<_> = parameters.iter().map(|p| p.name).collect();
        ParameterError::new(format!(
            "unknown parameter {name:?}: expected {}",
            known.join(", ")
        ))
    })
}

impl Kind {
    fn read(&self, text: &OsStr) -> Option<Item> {
        if let Self::Path = self {
            return (!text.is_empty()).then(|| Item::Path(text.into()));
        }
        let text = text.to_str()?;
        match *self {
            Self::Integer(least, most) => {
                let value = text.parse().ok()?;
                (least..=most)
                    .contains(&value)
                    .then_some(Item::Integer(value))
            }
            Self::Number(least, most) => {
                let value = text.parse().ok()?;
                (least..=most)
                    .contains(&value)
                    .then_some(Item::Number(value))
            }
            Self::Choice(words) => words
                .iter()
                .find(|word| **word == text)
                .map(|word| Item::Choice(word)),
            Self::Path => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(least, most) => write!(f, "an integer from {least} to {most}"),
            Self::Number(least, most) => write!(f, "a number from {least} to {most}"),
            Self::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Self::Path => f.write_str("a path"),
        }
    }
}

impl ParameterError {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }

    pub(crate) fn invalid(
        value: impl fmt::Display,
        name: &str,
        expected: impl fmt::Display,
    ) -> Self {
        Self(format!(
            "invalid value {value} for {name}: expected {expected}"
        ))
    }

    /// Returns an error unless the value of the parameter `name` is a power of two.
    pub(crate) fn unless_power_of_two(value: usize, name: &str) -> Result<(), Self> {
        if value.is_power_of_two() {
            return Ok(());
        }
        Err(Self::invalid(value, name, "a power of two"))
    }

    fn missing(name: &str) -> Self {
        Self(format!("missing value for {name}"))
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParameterError {}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter {
            preset: Preset::Required,
            ..positional("path", Kind::Path, ["", "", ""], "")
        },
        positional("n", Kind::Integer(1, 9), ["1", "2", "3"], ""),
        Parameter {
            preset: Preset::Implied("none"),
            ..named("q", Kind::Number(0.0, 1.0), ["", "", ""], "")
        },
        named("form", Kind::Choice(&["a", "b"]), ["a"; 3], ""),
    ];

    type Named<'a> = [(&'a str, &'a str)];

    fn parse(positional: &[&str], named: &Named<'_>) -> Result<Values, String> {
        let given = Given {
            positional: positional.iter().map(OsString::from).collect(),
            named: named
                .iter()
                .map(|(name, value)| ((*name).into(), value.into()))
                .collect(),
        };
        Values::parse(PARAMETERS, Size::Paper, &given).map_err(|error| error.to_string())
    }

    #[test]
    fn missing_values_get_size_defaults() {
        let values = parse(&["p"], &[("q", "0.5")]).unwrap();
        assert_eq!(values.path("path"), Ok(Path::new("p")));
        assert_eq!(values.integer("n"), Ok(3));
        assert_eq!(values.number("q"), Ok(0.5));
        assert_eq!(values.choice("form"), Ok("a"));
        assert!(!parse(&["p"], &[]).unwrap().has("q"));
    }

    #[test]
    fn rejection_names_parameter_and_allowed_values() {
        #[rustfmt::skip]
        let refusals: &[(&[&str], &Named<'_>, &str)] = &[
            (&[], &[], "missing value for path"),
            (&[""], &[], "invalid value \"\" for path: expected a path"),
            (&["p", "0"], &[], "invalid value \"0\" for n: expected an integer from 1 to 9"),
            (&["p"], &[("n", "-1")], "invalid value \"-1\" for n: expected an integer from 1 to 9"),
            (&["p"], &[("q", "NaN")], "invalid value \"NaN\" for q: expected a number from 0 to 1"),
            (&["p"], &[("form", "c")], "invalid value \"c\" for form: expected one of a, b"),
            (&["p", "1"], &[("n", "1")], "duplicate parameter n"),
            (&["p", "1", "2"], &[], "unexpected value \"2\": too many parameters"),
            (&["p"], &[("m", "1")], "unknown parameter \"m\": expected path, n, q, form"),
        ];
        for (positional, named, words) in refusals {
            assert_eq!(parse(positional, named).unwrap_err(), *words);
        }
    }
}
