//! Parsers for integers within a range.

use clap::builder::TypedValueParser;
use tidegate_fan::whole;

/// The maximum number of repetitions. It is limited because each result is kept until the end.
const MOST_REPETITIONS: u32 = 100_000;

/// Returns a parser for a number of repetitions.
pub fn repetitions() -> impl TypedValueParser<Value = u32> {
    whole(1, MOST_REPETITIONS)
}
