//! Parsers for integers within a range.

use std::fmt::Display;
use std::str::FromStr;

use clap::builder::TypedValueParser;

/// Returns a parser for an integer from `least` to `most`.
pub fn whole<T>(least: T, most: T) -> impl TypedValueParser<Value = T>
where
    T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    move |text: &str| {
        let number = text.parse().ok();
        let allowed = number.filter(|number| (least..=most).contains(number));
        allowed.ok_or_else(|| format!("expected an integer from {least} to {most}"))
    }
}
