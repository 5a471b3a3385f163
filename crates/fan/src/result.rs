//! The file of a result: a line with what the piece found, and a trailer.
//!
//! The trailer is the last line, so a file that was cut off has none. It names the plan and the
//! item, and has the length and the SHA-256 of what precedes it.

use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::{self, sha256};
use crate::name::Name;
use crate::{Done, Error, Split};

/// The last line of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trailer {
    pub plan: String,
    pub item: Name,
    /// The bytes before the trailer.
    pub length: usize,
    pub sha256: String,
    /// The weights of the items that the piece left.
    pub rest: Vec<u64>,
    pub host: String,
    pub pid: u32,
    /// When the piece began, in seconds since 1970.
    pub began: f64,
    pub seconds: f64,
}

/// Who ran a piece, and when.
#[derive(Clone, Debug)]
pub struct Origin {
    pub host: String,
    pub pid: u32,
    pub began: f64,
    pub seconds: f64,
}

/// A result as it is published.
pub struct Written {
    pub trailer: Trailer,
    pub bytes: Vec<u8>,
}

impl Written {
    pub fn new<P: Split>(
        plan: &str,
        item: &Name,
        done: &Done<P::Item, P::Out>,
        origin: Origin,
    ) -> Result<Self, Error> {
        let refused = |what, error| {
            Error::never(format!(
                "what item {item} has found cannot be {what} JSON: {error}"
            ))
        };
        let mut bytes = serde_json::to_vec(done).map_err(|error| refused("written as", error))?;
        // JSON has no NaN, for example: it becomes `null`, which is no number.
        serde_json::from_slice::<Done<P::Item, P::Out>>(&bytes)
            .map_err(|error| refused("read back from", error))?;
        bytes.push(b'\n');
        let trailer = Trailer {
            plan: plan.to_owned(),
            item: item.clone(),
            length: bytes.len(),
            sha256: sha256(&bytes),
            rest: done.rest.iter().map(|rest| rest.weight).collect(),
            host: origin.host,
            pid: origin.pid,
            began: origin.began,
            seconds: origin.seconds,
        };
        serde_json::to_writer(&mut bytes, &trailer).expect("a trailer is JSON");
        bytes.push(b'\n');
        Ok(Self { trailer, bytes })
    }

    /// Reads and checks a result. Returns `None` if there is none.
    pub fn read(path: &Path, plan: &str, item: &Name) -> Result<Option<Self>, Error> {
        let bytes = match files::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::at(path, &error)),
        };
        let refused = |why: &str| Error::perhaps(format!("{} {why}", path.display()));
        let torn = || refused("is torn: remove it, and run again");
        let lines = bytes.strip_suffix(b"\n").ok_or_else(torn)?;
        let start = lines.iter().rposition(|byte| *byte == b'\n');
        let start = start.ok_or_else(torn)? + 1;
        let trailer: Trailer = serde_json::from_slice(&lines[start..]).map_err(|_| torn())?;
        if trailer.length != start || trailer.sha256 != sha256(&bytes[..start]) {
            return Err(torn());
        }
        if trailer.plan != plan {
            return Err(refused(
                "belongs to another plan: merge it with that plan, or use another folder",
            ));
        }
        if trailer.item != *item {
            let why = format!("is the result of item {}, not of {item}", trailer.item);
            return Err(refused(&why));
        }
        Ok(Some(Self { trailer, bytes }))
    }

    /// Returns what the piece found and left. `path` is that of the result.
    pub fn done<P: Split>(&self, path: &Path) -> Result<Done<P::Item, P::Out>, Error> {
        serde_json::from_slice(&self.bytes[..self.trailer.length]).map_err(|error| {
            let path = path.display();
            Error::never(format!("{path} cannot be read by this build: {error}"))
        })
    }

    /// Whether two results may stand for the same item. They differ without a fault if a piece has
    /// left work to others, because that depends on the time.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let is_split = |written: &Self| !written.trailer.rest.is_empty();
        is_split(self) || is_split(other) || self.trailer.sha256 == other.trailer.sha256
    }
}

/// Returns the error of two results that contradict each other.
pub fn differ(item: &Name, published: &Path, other: &Path) -> Error {
    let [published, other] = [published, other].map(Path::display);
    Error::never(format!(
        "item {item} has two results: {published} and {other} differ; the program does not always compute the same, or its input has changed, or a file is damaged: remove {other} to keep the first, or the folder to begin anew"
    ))
}
