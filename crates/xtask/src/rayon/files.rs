//! Files that this check copies or writes.

use std::fs;
use std::io::Error;
use std::path::{Path, PathBuf};

pub struct File {
    /// The path, relative to the folder to which the file belongs.
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

impl File {
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> File {
        let (path, bytes) = (path.into(), text.into().into_bytes());
        File { path, bytes }
    }

    /// Writes the file below `folder`, unless an identical file is there already: rewriting it
    /// would cause a rebuild.
    pub fn place(&self, folder: &Path) -> Result<(), String> {
        let path = folder.join(&self.path);
        if fs::read(&path).is_ok_and(|old| old == self.bytes) {
            return Ok(());
        }
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, &self.bytes))
            .map_err(|error| at(&path, error))
    }
}

/// Returns all files below `folder`, sorted by path.
pub fn below(folder: &Path) -> Result<Vec<File>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).map_err(|error| at(&next, error))? {
            let path = entry.map_err(|error| at(&next, error))?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).map_err(|error| at(&path, error))?;
            let path = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
            found.push(File { path, bytes });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn at(path: &Path, error: Error) -> String {
    format!("{}: {error}", path.display())
}
