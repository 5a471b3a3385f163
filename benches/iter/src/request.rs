//! What the parent asks for, a JSON object a line.
//!
//! | `do` | with | asks for |
//! |---|---|---|
//! | `sample` | `chain`, `items`, `times`, `workers`, `place` | the time of a call of the chain, called so many times |
//! | `idle` | `millis` | what the process uses while it sleeps so long |
//! | `depth` | `levels`, `workers`, `stack` | scopes inside of scopes, on threads with so many bytes of stack |

use serde_json::Value;

use crate::chains::{self, Chain};
use crate::trouble::Trouble;

/// A request.
pub enum Request {
    /// Time a chain.
    Sample(Order),
    /// Sleep for so many milliseconds.
    Idle(u64),
    /// Enter scopes inside of scopes.
    Depth {
        /// How many.
        levels: usize,
        /// On a pool with so many workers.
        workers: usize,
        /// Each with so many bytes of stack.
        stack: usize,
    },
}

/// Which chain is timed, and how.
pub struct Order {
    /// The chain.
    pub chain: &'static Chain,
    /// On so many items.
    pub items: usize,
    /// Called so many times.
    pub times: usize,
    /// By a pool with so many workers; of no meaning for the serial version.
    pub workers: usize,
    /// From where.
    pub place: Place,
}

/// Where a chain is called from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its serial version, from a thread of no pool.
    Serial,
    /// From a worker: all calls within one `install`.
    Inside,
    /// From a thread of no pool: each call is an `install`.
    Outside,
}

impl Request {
    /// Reads a line.
    pub fn read(line: &str) -> Result<Self, Trouble> {
        let fields: Value = serde_json::from_str(line)
            .map_err(|error| Trouble::Refused(format!("{line:?} is not JSON: {error}")))?;
        match text(&fields, "do")? {
            "sample" => Ok(Self::Sample(Order {
                chain: chains::named(text(&fields, "chain")?)?,
                items: number(&fields, "items")?,
                times: number(&fields, "times")?,
                workers: number(&fields, "workers")?,
                place: place(text(&fields, "place")?)?,
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

fn place(name: &str) -> Result<Place, Trouble> {
    match name {
        "serial" => Ok(Place::Serial),
        "inside" => Ok(Place::Inside),
        "outside" => Ok(Place::Outside),
        _ => Err(Trouble::Refused(format!(
            "{name:?} is none of: serial, inside, outside"
        ))),
    }
}

fn text<'a>(fields: &'a Value, name: &str) -> Result<&'a str, Trouble> {
    fields[name].as_str().ok_or_else(|| missing(fields, name))
}

/// A number from one on: none of them has a meaning when it is zero.
fn number(fields: &Value, name: &str) -> Result<usize, Trouble> {
    let number = fields[name].as_u64().filter(|number| *number > 0);
    number
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| missing(fields, name))
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
    fn what_is_missing_or_unknown_is_named() {
        assert!(refusal("{").contains("not JSON"));
        assert!(refusal("{}").contains("do is missing"));
        assert!(refusal(r#"{"do":"idle","millis":-1}"#).contains("millis"));
        let sample = |chain: &str, place: &str| {
            format!(
                r#"{{"do":"sample","chain":"{chain}","items":1,"times":1,"workers":1,"place":"{place}"}}"#
            )
        };
        assert!(refusal(&sample("zip", "inside")).contains("none of: map-sum"));
        assert!(refusal(&sample("map-sum", "above")).contains("none of: serial"));
        assert!(Request::read(&sample("map-sum", "serial")).is_ok());
    }
}
