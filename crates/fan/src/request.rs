//! What a plan asks the program for.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Split;
use crate::engine::words::line;
use crate::plan::Header;

/// What a plan asks the program for, as its header has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    pub pieces: usize,
    /// A list of words if the program stores its command line.
    pub arguments: Value,
}

impl Request {
    pub fn of<P: Split>(header: &Header<P>) -> Self {
        let header = serde_json::to_value(header).expect("arguments are JSON");
        serde_json::from_value(header).expect("a header has these")
    }

    /// Returns the words if the program stores its command line.
    pub fn words(&self) -> Option<Vec<&str>> {
        let words = self.arguments.as_array()?.iter();
        words.map(Value::as_str).collect()
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            Some(words) => write!(f, "{}, --pieces {}", line(&words), self.pieces),
            None => write!(f, "{}, --pieces {}", self.arguments, self.pieces),
        }
    }
}
