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

impl Kind {
    fn advice(self) -> &'static str {
        match self {
            Self::Unsupported => "there is nothing to be done",
            Self::Unreachable => "TIDEGATE_TABLE may name another file",
            Self::Untrusted => {
                "remove it or make it yours alone, or name another file by TIDEGATE_TABLE"
            }
            // It may be one of the system's folders or devices: never advise removing it.
            Self::NoFile => "name another file by TIDEGATE_TABLE",
            Self::Damaged => {
                "remove it, and a new one is made, or name another file by TIDEGATE_TABLE"
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
        let (path, advice) = (path.display().to_string(), kind.advice());
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
