//! Why a request has no proper answer.

use serde_json::{Value, json};

/// What went wrong, in words for the parent.
#[derive(Debug)]
pub enum Trouble {
    /// A parallel result is not the serial one.
    Wrong(String),
    /// The request makes no sense here, or something stood in the way.
    Refused(String),
}

impl Trouble {
    /// The answer.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Wrong(what) => json!({ "wrong": what }),
            Self::Refused(what) => json!({ "error": what }),
        }
    }
}
