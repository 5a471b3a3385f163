//! The errors of this crate: why a job runs alone.

use std::fmt;
use std::io;
use std::path::Path;

/// The kind of a [`Refusal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// This system has no table.
    Unsupported,
    /// The file cannot be reached or created.
    Unreachable,
    /// The file exists, but cannot be trusted.
    Untrusted,
    /// The path leads to something other than a regular file, which no job has made as a table.
    NoFile,
    /// The file exists, but is not or no longer a table of this version.
    Damaged,
    /// Every row is taken.
    Full,
}

/// Advice that is safe for every file.
const ELSEWHERE: &str = "set TIDEGATE_TABLE to another path";

impl Kind {
    fn advice(self) -> &'static str {
        match self {
            Self::Unsupported => "there is nothing to be done",
            // It may be anything, even a file of the system: never advise removing it or changing
            // its permissions.
            Self::Unreachable | Self::Untrusted | Self::NoFile => ELSEWHERE,
            Self::Damaged => {
                "remove it, so that the next job creates a new one, or set TIDEGATE_TABLE to \
                 another path"
            }
            Self::Full => "it has room again when some of them end",
        }
    }
}

/// Why a job runs alone, in one line that names the file and says what to do.
#[derive(Debug)]
pub struct Refusal {
    kind: Kind,
    text: String,
}

impl Refusal {
    pub(crate) fn new(kind: Kind, text: String) -> Self {
        Self { kind, text }
    }

    /// The table at `path` is `what`; appends the advice for `kind`.
    pub(crate) fn of(kind: Kind, path: &Path, what: impl fmt::Display) -> Self {
        Self::advising(kind, path, what, kind.advice())
    }

    /// The file at `path` is not known to have been a table, because it is `what`. Unlike a damaged
    /// table, it may belong to another program, so the advice is not to remove it.
    pub(crate) fn no_table(path: &Path, what: impl fmt::Display) -> Self {
        Self::advising(Kind::Damaged, path, what, ELSEWHERE)
    }

    fn advising(kind: Kind, path: &Path, what: impl fmt::Display, advice: &str) -> Self {
        let path = path.display().to_string();
        Self::new(kind, format!("{} {what}; {advice}", path.escape_debug()))
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
        let what = "was cut off or cannot be read any more";
        Self::of(Kind::Damaged, path, what)
    }

    /// The kind of this refusal.
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
