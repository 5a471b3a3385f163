//! JSON objects as people read them.

use serde_json::{Map, Value};

/// `name=value` for each field.
pub fn show_fields(fields: &Map<String, Value>) -> String {
    let words: Vec<_> = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", show_value(value)))
        .collect();
    words.join(" ")
}

/// A value without the quotes of a string.
pub fn show_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
