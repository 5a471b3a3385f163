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
    /// What is there is no regular file, and so nothing that anybody has made as a table.
    NoFile,
    /// It is there and is no table of this kind, or not any more.
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
            // It may be a folder or a device of the system's: nobody is to be told to remove that.
            Self::NoFile => "name another file by TIDEGATE_TABLE",
            Self::Damaged => {
                "remove it, and a new one is made, or name another file by TIDEGATE_TABLE"
            }
            Self::Full => "it has room again when some of them end",
        }
    }
}

/// The reason, in one line that names the file and says what to do.
#[derive(Debug)]
pub struct Refusal {
    kind: Kind,
    text: String,
}

impl Refusal {
    pub(crate) fn new(kind: Kind, text: String) -> Self {
        Self { kind, text }
    }

    /// The table at `path` is `what`; and what to do about it.
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
