//! A machine made up for a test. Its files are in the temporary directory, and are removed on drop.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::files::{Files, Root};

pub(crate) struct MadeUp {
    root: PathBuf,
    denied: Vec<PathBuf>,
}

impl MadeUp {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: the numbers only have to differ; nothing else is published through them.
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tidegate-machine-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        std::fs::create_dir(&root).expect("the temporary directory is writable");
        Self {
            root,
            denied: Vec::new(),
        }
    }

    /// Adds a file and its parent directories, or replaces the file.
    pub(crate) fn with(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let place = self.root.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(place.parent().expect("below the root")).expect("a directory");
        std::fs::write(place, content).expect("a file");
        self
    }

    pub(crate) fn with_dir(self, path: &str) -> Self {
        std::fs::create_dir_all(self.root.join(path.trim_start_matches('/'))).expect("a directory");
        self
    }

    /// Denies permission to read `path` and everything below it.
    ///
    /// File modes would not work, because tests may run as root.
    pub(crate) fn denying(mut self, path: &str) -> Self {
        self.denied.push(path.into());
        self
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

impl Files for MadeUp {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.denied.iter().any(|denied| path.starts_with(denied)) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Root(&self.root).read(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        Root(&self.root).is_dir(path)
    }
}

impl Drop for MadeUp {
    fn drop(&mut self) {
        // If this fails, a directory is left behind, which must not fail the test.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}
