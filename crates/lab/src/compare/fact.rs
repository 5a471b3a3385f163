//! A conclusion from a comparison, as text and as JSON.

use std::fmt;

use serde_json::{Value, json};

pub struct Fact {
    what: String,
    value: Value,
    words: String,
}

impl Fact {
    /// Creates a fact. `words` states `value` in the printed text.
    pub fn new(what: String, value: Value, words: String) -> Self {
        Self { what, value, words }
    }

    pub fn to_json(&self) -> Value {
        json!({ "what": self.what, "value": self.value })
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.words)
    }
}
