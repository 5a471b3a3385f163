//! The table of a trace that describes tasks.

use super::bytes::{put, take, take_bytes};
use alloc::string::String;
use alloc::vec::Vec;

/// Where the tasks that [`Event::TaskBegins`](super::Event::TaskBegins) refers to were spawned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskOrigin {
    /// The name of the tasks; empty if they have none.
    pub name: String,
    /// The place in the source, as `FILE:LINE:COLUMN`.
    pub at: String,
}

impl TaskOrigin {
    /// Returns the name or, if the tasks have none, the place.
    #[must_use]
    pub fn label(&self) -> &str {
        match &self.name[..] {
            "" => &self.at,
            name => name,
        }
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        for text in [&self.name, &self.at] {
            put(bytes, text.len() as u64);
            bytes.extend_from_slice(text.as_bytes());
        }
    }

    pub(super) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut text = || {
            let length = take(bytes)?;
            String::from_utf8(take_bytes(bytes, length)?.to_vec()).ok()
        };
        Some(Self {
            name: text()?,
            at: text()?,
        })
    }
}
