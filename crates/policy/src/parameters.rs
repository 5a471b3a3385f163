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

/// Returns `policy`, which has no parameters, or an error if there is a list of them after its
/// name.
pub(crate) fn without<T>(name: &str, list: Option<&str>, policy: T) -> Result<T, ParseError> {
    match list {
        Some(list) => Err(ParseError::new(
            name,
            &format!("unexpected parameters {list:?}"),
            "no parameters",
        )),
        None => Ok(policy),
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

    /// Passes each parameter to `visitor`, then rejects what does not fit together.
    fn pass(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError> {
        self.visit(visitor)?;
        visitor.finish()?;
        self.agree()
    }

    /// Checks every parameter against its range, then the combination of all.
    fn check(&self) -> Result<(), ParseError> {
        let mut copy = *self;
        check(Self::NAME, &mut |visitor| copy.pass(visitor))
    }

    /// Parses `key=value,key=value`; parameters that are not listed keep their defaults.
    fn read(list: Option<&str>) -> Result<Self, ParseError> {
        let mut policy = Self::DEFAULT;
        read(Self::NAME, list, &mut |visitor| policy.pass(visitor))?;
        Ok(policy)
    }

    /// Writes the name and the parameters that differ from their defaults.
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut copy = *self;
        show(Self::NAME, f, &mut |visitor| copy.visit(visitor))
    }
}

/// Passes the parameters of some policy to a visitor. The functions that take it are compiled once,
/// not once for each policy.
type Pass<'a> = &'a mut dyn FnMut(&mut Visitor<'_>) -> Result<(), ParseError>;

fn check(name: &str, pass: Pass<'_>) -> Result<(), ParseError> {
    pass(&mut Visitor::Check).map_err(|error| error.within(name))
}

fn read(name: &str, list: Option<&str>, pass: Pass<'_>) -> Result<(), ParseError> {
    let read = Visitor::reader(list).and_then(|mut reader| pass(&mut reader));
    read.map_err(|error| error.within(name))
}

fn show(name: &str, f: &mut fmt::Formatter<'_>, pass: Pass<'_>) -> fmt::Result {
    let mut text = String::from(name);
    pass(&mut Visitor::Write(&mut text)).map_err(|_| fmt::Error)?;
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
    /// Adds the value to the text of the policy if it is not the default.
    Write(&'a mut String),
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
        match self {
            Self::Check => drop(row.check(*value)?),
            Self::Read { given, known } => {
                let key = key(row.name);
                known.push(key);
                *value = match given.iter().position(|given| given.0 == key) {
                    Some(at) => row.parse(given.remove(at).1)?,
                    None => default,
                };
            }
            Self::Write(text) if *value != default => write(text, row.name, &value.show(row.unit)),
            Self::Write(_) => {}
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

fn write(text: &mut String, name: &'static str, value: &str) {
    let mark = if text.contains(':') { ',' } else { ':' };
    *text += &format!("{mark}{}={value}", key(name));
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
