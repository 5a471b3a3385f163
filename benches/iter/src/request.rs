//! The parent's requests, one JSON object per line.
//!
//! | `do` | fields | what is done |
//! | --- | --- | --- |
//! | `sample` | `chain`, `items`, `micros`, `place` | a chain is timed for `micros` microseconds |
//! | `idle` | `millis` | the process sleeps and measures its resource usage |
//! | `depth` | `levels`, `workers`, `stack` | scopes are nested on threads with `stack` bytes |

use std::time::Duration;

use serde_json::Value;

use crate::chains::{self, Chain};
use crate::trouble::Trouble;

pub enum Request {
    Sample(Order),
    /// Sleeps for this many milliseconds.
    Idle(u64),
    /// Enters nested scopes on a new pool.
    Depth {
        levels: usize,
        workers: usize,
        /// The stack size of each worker in bytes.
        stack: usize,
    },
}

pub struct Order {
    pub chain: &'static Chain,
    pub items: usize,
    /// The total time for which the chain is called repeatedly.
    pub length: Duration,
    pub place: Place,
}

/// The place that a chain is called from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A worker. One `install` contains all calls of a sample.
    Inside,
    /// A thread outside all pools. The chain itself enters the global pool.
    Outside,
    /// A thread outside all pools. Each call is an `install` into a pool.
    Install,
}

impl Place {
    pub const ALL: [Self; 3] = [Self::Inside, Self::Outside, Self::Install];

    /// Returns the name that requests and the greeting use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inside => "inside",
            Self::Outside => "outside",
            Self::Install => "install",
        }
    }

    fn named(name: &str) -> Result<Self, Trouble> {
        let found = Self::ALL.into_iter().find(|place| place.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Trouble::Refused(format!("{name:?} is none of: {names}"))
        })
    }
}

impl Request {
    pub fn read(line: &str) -> Result<Self, Trouble> {
        let fields: Value = serde_json::from_str(line)
            .map_err(|error| Trouble::Refused(format!("{line:?} is not JSON: {error}")))?;
        match text(&fields, "do")? {
            "sample" => Ok(Self::Sample(Order {
                chain: chains::named(text(&fields, "chain")?)?,
                items: count(&fields, "items")?,
                length: Duration::from_micros(number(&fields, "micros")? as u64),
                place: Place::named(text(&fields, "place")?)?,
            })),
            "idle" => number(&fields, "millis").map(|millis| Self::Idle(millis as u64)),
            "depth" => Ok(Self::Depth {
                levels: number(&fields, "levels")?,
                workers: number(&fields, "workers")?,
                stack: number(&fields, "stack")?,
            }),
            other => Err(Trouble::Refused(format!(
                "{other:?} is none of: sample, idle, depth"
            ))),
        }
    }
}

fn text<'a>(fields: &'a Value, name: &str) -> Result<&'a str, Trouble> {
    fields[name].as_str().ok_or_else(|| missing(fields, name))
}

/// Reads a field that must be an integer of at least 0.
fn count(fields: &Value, name: &str) -> Result<usize, Trouble> {
    let count = fields[name].as_u64();
    count
        .and_then(|count| usize::try_from(count).ok())
        .ok_or_else(|| missing(fields, name))
}

/// Reads a field that must be an integer of at least 1.
fn number(fields: &Value, name: &str) -> Result<usize, Trouble> {
    match count(fields, name)? {
        0 => Err(missing(fields, name)),
        number => Ok(number),
    }
}

fn missing(fields: &Value, name: &str) -> Trouble {
    Trouble::Refused(format!("{name} is missing or unfit in {fields}"))
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
        assert!(refusal("{").contains("not JSON"));
        assert!(refusal("{}").contains("do is missing"));
        for millis in [-1, 0] {
            let line = format!(r#"{{"do":"idle","millis":{millis}}}"#);
            assert!(refusal(&line).contains("millis"));
        }
        let sample = |chain: &str, place: &str| {
            format!(r#"{{"do":"sample","chain":"{chain}","items":0,"micros":1,"place":"{place}"}}"#)
        };
        assert!(refusal(&sample("zip", "inside")).contains("none of: map_sum"));
        assert!(refusal(&sample("map_sum", "above")).contains("none of: inside"));
        assert!(Request::read(&sample("map_sum", "outside")).is_ok());
    }
}
