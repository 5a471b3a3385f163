//! What all policies with parameters share: each lists its parameters once ([`Policy::visit`]), and the list serves to
//! read them from text, to show those that differ from their defaults, and to check them.

use crate::error::ParseError;
use crate::text;
use crate::tunable::{Setting, Tunable};
use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt;

/// Parts `name:list`; the list is that of [`Policy::read`].
pub(crate) fn split(text: &str) -> (&str, Option<&str>) {
    text.split_once(':')
        .map_or((text, None), |(name, list)| (name, Some(list)))
}

/// Refuses a list of parameters behind the name of a policy that has none.
pub(crate) fn without<T>(name: &str, list: Option<&str>, policy: T) -> Result<T, ParseError> {
    match list {
        Some(list) => Err(ParseError::new(
            name,
            format!("{list:?} is not known"),
            "no parameters",
        )),
        None => Ok(policy),
    }
}

/// A policy that has parameters.
pub(crate) trait Policy: Copy + PartialEq {
    const NAME: &'static str;
    const DEFAULT: Self;

    /// Shows each parameter to `visitor`, in the order of the text form.
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), ParseError>;

    /// Refuses values that are fine one by one but not together.
    fn agree(&self) -> Result<(), ParseError> {
        Ok(())
    }

    /// Checks every parameter against its range, and all of them together.
    fn check(&self) -> Result<(), ParseError> {
        let mut copy = *self;
        copy.visit(&mut Check)
            .and_then(|()| self.agree())
            .map_err(|error| error.within(Self::NAME))
    }

    /// Reads `key=value,key=value`; what is not named keeps its default.
    fn read(list: Option<&str>) -> Result<Self, ParseError> {
        let mut policy = Self::DEFAULT;
        let mut read = || {
            let mut reader = Reader::new(list)?;
            policy.visit(&mut reader)?;
            reader.finish()?;
            policy.agree()
        };
        read()
            .map_err(|error| error.within(Self::NAME))
            .map(|()| policy)
    }

    /// Writes the name and the parameters that differ from their defaults.
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer {
            text: String::from(Self::NAME),
            mark: ':',
        };
        let mut copy = *self;
        copy.visit(&mut writer).map_err(|_| fmt::Error)?;
        f.write_str(&writer.text)
    }
}

/// Gets to see each parameter of a policy.
pub(crate) trait Visitor {
    /// `default` is what the parameter is unless somebody sets it: that of `row`, or another parameter's value.
    fn parameter<T: Setting>(
        &mut self,
        row: &Tunable<T>,
        default: T,
        value: &mut T,
    ) -> Result<(), ParseError>;

    /// A parameter whose default is that of its row.
    fn plain<T: Setting>(&mut self, row: &Tunable<T>, value: &mut T) -> Result<(), ParseError> {
        self.parameter(row, row.default, value)
    }
}

struct Check;

impl Visitor for Check {
    fn parameter<T: Setting>(
        &mut self,
        row: &Tunable<T>,
        _: T,
        value: &mut T,
    ) -> Result<(), ParseError> {
        row.check(*value).map(|_| ())
    }
}

struct Writer {
    text: String,
    mark: char,
}

impl Visitor for Writer {
    fn parameter<T: Setting>(
        &mut self,
        row: &Tunable<T>,
        default: T,
        value: &mut T,
    ) -> Result<(), ParseError> {
        if *value != default {
            self.text.push(self.mark);
            self.text
                .push_str(&format!("{}={}", row.key(), value.show(row.unit)));
            self.mark = ',';
        }
        Ok(())
    }
}

struct Reader<'a> {
    given: Vec<(&'a str, &'a str)>,
    known: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    fn new(list: Option<&'a str>) -> Result<Self, ParseError> {
        let mut given: Vec<(&str, &str)> = vec![];
        for part in list.into_iter().flat_map(|list| list.split(',')) {
            let (key, value) = part.split_once('=').ok_or_else(|| {
                ParseError::new(
                    "",
                    format!("{part:?} is not a parameter"),
                    "key=value, separated by commas",
                )
            })?;
            if given.iter().any(|&(earlier, _)| earlier == key) {
                return Err(ParseError::new(
                    "",
                    format!("{key} is given twice"),
                    "each key once",
                ));
            }
            given.push((key, value));
        }
        Ok(Self {
            given,
            known: vec![],
        })
    }

    /// Refuses what no parameter asked for.
    fn finish(self) -> Result<(), ParseError> {
        match self.given.first() {
            Some((key, _)) => Err(text::unknown("parameter", key, &self.known)),
            None => Ok(()),
        }
    }
}

impl Visitor for Reader<'_> {
    fn parameter<T: Setting>(
        &mut self,
        row: &Tunable<T>,
        default: T,
        value: &mut T,
    ) -> Result<(), ParseError> {
        self.known.push(row.key());
        *value = match self.given.iter().position(|&(key, _)| key == row.key()) {
            Some(index) => row.parse(self.given.remove(index).1)?,
            None => default,
        };
        Ok(())
    }
}

/// The error for two times of which the first must not be longer than the second.
pub(crate) fn at_most(low: (&str, u64), high: (&str, u64)) -> Result<(), ParseError> {
    if low.1 <= high.1 {
        return Ok(());
    }
    let [shown_low, shown_high] = [low.1, high.1].map(text::show_time);
    let what = format!("{}={shown_low} is above {}={shown_high}", low.0, high.0);
    Err(ParseError::new(
        "",
        what,
        format!("{} at most {}", low.0, high.0),
    ))
}
