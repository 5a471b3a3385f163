//! A machine made up for a test: a tree of files below the temporary directory, removed when dropped.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cpus::{Below, Files};

pub(super) struct MadeUp {
    root: PathBuf,
    denied: Vec<PathBuf>,
}

impl MadeUp {
    pub(super) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: only the numbers must differ, nothing is published with them.
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tidegate-machine-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        std::fs::create_dir(&root).expect("the temporary directory is writable");
        Self {
            root,
            denied: Vec::new(),
        }
    }

    /// With a file, and the directories that lead to it.
    pub(super) fn with(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let place = self.root.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(place.parent().expect("below the root")).expect("a directory");
        std::fs::write(place, content).expect("a file");
        self
    }

    /// With an empty directory.
    pub(super) fn with_dir(self, path: &str) -> Self {
        std::fs::create_dir_all(self.root.join(path.trim_start_matches('/'))).expect("a directory");
        self
    }

    /// Refuses to read anything at or below `path`, as the system does to those who have no permission; tests that run
    /// as root cannot have this from real files.
    pub(super) fn denying(mut self, path: &str) -> Self {
        self.denied.push(path.into());
        self
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }
}

impl Files for MadeUp {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.denied.iter().any(|denied| path.starts_with(denied)) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Below(&self.root).read(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        Below(&self.root).is_dir(path)
    }
}

impl Drop for MadeUp {
    fn drop(&mut self) {
        // A leftover in the temporary directory fails no test.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}
