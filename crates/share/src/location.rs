//! Finds the path of the table.

use crate::file;
use crate::layout::VERSION;
use crate::refusal::{Kind, Refusal};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use tidegate_policy::tunables::TABLE_VARIABLE as VARIABLE;

/// The environment variable that holds the path of the user's own folder, which exists until
/// logout.
const RUNTIME_FOLDER: &str = "XDG_RUNTIME_DIR";

/// The purpose of opening a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// To read. Does not create the table.
    Observe,
    /// To read, and to free the rows of dead jobs. Does not create the table.
    Repair,
    /// To take a seat. Creates the table if it is missing.
    Take,
}

/// The path of the table, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    path: PathBuf,
    /// The table's folder, if a job may create it.
    folder: Option<PathBuf>,
    why: &'static str,
}

impl Location {
    /// Finds the table of this process's user and environment.
    ///
    /// # Errors
    /// Returns an error if the system does not support tables, if the program runs with more
    /// privileges than its user, or if the path is not absolute.
    pub fn find() -> Result<Self, Refusal> {
        let user = file::user()?;
        let variable = |name: &str| std::env::var_os(name);
        let own = |folder: &Path| file::is_folder_of(user, folder);
        let found = Self::among(variable, user, Path::is_dir, own);
        if found.path.is_relative() {
            let what = "is not an absolute path, and would be another file in each folder";
            return Err(Refusal::of(Kind::Unreachable, &found.path, what));
        }
        Ok(found)
    }

    /// Returns the location of a table at `path`, whose folder must exist.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            folder: None,
            why: "named by the caller",
        }
    }

    fn among(
        variable: impl Fn(&str) -> Option<OsString>,
        user: u32,
        exists: impl Fn(&Path) -> bool,
        own: impl Fn(&Path) -> bool,
    ) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        if let Some(path) = set(VARIABLE) {
            return Self {
                path: path.into(),
                folder: None,
                why: VARIABLE,
            };
        }
        let within = |folder: PathBuf, why| Self {
            path: folder.join(format!("table.v{VERSION}")),
            folder: Some(folder),
            why,
        };
        // A relative path would lead to a different file in each working directory; the XDG
        // standard requires such a value to be ignored. A process may have changed its user but
        // kept the variable; it must then not leave the new user's files in the former user's
        // folder.
        let runtime = set(RUNTIME_FOLDER).map(PathBuf::from);
        let runtime = runtime.filter(|folder| folder.is_absolute() && own(folder));
        if let Some(runtime) = runtime {
            return within(runtime.join("tidegate"), RUNTIME_FOLDER);
        }
        let has_memory = exists(Path::new("/dev/shm"));
        let why = match (has_memory, set(RUNTIME_FOLDER)) {
            (true, None) => "XDG_RUNTIME_DIR is not set",
            (true, Some(_)) => "XDG_RUNTIME_DIR is no folder of this user",
            (false, None) => "XDG_RUNTIME_DIR is not set, and there is no /dev/shm",
            (false, Some(_)) => {
                "XDG_RUNTIME_DIR is no folder of this user, and there is no /dev/shm"
            }
        };
        let parent = Path::new(if has_memory { "/dev/shm" } else { "/tmp" });
        within(parent.join(format!("tidegate-{user}")), why)
    }

    /// Returns the path of the table.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the table's folder, if a job may create it. The job must also check the folder.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns a short explanation of why this path was chosen.
    #[must_use]
    pub fn why(&self) -> &str {
        self.why
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(variables: &[(&str, &str)], memory: bool) -> Location {
        let variable = |name: &str| {
            let set = variables.iter().find(|(variable, _)| *variable == name);
            set.map(|(_, value)| value.into())
        };
        let own = |folder: &Path| folder == Path::new("/run/user/7");
        Location::among(variable, 7, |_| memory, own)
    }

    fn among(variables: &[(&str, &str)], memory: bool) -> String {
        located(variables, memory).path.display().to_string()
    }

    #[test]
    fn reason_separates_unset_from_unusable_variable() {
        for memory in [true, false] {
            let unset = located(&[], memory).why;
            assert!(unset.starts_with("XDG_RUNTIME_DIR is not set"), "{unset}");
            let bad = located(&[(RUNTIME_FOLDER, "here")], memory).why;
            assert!(bad.starts_with("XDG_RUNTIME_DIR is no folder"), "{bad}");
        }
    }

    /// `TIDEGATE_TABLE` is tried first, then the runtime folder, `/dev/shm` and `/tmp`.
    #[test]
    fn path_candidates_are_tried_in_order() {
        let both = [(VARIABLE, "/x/t"), (RUNTIME_FOLDER, "/run/user/7")];
        assert_eq!(among(&both, true), "/x/t");
        assert_eq!(among(&both[1..], true), "/run/user/7/tidegate/table.v1");
        assert_eq!(among(&[], true), "/dev/shm/tidegate-7/table.v1");
        assert_eq!(among(&[], false), "/tmp/tidegate-7/table.v1");
    }

    /// Empty variables, relative folders and other users' folders are skipped.
    #[test]
    fn unusable_path_candidates_are_skipped() {
        assert_eq!(
            among(&[(VARIABLE, ""), (RUNTIME_FOLDER, "")], true),
            "/dev/shm/tidegate-7/table.v1"
        );
        for folder in ["here", "/run/user/8"] {
            assert_eq!(
                among(&[(RUNTIME_FOLDER, folder)], true),
                "/dev/shm/tidegate-7/table.v1"
            );
        }
    }
}
