//! Parsing, printing and checking of policies with parameters. Each policy lists its parameters
//! once, in [`Policy::visit`], and all three use that list.

use crate::error::ParseError;
use crate::text;
use crate::tunable::{Setting, Tunable, key};
use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt;

/// Splits `name:list` into the name and the list of parameters, which [`Policy::read`] parses.
pub(crate) fn split(text: &str) -> (&str, Option<&str>) {
    text.split_once(':')
        .map_or((text, None), |(name, list)| (name, Some(list)))
}

/// Returns an error if there is a list of parameters after the name of a policy without any.
pub(crate) fn without(name: &str, list: Option<&str>) -> Result<(), ParseError> {
    match list {
        Some(list) => Err(ParseError::new(
            name,
            &format!("unexpected parameters {list:?}"),
            "no parameters",
        )),
        None => Ok(()),
    }
}

pub(crate) trait Policy: Copy + PartialEq {
    const NAME: &'static str;
    const DEFAULT: Self;

    /// Passes each parameter to `visitor`, in the order of the text form.
    fn visit(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError>;

    /// Rejects values that are valid individually but not together.
    fn agree(&self) -> Result<(), ParseError> {
        Ok(())
    }

    /// Checks every parameter against its range, then the combination of all.
    fn check(&self) -> Result<(), ParseError> {
        let mut copy = *self;
        pass(&mut copy, &mut Visitor::Check)
    }

    /// Parses `key=value,key=value`; parameters that are not listed keep their defaults.
    fn read(list: Option<&str>) -> Result<Self, ParseError> {
        let mut policy = Self::DEFAULT;
        read(&mut policy, list)?;
        Ok(policy)
    }

    /// Writes the name and the parameters that differ from their defaults.
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut copy = *self;
        show(&mut copy, f)
    }
}

/// A policy of any type. The functions that take it are compiled once, not once for each policy.
trait AnyPolicy {
    fn name(&self) -> &'static str;
    fn visit_each(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError>;
    fn agree_all(&self) -> Result<(), ParseError>;
}

impl<P: Policy> AnyPolicy for P {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn visit_each(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError> {
        self.visit(visitor)
    }

    fn agree_all(&self) -> Result<(), ParseError> {
        self.agree()
    }
}

fn pass(policy: &mut dyn AnyPolicy, visitor: &mut Visitor<'_>) -> Result<(), ParseError> {
    let visited = policy.visit_each(visitor);
    let finished = visited.and_then(|()| visitor.finish());
    let passed = finished.and_then(|()| policy.agree_all());
    passed.map_err(|error| error.within(policy.name()))
}

fn read(policy: &mut dyn AnyPolicy, list: Option<&str>) -> Result<(), ParseError> {
    match Visitor::reader(list) {
        Ok(mut reader) => pass(policy, &mut reader),
        Err(error) => Err(error.within(policy.name())),
    }
}

fn show(policy: &mut dyn AnyPolicy, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (mut text, mark) = (String::from(policy.name()), ':');
    let mut writer = Visitor::Write {
        text: &mut text,
        mark,
    };
    policy.visit_each(&mut writer).map_err(|_| fmt::Error)?;
    f.write_str(&text)
}

/// What is done with each parameter of a policy.
pub(crate) enum Visitor<'a> {
    /// Checks the value against its range.
    Check,
    /// Sets the value, and takes it out of the list of given ones.
    Read {
        given: Vec<(&'a str, &'a str)>,
        known: Vec<&'static str>,
    },
    /// Adds the value to the text of the policy if it is not the default, after a mark.
    Write { text: &'a mut String, mark: char },
}

impl<'a> Visitor<'a> {
    fn reader(list: Option<&'a str>) -> Result<Self, ParseError> {
        let mut given: Vec<(&str, &str)> = vec![];
        for part in list.into_iter().flat_map(|list| list.split(',')) {
            let Some((key, value)) = part.split_once('=') else {
                let problem = format!("invalid parameter {part:?}");
                let expected = "key=value, separated by commas";
                return Err(ParseError::new("", &problem, expected));
            };
            if given.iter().any(|&(earlier, _)| earlier == key) {
                let problem = format!("duplicate parameter {key:?}");
                return Err(ParseError::new("", &problem, "each parameter once"));
            }
            given.push((key, value));
        }
        let known = vec![];
        Ok(Self::Read { given, known })
    }

    /// Rejects given parameters that the policy does not have.
    fn finish(&self) -> Result<(), ParseError> {
        match self {
            Self::Read { given, known } if !given.is_empty() => {
                Err(text::unknown("parameter", given[0].0, known))
            }
            _ => Ok(()),
        }
    }

    /// Visits one parameter. `default` applies if the parameter is not set: it is the default of
    /// `row`, or the value of another parameter.
    pub(crate) fn parameter<T: Setting>(
        &mut self,
        row: &Tunable<T>,
        default: T,
        value: &mut T,
    ) -> Result<(), ParseError> {
        let key = key(row.name);
        match self {
            Self::Check => drop(row.check(*value)?),
            Self::Read { given, known } => {
                known.push(key);
                *value = match take(given, key) {
                    Some(text) => row.parse(text)?,
                    None => default,
                };
            }
            Self::Write { text, mark } if *value != default => {
                write(text, *mark, key, &value.show(row.unit));
                *mark = ',';
            }
            Self::Write { .. } => {}
        }
        Ok(())
    }

    /// Visits a parameter whose default is the one in its row.
    pub(crate) fn plain<T: Setting>(
        &mut self,
        row: &Tunable<T>,
        value: &mut T,
    ) -> Result<(), ParseError> {
        self.parameter(row, row.default, value)
    }
}

// Otherwise a copy in each `parameter`.
#[inline(never)]
fn take<'a>(given: &mut Vec<(&str, &'a str)>, key: &str) -> Option<&'a str> {
    let at = given.iter().position(|given| given.0 == key)?;
    Some(given.remove(at).1)
}

fn write(text: &mut String, mark: char, key: &str, value: &str) {
    *text += &format!("{mark}{key}={value}");
}

/// Checks that the first duration is at most as long as the second.
pub(crate) fn at_most(low: (&str, u64), high: (&str, u64)) -> Result<(), ParseError> {
    if low.1 <= high.1 {
        return Ok(());
    }
    let [shown_low, shown_high] = [low.1, high.1].map(text::show_time);
    let what = format!("{}={shown_low} is above {}={shown_high}", low.0, high.0);
    Err(ParseError::new(
        "",
        &what,
        &format!("{} <= {}", low.0, high.0),
    ))
}

/// Defines the struct with the parameters of a policy. Its fields are in the order of the text
/// form, each with its row in the module `tunables` of the caller.
macro_rules! parameters {
    ($(#[$doc:meta])* $type:ident, $name:literal {
        $($(#[$field_doc:meta])* $field:ident: $field_type:ty = $row:ident $(or $other:ident)?,)*
    } $(agree($($low:ident <= $high:ident),*))?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $type {
            $($(#[$field_doc])* pub $field: $field_type,)*
        }

        impl $crate::parameters::Policy for $type {
            const NAME: &'static str = $name;
            const DEFAULT: Self = Self { $($field: tunables::$row.default),* };

            fn visit(&mut self, visitor: &mut $crate::parameters::Visitor<'_>) -> Result<(), $crate::ParseError> {
                $(parameters!(@visit self, visitor, $field, $row $(, $other)?);)*
                Ok(())
            }

            fn agree(&self) -> Result<(), $crate::ParseError> {
                $($($crate::parameters::at_most((stringify!($low), self.$low), (stringify!($high), self.$high))?;)*)?
                Ok(())
            }
        }

        impl Default for $type {
            fn default() -> Self {
                <Self as $crate::parameters::Policy>::DEFAULT
            }
        }
    };
    (@visit $self:ident, $visitor:ident, $field:ident, $row:ident) => {
        $visitor.plain(&tunables::$row, &mut $self.$field)?
    };
    (@visit $self:ident, $visitor:ident, $field:ident, $row:ident, $other:ident) => {
        $visitor.parameter(&tunables::$row, $self.$other, &mut $self.$field)?
    };
}
pub(crate) use parameters;
