//! Splits a run: a [`Listing`] of the tree, whose files may be read in any process, in any order.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::names::{Bytes, os_string};
use super::report::Report;
use super::tree::{Entry, Folder, Outcome, Trouble, What};
use super::{Digest, walk};
use crate::program::{Program, Progress};

/// The entries of a tree, in the order of their paths.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Listing {
    /// Why the root could not be listed entirely.
    trouble: Option<Trouble>,
    entries: Vec<Listed>,
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
    File,
    Link,
    Special,
}

/// Reads the file at `path`.
pub fn read(path: &Path) -> Outcome {
    Outcome::of(path, &Progress::default())
}

impl Listing {
    /// Lists the tree of the program, without reading a file.
    ///
    /// # Errors
    /// If the root is not a directory that can be listed.
    pub fn new(digest: &Digest) -> io::Result<Self> {
        digest.prepare()?;
        let mut root = digest.root();
        walk::list(&mut root);
        let mut entries = Vec::new();
        root.walk(&mut Vec::new(), &mut |path, entry| {
            let kind = match &entry.what {
                What::Folder(folder) => Kind::Folder(folder.trouble.clone()),
                What::File(_) => Kind::File,
                What::Link => Kind::Link,
                What::Special => Kind::Special,
            };
            let path = path.into();
            entries.push(Listed { path, kind });
        });
        let trouble = root.trouble;
        Ok(Self { trouble, entries })
    }

    /// Returns the paths of the files below the root.
    pub fn files(&self) -> impl Iterator<Item = &Bytes> {
        let files = self.entries.iter();
        let files = files.filter(|entry| matches!(entry.kind, Kind::File));
        files.map(|entry| &entry.path)
    }

    /// Returns the report of a run that has read the files with these outcomes, one for each of
    /// [`files`](Self::files). Returns `None` if there are not as many, or if a path does not follow
    /// that of its directory.
    pub fn report(self, outcomes: impl IntoIterator<Item = Outcome>) -> Option<Report> {
        let mut outcomes = outcomes.into_iter();
        let mut root = Folder {
            trouble: self.trouble,
            ..Folder::default()
        };
        for Listed { path, kind } in self.entries {
            let what = match kind {
                Kind::Folder(trouble) => What::Folder(Box::new(Folder {
                    trouble,
                    ..Folder::default()
                })),
                Kind::File => What::File(outcomes.next()?),
                Kind::Link => What::Link,
                Kind::Special => What::Special,
            };
            insert(&mut root, path.as_bytes(), what)?;
        }
        outcomes.next().is_none().then(|| Report::new(root))
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
    folder.entries.push(Entry::named(os_string(last), what));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders whose names sort differently than the paths below them, and a file in each.
    fn report_of_parts(
        change: impl FnOnce(&mut Listing, &mut Vec<Outcome>),
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
        let mut listing = Listing::new(&digest).unwrap();
        let files = listing.files();
        let mut outcomes: Vec<_> = files
            .map(|path| read(&root.join(path.to_os_string())))
            .collect();
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
        let [whole, parts] = report_of_parts(|_, _| {}).unwrap();
        assert_eq!(whole, parts);
        assert_eq!(parts.lines().count(), 3);
    }

    #[test]
    fn wrong_parts_have_no_report() {
        assert!(report_of_parts(|_, outcomes| drop(outcomes.pop())).is_none());
        assert!(report_of_parts(|_, outcomes| outcomes.push(Outcome::Unread)).is_none());
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
