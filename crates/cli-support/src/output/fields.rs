//! The fields of JSON objects: for programs, for the help, and formatted for human readers.

use serde_json::{Map, Number, Value};

use super::WIDTH;

/// A field of the JSON object of a `T`: its name, what the help says about it, and its value.
pub struct JsonField<T>(pub &'static str, pub &'static str, pub fn(&T) -> Value);

/// Returns a list of [`JsonField`]s. Each row has a name, what the help says, and the value of `$of`.
#[macro_export]
macro_rules! json_fields {
    ($of:ident: $($name:ident $meaning:literal = $value:expr;)*) => {
        &[$($crate::output::JsonField(
            stringify!($name),
            $meaning,
            |$of| ::serde_json::json!($value),
        )),*]
    };
}

/// Returns the JSON object with these fields.
pub fn to_json<T>(fields: &[JsonField<T>], of: &T) -> Map<String, Value> {
    let field = |JsonField(name, _, value): &JsonField<T>| ((*name).to_owned(), value(of));
    fields.iter().map(field).collect()
}

/// Returns what the help says about these fields.
pub fn describe<T>(fields: &[JsonField<T>]) -> String {
    describe_all(
        fields
            .iter()
            .map(|JsonField(name, meaning, _)| (*name, *meaning)),
    )
}

/// Returns the lines of a help on fields, which are given by their names and their meanings.
pub fn describe_all<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut help = String::new();
    for (name, meaning) in fields {
        let mut line = format!("  {name}");
        for (place, word) in meaning.split_whitespace().enumerate() {
            line += if place == 0 { ":" } else { "" };
            if line.len() + 1 + word.len() > WIDTH {
                help += &format!("{line}\n");
                line = "   ".to_owned();
            }
            line += &format!(" {word}");
        }
        help += &format!("{line}\n");
    }
    help
}

/// Returns `name=value` for each field.
pub fn show_fields(fields: &Map<String, Value>) -> String {
    let words: Vec<_> = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", show_value(value)))
        .collect();
    words.join(" ")
}

/// Formats a value: strings without quotes, fractions with six digits.
pub fn show_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => show_fraction(number),
        other => other.to_string(),
    }
}

fn show_fraction(number: &Number) -> String {
    let rounded = number
        .as_f64()
        .and_then(|value| format!("{value:.5e}").parse::<f64>().ok())
        .and_then(Number::from_f64);
    rounded.as_ref().unwrap_or(number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fractions_are_rounded() {
        let show = |value: Value| show_value(&value);
        assert_eq!(show(0.012_345_678_9.into()), "0.0123457");
        assert_eq!(show(1_234.567_89.into()), "1234.57");
        assert_eq!(show(0.124_875.into()), "0.124875");
        assert_eq!(show(0.5.into()), "0.5");
        assert_eq!(show(0.0.into()), "0.0");
        assert_eq!(show(123_456_789.into()), "123456789");
    }
}
