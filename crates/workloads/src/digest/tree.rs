//! A folder, what lies in it, and what is known of it.
//!
//! Entries are kept in the order of their bytes, a folder's name counted with the slash that follows
//! it in a path. Walking folders in that order yields all paths below the root in the order of
//! their bytes, so nothing needs to be sorted at the end.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::fs::{FileType, Metadata};
use std::path::PathBuf;
use std::time::SystemTime;

use super::names;

/// A folder and what is known to lie in it.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// What lies in it, in order.
    pub entries: Vec<Entry>,
    /// Why it could not be listed to its end.
    pub trouble: Option<Trouble>,
}

/// A name in a folder.
#[derive(Debug)]
pub(crate) struct Entry {
    pub name: OsString,
    pub is_odd: bool,
    pub what: What,
}

/// What an entry is.
#[derive(Debug)]
pub(crate) enum What {
    Folder(Box<Folder>),
    File(Outcome),
    /// A symbolic link, which is not followed.
    Link,
    /// A pipe, socket or device, which is not opened.
    Special,
}

/// What came of reading a file.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was not read yet.
    Unread,
    Read(Contents),
    Failed(Trouble),
}

/// What a file held.
#[derive(Debug)]
pub(crate) struct Contents {
    pub digest: [u8; 32],
    pub bytes: u64,
    /// None if the file changed while it was read.
    pub stamp: Option<Stamp>,
}

/// Why a file or folder could not be read.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// Whether it was there and is no more.
    pub vanished: bool,
    pub reason: String,
}

/// What the system says of a file and changes whenever the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    changed: Changed,
}

/// Seconds, nanoseconds and inode of a change that no program can set back.
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
    /// An entry of the folder at `parent`.
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
        Self {
            is_odd: names::is_odd(&name),
            name,
            what,
        }
    }

    /// Where this entry stands among those of its folder.
    pub fn order(&self, other: &Self) -> Ordering {
        fn key<'a>(name: &'a OsStr, what: &What) -> impl Iterator<Item = u8> + 'a {
            let slash = matches!(what, What::Folder(_)).then_some(b'/');
            name.as_encoded_bytes().iter().copied().chain(slash)
        }
        key(&self.name, &self.what).cmp(key(&other.name, &other.what))
    }
}

impl Folder {
    /// Calls `visit` with every entry below and its path from here, in the order of the paths.
    ///
    /// `path` is the path of this folder, with a slash at its end unless it is empty. The recursion
    /// is as deep as folders lie in each other, which the system's longest path limits.
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
