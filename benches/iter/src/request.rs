//! The parent's requests, one JSON object per line.
//!
//! | `do` | fields | what is done |
//! | --- | --- | --- |
//! | `sample` | `chain`, `items`, `micros`, `place` | a chain is timed for `micros` microseconds |
//! | `idle` | `millis` | the process sleeps and measures its resource usage |
//! | `depth` | `levels`, `workers`, `stack` | scopes are nested on threads with `stack` bytes |

use std::num::NonZero;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::chains::{CHAINS, Chain};
use crate::trouble::Trouble;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Request {
    Sample(Order),
    Idle {
        millis: NonZero<u64>,
    },
    /// Enters nested scopes on a new pool.
    Depth {
        levels: NonZero<usize>,
        workers: NonZero<usize>,
        /// The stack size of each worker in bytes.
        stack: NonZero<usize>,
    },
}

#[derive(Deserialize)]
pub struct Order {
    #[serde(deserialize_with = "known")]
    pub chain: &'static Chain,
    pub items: usize,
    /// The total time for which the chain is called repeatedly.
    pub micros: NonZero<u64>,
    pub place: Place,
}

/// The place that a chain is called from.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// A worker. One `install` contains all calls of a sample.
    Inside,
    /// A thread outside all pools. The chain itself enters the global pool.
    Outside,
    /// A thread outside all pools. Each call is an `install` into a pool.
    Install,
}

impl Request {
    pub fn read(line: &str) -> Result<Self, Trouble> {
        serde_json::from_str(line).map_err(|error| Trouble::Refused(format!("{line}: {error}")))
    }
}

/// Reads the name of a chain.
fn known<'de, D: Deserializer<'de>>(name: D) -> Result<&'static Chain, D::Error> {
    let name = String::deserialize(name)?;
    let found = CHAINS.iter().find(|chain| chain.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = CHAINS.iter().map(|chain| chain.name).collect();
        D::Error::custom(format!("{name:?} is none of: {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> String {
        match Request::read(line) {
            Err(Trouble::Refused(why)) => why,
            _ => panic!("{line} is accepted"),
        }
    }

    #[test]
    fn bad_fields_are_named() {
        assert!(refusal("{}").contains("missing field `do`"));
        for millis in [-1, 0] {
            let line = format!(r#"{{"do":"idle","millis":{millis}}}"#);
            assert!(refusal(&line).contains("expected a nonzero u64"));
        }
        let sample = |chain: &str, place: &str| {
            format!(r#"{{"do":"sample","chain":"{chain}","items":0,"micros":1,"place":"{place}"}}"#)
        };
        assert!(refusal(&sample("zip", "inside")).contains("none of: map_sum"));
        assert!(refusal(&sample("map_sum", "above")).contains("expected one of `inside`"));
        assert!(Request::read(&sample("map_sum", "outside")).is_ok());
    }
}
