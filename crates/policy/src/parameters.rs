//! Parsing, printing and checking of policies with parameters. Each policy lists its parameters
//! once, in [`Policy::visit`], and all three use that list.

use crate::error::ParseError;
use crate::text;
use crate::tunable::{Setting, Tunable};
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
            format!("unexpected parameters {list:?}"),
            "no parameters",
        )),
        None => Ok(policy),
    }
}

pub(crate) trait Policy: Copy + PartialEq {
    const NAME: &'static str;
    const DEFAULT: Self;

    /// Passes each parameter to `visitor`, in the order of the text form.
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), ParseError>;

    /// Rejects values that are valid individually but not together.
    fn agree(&self) -> Result<(), ParseError> {
        Ok(())
    }

    /// Checks every parameter against its range, then the combination of all.
    fn check(&self) -> Result<(), ParseError> {
        let mut copy = *self;
        copy.visit(&mut Check)
            .and_then(|()| self.agree())
            .map_err(|error| error.within(Self::NAME))
    }

    /// Parses `key=value,key=value`; parameters that are not listed keep their defaults.
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

pub(crate) trait Visitor {
    /// Visits one parameter. `default` applies if the parameter is not set: it is the default of
    /// `row`, or the value of another parameter.
    fn parameter<T: Setting>(
        &mut self,
        row: &Tunable<T>,
        default: T,
        value: &mut T,
    ) -> Result<(), ParseError>;

    /// Visits a parameter whose default is the one in its row.
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
                    format!("invalid parameter {part:?}"),
                    "key=value, separated by commas",
                )
            })?;
            if given.iter().any(|&(earlier, _)| earlier == key) {
                return Err(ParseError::new(
                    "",
                    format!("duplicate parameter {key:?}"),
                    "each parameter once",
                ));
            }
            given.push((key, value));
        }
        Ok(Self {
            given,
            known: vec![],
        })
    }

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

/// Checks that the first duration is at most as long as the second.
pub(crate) fn at_most(low: (&str, u64), high: (&str, u64)) -> Result<(), ParseError> {
    if low.1 <= high.1 {
        return Ok(());
    }
    let [shown_low, shown_high] = [low.1, high.1].map(text::show_time);
    let what = format!("{}={shown_low} is above {}={shown_high}", low.0, high.0);
    Err(ParseError::new(
        "",
        what,
        format!("{} <= {}", low.0, high.0),
    ))
}
