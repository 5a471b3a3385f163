//! The report on a tree of files: digests, counts and problems.

use std::iter::Peekable;
use std::mem;
use std::vec::IntoIter;

use sha2::{Digest, Sha256};

use super::names::{printable, push_line};
use super::tree::{Entry, Folder, Outcome, Trouble, What};

/// A problem with a file or directory, or something unusual about it, to show to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong with the file or directory, or unusual about it.
    pub kind: ProblemKind,
    /// The path below the root, as bytes; empty for the root itself. See [`printable`].
    pub path: Vec<u8>,
    /// The operating system's error message; may be empty.
    pub reason: String,
}

/// The kinds of [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The file or directory could not be opened or read.
    Unreadable,
    /// The file or directory was listed but had vanished before it was read.
    Vanished,
    /// The name isn't UTF-8, or it contains control characters or backslashes. The file or
    /// directory was still processed.
    OddName,
    /// A pipe, socket or device, which was not opened.
    Special,
}

impl ProblemKind {
    /// All kinds, in the order of their declaration.
    pub const ALL: [Self; 4] = [
        Self::Unreadable,
        Self::Vanished,
        Self::OddName,
        Self::Special,
    ];

    /// Returns the kind's name, which is also the name of its count in the answer.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Vanished => "vanished",
            Self::OddName => "odd_names",
            Self::Special => "special",
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Report {
    root: Folder,
    /// Number of files that were read.
    pub files: u64,
    /// Number of bytes that were read.
    pub bytes: u64,
    /// Number of symbolic links; none was followed.
    pub links: u64,
    /// SHA-256 of the [`lines`](Self::lines) for all files.
    pub digest: [u8; 32],
    /// All problems, sorted by path.
    pub problems: Vec<Problem>,
}

impl Report {
    pub(crate) fn new(root: Folder) -> Self {
        let mut report = Self {
            root: Folder::default(),
            files: 0,
            bytes: 0,
            links: 0,
            digest: [0; 32],
            problems: Vec::new(),
        };
        let (mut hasher, mut line) = (Sha256::new(), Vec::new());
        report.trouble(root.trouble.as_ref(), &[]);
        root.walk(&mut Vec::new(), &mut |path, entry| {
            report.count(path, entry);
            if let What::File(Outcome::Read(contents)) = &entry.what {
                line.clear();
                push_line(&mut line, &contents.digest, path);
                hasher.update(&line);
            }
        });
        report.digest = hasher.finalize().into();
        Self { root, ..report }
    }

    /// Calls `take` with the checksum line of every file that was read, in byte order of the paths.
    /// `sha256sum -c`, run in the root directory, accepts the lines.
    pub fn lines(&self, mut take: impl FnMut(&[u8])) {
        let mut line = Vec::new();
        self.root.walk(&mut Vec::new(), &mut |path, entry| {
            if let What::File(Outcome::Read(contents)) = &entry.what {
                line.clear();
                push_line(&mut line, &contents.digest, path);
                take(&line);
            }
        });
    }

    /// Returns the problems of this kind, sorted by path.
    pub fn problems_of(&self, kind: ProblemKind) -> impl Iterator<Item = &Problem> {
        self.problems
            .iter()
            .filter(move |problem| problem.kind == kind)
    }

    /// Removes from the reports of two runs everything that changed on disk during or between the
    /// runs. Returns the removed paths, escaped for printing on a terminal.
    ///
    /// A difference without a change on disk stays in the reports, because it is a bug.
    pub(crate) fn settle(&mut self, other: &mut Self) -> Vec<String> {
        let mut changed = Vec::new();
        settle(
            &mut self.root,
            &mut other.root,
            &mut Vec::new(),
            &mut changed,
        );
        if !changed.is_empty() {
            for report in [self, other] {
                *report = Self::new(mem::take(&mut report.root));
            }
        }
        changed
    }

    fn count(&mut self, path: &[u8], entry: &Entry) {
        if entry.is_odd {
            self.problem(ProblemKind::OddName, path, String::new());
        }
        match &entry.what {
            What::Folder(folder) => self.trouble(folder.trouble.as_ref(), path),
            What::File(Outcome::Read(contents)) => {
                self.files += 1;
                self.bytes += contents.bytes;
            }
            What::File(Outcome::Failed(trouble)) => self.trouble(Some(trouble), path),
            What::File(Outcome::Unread) => {}
            What::Link => self.links += 1,
            What::Special => self.problem(ProblemKind::Special, path, String::new()),
        }
    }

    fn trouble(&mut self, trouble: Option<&Trouble>, path: &[u8]) {
        let Some(Trouble { vanished, reason }) = trouble else {
            return;
        };
        let kind = if *vanished {
            ProblemKind::Vanished
        } else {
            ProblemKind::Unreadable
        };
        self.problem(kind, path, reason.clone());
    }

    fn problem(&mut self, kind: ProblemKind, path: &[u8], reason: String) {
        let path = path.to_vec();
        self.problems.push(Problem { kind, path, reason });
    }
}

/// Compares two listings of the directory at `path`. Keeps the entries that are unchanged, and adds
/// the paths of all other entries to `changed`.
fn settle(one: &mut Folder, other: &mut Folder, path: &mut Vec<u8>, changed: &mut Vec<String>) {
    let mut ones = mem::take(&mut one.entries).into_iter().peekable();
    let mut others = mem::take(&mut other.entries).into_iter().peekable();
    let start = path.len();
    while let Some((left, right)) = next_pair(&mut ones, &mut others) {
        if let Some(entry) = left.as_ref().or(right.as_ref()) {
            path.extend_from_slice(entry.name.as_encoded_bytes());
        }
        match (left, right) {
            (Some(mut left), Some(mut right)) if is_same(&left, &right) => {
                if let (What::Folder(left), What::Folder(right)) = (&mut left.what, &mut right.what)
                {
                    path.push(b'/');
                    settle(left, right, path, changed);
                }
                one.entries.push(left);
                other.entries.push(right);
            }
            _ => changed.push(printable(path)),
        }
        path.truncate(start);
    }
}

/// Takes the next entry, in sorted order, from the listing that has it, or from both listings.
fn next_pair(
    ones: &mut Peekable<IntoIter<Entry>>,
    others: &mut Peekable<IntoIter<Entry>>,
) -> Option<(Option<Entry>, Option<Entry>)> {
    let (take_one, take_other) = match (ones.peek(), others.peek()) {
        (None, None) => return None,
        (Some(one), Some(other)) => {
            let order = one.order(other);
            (order.is_le(), order.is_ge())
        }
        (one, other) => (one.is_some(), other.is_some()),
    };
    Some((ones.next_if(|_| take_one), others.next_if(|_| take_other)))
}

/// Whether two entries with the same name have the same type and unchanged metadata.
fn is_same(one: &Entry, other: &Entry) -> bool {
    let vanished = |trouble: &Option<Trouble>| trouble.as_ref().map(|trouble| trouble.vanished);
    match (&one.what, &other.what) {
        (What::Folder(one), What::Folder(other)) => {
            vanished(&one.trouble) == vanished(&other.trouble)
        }
        (What::File(Outcome::Read(one)), What::File(Outcome::Read(other))) => {
            one.stamp.is_some() && one.stamp == other.stamp
        }
        (What::File(Outcome::Failed(one)), What::File(Outcome::Failed(other))) => {
            one.vanished == other.vanished
        }
        (What::Link, What::Link) | (What::Special, What::Special) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest as Run;
    use crate::program::Program;

    /// If two runs disagree about the digest of an unchanged file, the difference remains.
    #[test]
    fn wrong_digest_survives_settling() {
        let path = std::env::temp_dir().join(format!("tidegate-fault-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("file"), "contents").unwrap();
        let run = Run::new(&path);
        let (mut one, mut other) = (run.serial(&mut ()), run.serial(&mut ()));
        std::fs::remove_dir_all(&path).unwrap();
        match &mut one.root.entries[0].what {
            What::File(Outcome::Read(contents)) => contents.digest[0] ^= 1,
            other => panic!("{other:?}"),
        }
        one = Report::new(one.root);
        assert_eq!(one.settle(&mut other), Vec::<String>::new());
        assert_ne!(run.answer(&(), &one), run.answer(&(), &other));
    }
}
