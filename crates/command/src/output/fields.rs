//! Formats JSON objects for human readers.

use serde_json::{Map, Number, Value};

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
