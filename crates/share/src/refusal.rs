//! The errors of this crate, which explain why a job does not share the machine.

use std::fmt;
use std::io;
use std::path::Path;

/// The category of a [`Refusal`], so that callers can distinguish the causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// This system does not support tables.
    Unsupported,
    /// The file cannot be reached or created.
    Unreachable,
    /// The file exists, but cannot be trusted.
    Untrusted,
    /// The path leads to something other than a regular file, so it is not a table that a job
    /// created.
    NoFile,
    /// The file is not a table of this version, or is damaged.
    Damaged,
    /// Every row is taken.
    Full,
}

/// Advice that is harmless no matter what the file is.
const ELSEWHERE: &str = "set TIDEGATE_TABLE to another path";

impl Kind {
    fn advice(self) -> &'static str {
        match self {
            Self::Unsupported => "there is nothing to be done",
            // The file may be anything, even one of the system's. So never advise the user to
            // remove it or to change its permissions.
            Self::Unreachable | Self::Untrusted | Self::NoFile => ELSEWHERE,
            Self::Damaged => {
                "remove it, so that the next job creates a new one, or set TIDEGATE_TABLE to \
                 another path"
            }
            Self::Full => "it has room again when some of them end",
        }
    }
}

/// Why a job does not share the machine: one line that names the file and says what to do.
#[derive(Debug)]
pub struct Refusal {
    kind: Kind,
    text: String,
}

impl Refusal {
    pub(crate) fn new(kind: Kind, text: String) -> Self {
        Self { kind, text }
    }

    /// Creates a refusal with the message that the table at `path` is `what`, and the advice for
    /// `kind`.
    pub(crate) fn of(kind: Kind, path: &Path, what: impl fmt::Display) -> Self {
        Self::advising(kind, path, &what, kind.advice())
    }

    /// Creates a refusal for a file at `path` that is `what`, and so may never have been a table.
    /// Unlike a damaged table, it may belong to another program, so the advice is not to remove it.
    pub(crate) fn no_table(path: &Path, what: impl fmt::Display) -> Self {
        Self::advising(Kind::Damaged, path, &what, ELSEWHERE)
    }

    /// Creates a refusal for a file at `path` that is named like a record of masks, but is `what`.
    #[cfg(target_os = "linux")]
    pub(crate) fn no_record(path: &Path, what: impl fmt::Display) -> Self {
        let advice = "remove it if it is not the file of another program";
        Self::advising(Kind::Damaged, path, &what, advice)
    }

    /// Creates a refusal for a record of masks at `path` that stays because it is `what`.
    #[cfg(target_os = "linux")]
    pub(crate) fn kept_record(path: &Path, what: impl fmt::Display) -> Self {
        let advice = "a later job of Tidegate tries again";
        Self::advising(Kind::Unreachable, path, &what, advice)
    }

    fn advising(kind: Kind, path: &Path, what: &dyn fmt::Display, advice: &str) -> Self {
        let path = path.display().to_string();
        Self::new(kind, format!("{} {what}; {advice}", path.escape_debug()))
    }

    /// Creates a refusal from an error that the system reported for `path`.
    pub(crate) fn system(path: &Path, what: &str, error: &io::Error) -> Self {
        Self::of(
            Kind::Unreachable,
            path,
            format_args!("cannot be {what}: {error}"),
        )
    }

    /// Creates a refusal for a table at `path` that has become shorter.
    pub(crate) fn cut_off(path: &Path) -> Self {
        let what = "was cut off or cannot be read any more";
        Self::of(Kind::Damaged, path, what)
    }

    /// Returns the kind of this refusal.
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
