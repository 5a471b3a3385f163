//! The reasons why a request cannot be answered properly.

use serde_json::{Value, json};

/// A failure, with its text for the parent.
#[derive(Debug)]
pub enum Trouble {
    /// A parallel result differs from the serial one.
    Wrong(String),
    /// The request is invalid or cannot be carried out.
    Refused(String),
}

impl Trouble {
    /// Returns the answer that reports this failure.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Wrong(what) => json!({ "wrong": what }),
            Self::Refused(what) => json!({ "error": what }),
        }
    }
}
