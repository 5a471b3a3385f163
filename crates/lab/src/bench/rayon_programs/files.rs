//! Reads, collects and writes the files of packages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tidegate_command::failure::Failure;

/// A package's files, keyed by their paths relative to the package's folder.
#[derive(Default)]
pub struct Files(BTreeMap<PathBuf, Vec<u8>>);

impl Files {
    /// Reads every file below `folder`.
    pub fn below(folder: &Path) -> Result<Self, Failure> {
        let mut files = Self::default();
        files.add(folder, Path::new(""))?;
        Ok(files)
    }

    /// Adds every file below the subfolder `part` of `folder`.
    pub fn add(&mut self, folder: &Path, part: &Path) -> Result<(), Failure> {
        let next = folder.join(part);
        for entry in fs::read_dir(&next).map_err(|error| at(&next, &error))? {
            let path = entry.map_err(|error| at(&next, &error))?.path();
            let inside = path.strip_prefix(folder).unwrap_or(&path);
            if path.is_dir() {
                self.add(folder, inside)?
            } else {
                self.insert(inside, read(&path)?)
            }
        }
        Ok(())
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), bytes.into());
    }

    /// Removes the text file at `path` and returns its text.
    pub fn take(&mut self, path: &str) -> Result<String, Failure> {
        let missing = || Failure::Impossible(format!("the package has no {path}"));
        let bytes = self.0.remove(Path::new(path)).ok_or_else(missing)?;
        String::from_utf8(bytes).map_err(|error| at(Path::new(path), &error))
    }

    /// Writes the files into `folder`.
    pub fn place(&self, folder: &Path) -> Result<(), Failure> {
        let mut files = self.0.iter();
        files.try_for_each(|(path, bytes)| place(&folder.join(path), bytes))
    }
}

pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| at(path, &error))
}

/// Writes a file unless it already has this content, because cargo would rebuild everything that
/// depends on the file.
pub fn place(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, bytes))
        .map_err(|error| at(path, &error))
}

/// Returns a failure that names `path` and states `what` as the reason.
pub fn at(path: &Path, what: &dyn std::fmt::Display) -> Failure {
    Failure::Impossible(format!("{}: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_copied_with_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        place(&from.join("Cargo.toml"), b"[package]").unwrap();
        place(&from.join("src/a/b.rs"), b"//! B.").unwrap();
        let mut files = Files::below(&from).unwrap();
        assert_eq!(files.take("Cargo.toml").unwrap(), "[package]");
        assert!(files.take("Cargo.toml").is_err());
        files.place(&to).unwrap();
        assert_eq!(read(&to.join("src/a/b.rs")).unwrap(), b"//! B.");
        assert!(!to.join("Cargo.toml").exists());
    }
}
