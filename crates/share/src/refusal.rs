//! Why a job runs alone.

use std::fmt;
use std::io;
use std::path::Path;

/// What kind of reason it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// This system has no table.
    Unsupported,
    /// The file cannot be reached or made.
    Unreachable,
    /// It is there and is not to be trusted.
    Untrusted,
    /// It is there and is no table of this kind, or not any more.
    Damaged,
    /// Every row is taken.
    Full,
}

/// The reason, in one line that names the file.
#[derive(Debug)]
pub struct Refusal {
    kind: Kind,
    text: String,
}

impl Refusal {
    pub(crate) fn new(kind: Kind, text: String) -> Self {
        Self { kind, text }
    }

    /// The table at `path` is `what`.
    pub(crate) fn of(kind: Kind, path: &Path, what: impl fmt::Display) -> Self {
        Self::new(
            kind,
            format!("{} {what}", path.display().to_string().escape_debug()),
        )
    }

    /// The system refused to do something to `path`.
    pub(crate) fn system(path: &Path, what: &str, error: &io::Error) -> Self {
        Self::of(
            Kind::Unreachable,
            path,
            format_args!("cannot be {what}: {error}"),
        )
    }

    /// The table at `path` is shorter than it was.
    pub(crate) fn cut_off(path: &Path) -> Self {
        let what = "was cut off or cannot be read any more; remove it, and a new one is made";
        Self::of(Kind::Damaged, path, what)
    }

    /// What kind of reason it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refusal {}
