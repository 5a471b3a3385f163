//! What a comparison concludes: a figure, in words and for programs.

use std::fmt;

use serde_json::{Value, json};

/// A conclusion.
pub struct Fact {
    what: String,
    value: Value,
    words: String,
}

impl Fact {
    /// A figure, which people read as `words`.
    pub fn new(what: String, value: Value, words: String) -> Self {
        Self { what, value, words }
    }

    /// The conclusion for programs.
    pub fn to_json(&self) -> Value {
        json!({ "what": self.what, "value": self.value })
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.words)
    }
}
