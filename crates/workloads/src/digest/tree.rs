//! A tree of directories and their entries.
//!
//! Entries are sorted by the bytes of their names; a directory's name includes the slash that
//! follows it in a path. A walk that visits directories in that order yields all paths below the
//! root in byte order, so no final sort is needed.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::fs::{FileType, Metadata};
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::names;

/// A directory and its entries, as far as they could be listed.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    pub path: PathBuf,
    /// Must be sorted by [`Entry::order`].
    pub entries: Vec<Entry>,
    /// The error that made the listing incomplete, if any.
    pub trouble: Option<Trouble>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub name: OsString,
    pub is_odd: bool,
    pub what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    Folder(Box<Folder>),
    File(Outcome),
    /// A symbolic link, which is not followed.
    Link,
    /// A pipe, socket or device, which is not opened.
    Special,
}

/// What is known about the contents of a file.
#[derive(Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// The file has not been read.
    Unread,
    /// The file was read.
    Read(Contents),
    /// The file could not be read.
    Failed(Trouble),
}

/// The contents of a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Contents {
    /// The SHA-256.
    pub digest: [u8; 32],
    /// The number of bytes.
    pub bytes: u64,
    /// `None` if the file changed while it was read. Another process has no use for the stamp.
    #[serde(skip)]
    pub(crate) stamp: Option<Stamp>,
}

/// Why a file or directory could not be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trouble {
    /// Whether the file or directory was listed but has vanished or been replaced.
    pub vanished: bool,
    /// The operating system's error message.
    pub reason: String,
}

/// Metadata that changes whenever the file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    changed: Changed,
}

/// Seconds and nanoseconds of the change time, and the inode number. No program can set the change
/// time back.
#[cfg(unix)]
type Changed = (i64, i64, u64);
#[cfg(not(unix))]
type Changed = ();

impl Stamp {
    pub fn new(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            changed: changed(metadata),
        }
    }
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> Changed {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime(), metadata.ctime_nsec(), metadata.ino())
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Changed {}

impl Entry {
    /// Creates an entry in the directory at `parent`.
    pub fn new(parent: &std::path::Path, name: OsString, kind: FileType) -> Self {
        let what = if kind.is_dir() {
            What::Folder(Box::new(Folder {
                path: parent.join(&name),
                ..Folder::default()
            }))
        } else if kind.is_file() {
            What::File(Outcome::Unread)
        } else if kind.is_symlink() {
            What::Link
        } else {
            What::Special
        };
        Self::named(name, what)
    }

    pub fn named(name: OsString, what: What) -> Self {
        Self {
            is_odd: names::is_odd(&name),
            name,
            what,
        }
    }

    /// Compares two entries of the same directory by the bytes of their names, with a slash after
    /// the name of a directory.
    pub fn order(&self, other: &Self) -> Ordering {
        let key = self.what.key(self.name.as_encoded_bytes());
        key.cmp(other.what.key(other.name.as_encoded_bytes()))
    }
}

impl What {
    /// Returns what entries are sorted by: a name, or a path below the root, with a slash after that
    /// of a directory.
    pub fn key<'a>(&self, name: &'a [u8]) -> impl Iterator<Item = u8> + use<'a> {
        let slash = matches!(self, Self::Folder(_)).then_some(b'/');
        name.iter().copied().chain(slash)
    }
}

impl Folder {
    /// Calls `visit` with every entry below this directory and its relative path, in path order.
    ///
    /// `path` is the path of this directory, with a trailing slash unless it is empty. The depth of
    /// the recursion is limited, because the operating system limits the length of a path.
    pub fn walk(&self, path: &mut Vec<u8>, visit: &mut impl FnMut(&[u8], &Entry)) {
        let start = path.len();
        for entry in &self.entries {
            path.extend_from_slice(entry.name.as_encoded_bytes());
            visit(path, entry);
            if let What::Folder(folder) = &entry.what {
                path.push(b'/');
                folder.walk(path, visit);
            }
            path.truncate(start);
        }
    }
}
