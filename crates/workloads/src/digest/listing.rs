//! Splits a run: the paths of a tree's files, which may be read in any process, in any order, and a
//! [`Listing`] of everything else.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::names::{Bytes, os_string};
use super::report::Report;
use super::tree::{Entry, Folder, Outcome, Trouble, What};
use super::{Digest, walk};
use crate::program::{Program, Progress};

/// The entries of a tree except for its files.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Listing {
    /// Why the root could not be listed entirely.
    trouble: Option<Trouble>,
    entries: Vec<Listed>,
    /// The number of files.
    files: usize,
}

/// An entry, and its path below the root.
#[derive(Debug, Serialize, Deserialize)]
struct Listed {
    path: Bytes,
    kind: Kind,
}

#[derive(Debug, Serialize, Deserialize)]
enum Kind {
    Folder(Option<Trouble>),
    Link,
    Special,
}

/// Reads the file at `path`.
pub fn read(path: &Path) -> Outcome {
    Outcome::of(path, &Progress::default())
}

impl Listing {
    /// Lists the tree of the program on the current pool, without reading a file. Also returns the
    /// paths of the files below the root, in byte order.
    ///
    /// # Errors
    /// If the root is not a directory that can be listed.
    pub fn new(digest: &Digest) -> io::Result<(Self, Vec<Bytes>)> {
        digest.prepare()?;
        let mut root = digest.root();
        walk::list(&mut root, |level| {
            tidegate::for_each(level, |folder| folder.list());
        });
        let (mut entries, mut files) = (Vec::new(), Vec::new());
        root.walk(&mut Vec::new(), &mut |path, entry| {
            let path = path.into();
            let kind = match &entry.what {
                What::File(_) => return files.push(path),
                What::Folder(folder) => Kind::Folder(folder.trouble.clone()),
                What::Link => Kind::Link,
                What::Special => Kind::Special,
            };
            entries.push(Listed { path, kind });
        });
        let listing = Self {
            trouble: root.trouble,
            entries,
            files: files.len(),
        };
        Ok((listing, files))
    }

    /// Returns the report of a run that has read the files with these outcomes, in any order.
    /// Returns `None` if there are not as many as were listed, if a path occurs twice, or if the
    /// directory of a path was not listed.
    pub fn report(self, files: impl IntoIterator<Item = (Bytes, Outcome)>) -> Option<Report> {
        let files = files.into_iter();
        let mut entries: Vec<_> = files
            .map(|(path, outcome)| (path, What::File(outcome)))
            .collect();
        if entries.len() != self.files {
            return None;
        }
        entries.extend(self.entries.into_iter().map(|Listed { path, kind }| {
            let what = match kind {
                Kind::Folder(trouble) => What::Folder(Box::new(Folder {
                    trouble,
                    ..Folder::default()
                })),
                Kind::Link => What::Link,
                Kind::Special => What::Special,
            };
            (path, what)
        }));
        entries.sort_by(|(one, what), (other, others)| {
            let key = what.key(one.as_bytes());
            key.cmp(others.key(other.as_bytes()))
        });
        let mut root = Folder {
            trouble: self.trouble,
            ..Folder::default()
        };
        for (path, what) in entries {
            insert(&mut root, path.as_bytes(), what)?;
        }
        Some(Report::new(root))
    }
}

/// Appends an entry. The directories of its path are the last entries so far, because entries are in
/// the order of their paths.
fn insert(mut folder: &mut Folder, path: &[u8], what: What) -> Option<()> {
    let mut names = path.split(|byte| *byte == b'/');
    let last = names.next_back()?;
    for name in names {
        let entry = folder.entries.last_mut()?;
        folder = match &mut entry.what {
            What::Folder(folder) if entry.name == os_string(name) => folder,
            _ => return None,
        };
    }
    let name = os_string(last);
    let is_first = folder.entries.last().is_none_or(|last| last.name != name);
    is_first.then(|| folder.entries.push(Entry::named(name, what)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders whose names sort differently than the paths below them, and a file in each.
    fn report_of_parts(
        change: impl FnOnce(&mut Listing, &mut Vec<(Bytes, Outcome)>),
    ) -> Option<[String; 2]> {
        let name = format!(
            "tidegate-listing-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let root = std::env::temp_dir().join(name);
        for folder in ["a", "a.b", "a/c"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
            std::fs::write(root.join(folder).join("file"), folder).unwrap();
        }
        let digest = Digest::new(&root);
        let (mut listing, files) = Listing::new(&digest).unwrap();
        let read = |path: Bytes| {
            let outcome = read(&root.join(path.to_os_string()));
            (path, outcome)
        };
        let mut outcomes: Vec<_> = files.into_iter().map(read).collect();
        let whole = digest.serial(&mut ());
        std::fs::remove_dir_all(&root).unwrap();
        change(&mut listing, &mut outcomes);
        let parts = listing.report(outcomes)?;
        Some([whole, parts].map(|report| {
            let mut lines = Vec::new();
            report.lines(|line| lines.extend_from_slice(line));
            let lines = String::from_utf8(lines).unwrap();
            format!("{}{lines}", digest.answer(&(), &report)["digest"])
        }))
    }

    #[test]
    fn report_of_parts_is_that_of_a_run() {
        let [whole, parts] = report_of_parts(|_, outcomes| outcomes.reverse()).unwrap();
        assert_eq!(whole, parts);
        assert_eq!(parts.lines().count(), 3);
    }

    #[test]
    fn wrong_parts_have_no_report() {
        assert!(report_of_parts(|_, outcomes| drop(outcomes.pop())).is_none());
        let repeat = |_: &mut Listing, outcomes: &mut Vec<(Bytes, Outcome)>| {
            outcomes[1].0 = outcomes[0].0.clone();
        };
        assert!(report_of_parts(repeat).is_none());
        let add = |_: &mut Listing, outcomes: &mut Vec<(Bytes, Outcome)>| {
            outcomes.push((b"more"[..].into(), Outcome::Unread));
        };
        assert!(report_of_parts(add).is_none());
        for folder in ["a", "a.b", "a/c"] {
            let remove = |listing: &mut Listing, _: &mut _| {
                let entries = &mut listing.entries;
                let place = entries
                    .iter()
                    .position(|entry| entry.path.as_bytes() == folder.as_bytes());
                entries.remove(place.expect("the folder is listed"));
            };
            assert!(report_of_parts(remove).is_none(), "{folder}");
        }
    }
}
