//! Whole numbers within a range: whatever is none is answered with the range.

use std::fmt::Display;
use std::str::FromStr;

use clap::builder::TypedValueParser;

/// The most repetitions of anything: each is remembered until the end.
const MOST_REPETITIONS: u32 = 100_000;

/// Reads a whole number.
pub fn whole<T>(least: T, most: T) -> impl TypedValueParser<Value = T>
where
    T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    move |text: &str| {
        let number = text.parse().ok();
        let allowed = number.filter(|number| (least..=most).contains(number));
        allowed.ok_or_else(|| format!("allowed: a whole number from {least} to {most}"))
    }
}

/// Reads how often something is to be repeated.
pub fn repetitions() -> impl TypedValueParser<Value = u32> {
    whole(1, MOST_REPETITIONS)
}
