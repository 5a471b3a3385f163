//! Computes the SHA-256 of every file below a path, and one digest of the whole tree.
//!
//! The tree's digest is the SHA-256 of the lines that `sha256sum` would print for its files, with
//! paths relative to the root and in byte order. Directories are listed in parallel and files are
//! read in parallel. One task reads each file in pieces, so memory use doesn't grow with the size
//! of files.
//!
//! An entry that can't be processed doesn't stop the run. Links are counted but never followed;
//! pipes, sockets and devices are counted but never opened. Entries that can't be read or have
//! vanished are recorded as a [`Problem`]. A path that is too long for the operating system counts
//! as unreadable.
//!
//! If the tree changes, two runs over it may give different answers. A run reads each file's
//! metadata before and after its contents, and [`Program::settle`] removes the entries that
//! changed.
//!
//! A run crosses file system boundaries: it reads pseudo files, such as those in `/proc`, like
//! regular ones. It can't detect that a directory is replaced by a link between the check and the
//! open.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::parameter::{Kind, Parameter, ParameterError, Preset, Values};
use crate::program::{Answer, Field, Program, Progress, answer, field};
use crate::runtime::Runtime;

mod listing;
mod names;
mod read;
mod report;
mod tree;
mod walk;

pub use listing::{Listing, read};
pub use names::{Bytes, hex, printable};
pub use report::{Problem, ProblemKind, Report};
pub use tree::{Contents, Outcome, Trouble};

use tree::Folder;

/// The program `digest`, which computes the digest of a tree of files.
#[derive(Debug)]
pub struct Digest {
    path: PathBuf,
    progress: Arc<Progress>,
}

impl Digest {
    /// Creates the program for the tree below `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            progress: Arc::default(),
        }
    }

    /// Returns the root of the tree.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn root(&self) -> Folder {
        self.progress.restart();
        Folder {
            path: self.path.clone(),
            ..Folder::default()
        }
    }

    fn error(&self, kind: ErrorKind, what: &str) -> io::Error {
        let path = printable(self.path.as_os_str().as_encoded_bytes());
        io::Error::new(kind, format!("{path}: {what}"))
    }
}

impl Program for Digest {
    const NAME: &'static str = "digest";
    const SUMMARY: &'static str = "SHA-256 of every file in a directory tree";
    const PARAMETERS: &'static [Parameter] = &[Parameter {
        name: "path",
        positional: true,
        kind: Kind::Path,
        preset: Preset::Required,
        meaning: "root directory",
    }];
    const READS_FILES: bool = true;
    #[rustfmt::skip]
    const RESULT: &'static [Field] = &[
        field("digest", "SHA-256 of the whole tree: of all files' checksum lines"),
        field("files", "files read"),
        field("bytes", "bytes read"),
        field("links", "symbolic links, not followed"),
        field("unreadable", "files and directories that could not be read"),
        field("vanished", "files and directories that disappeared during the run"),
        field("odd_names", "file names that are not UTF-8 or contain control characters or backslashes"),
        field("special", "pipes, sockets and devices, not opened"),
    ];

    type Input = ();
    type Output = Report;

    fn from_values(values: &Values) -> Result<Self, ParameterError> {
        Ok(Self::new(values.path("path")?))
    }

    fn parameters(&self) -> Answer {
        let path = printable(self.path.as_os_str().as_encoded_bytes());
        answer([("path", path.into())])
    }

    fn prepare(&self) -> io::Result<()> {
        let kind = fs::symlink_metadata(&self.path)
            .map_err(|error| self.error(error.kind(), &error.to_string()))?
            .file_type();
        let refused = if kind.is_symlink() {
            "is a symbolic link, which is not followed: pass the directory that it points to"
        } else if kind.is_file() {
            "is a file: pass its directory"
        } else if !kind.is_dir() {
            "is not a directory"
        } else {
            return match fs::read_dir(&self.path) {
                Ok(_) => Ok(()),
                Err(error) => Err(self.error(error.kind(), &error.to_string())),
            };
        };
        Err(self.error(ErrorKind::NotADirectory, refused))
    }

    fn serial(&self, (): &mut ()) -> Report {
        let mut root = self.root();
        walk::serial(&mut root, &self.progress);
        Report::new(root)
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> Report {
        let mut root = self.root();
        walk::parallel::<R>(fork, &mut root, &self.progress);
        Report::new(root)
    }

    fn answer(&self, (): &(), report: &Report) -> Answer {
        let mut fields = answer([
            ("digest", hex(&report.digest).into()),
            ("files", report.files.into()),
            ("bytes", report.bytes.into()),
            ("links", report.links.into()),
        ]);
        for kind in ProblemKind::ALL {
            let count = report.problems_of(kind).count();
            fields.insert(kind.name().to_owned(), count.into());
        }
        fields
    }

    fn settle(&self, one: &mut Report, other: &mut Report) -> Vec<String> {
        one.settle(other)
    }

    fn progress(&self) -> Option<&Arc<Progress>> {
        Some(&self.progress)
    }
}
