//! A folder has one `run` at a time, which owns the jobs that the folder names.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;
use crate::files::{self, host};

const NAME: &str = "run.lock";

/// A process that was killed may hold its lock for a moment.
const PATIENCE: Duration = Duration::from_secs(1);

/// Holds the folder until it is dropped. The kernel drops it if the process is killed.
pub struct Lock(#[allow(dead_code, reason = "the open file is the lock")] File);

impl Lock {
    /// Takes the folder, or fails if another `run` has it. A file system without locks gives it to
    /// both.
    pub fn take(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(NAME);
        let failed = |error| files::unwritable(folder, &error);
        let open = files::open_to_append(&path)?;
        let end = Instant::now() + PATIENCE;
        while !locks(&open, false) {
            if Instant::now() >= end {
                return Err(refused(&path));
            }
            thread::sleep(Duration::from_millis(10));
        }
        let owner = format!("process {} on {}", std::process::id(), host());
        let written = open
            .set_len(0)
            .and_then(|()| (&open).write_all(owner.as_bytes()));
        written.map_err(failed)?;
        Ok(Self(open))
    }
}

/// Returns the process of the `run` that works in the folder, if there is one.
pub fn owner(folder: &Path) -> Option<String> {
    let path = folder.join(NAME);
    // A shared lock, so that two looks at the folder do not take each other for a `run`.
    let is_taken = files::open(&path).is_ok_and(|open| !locks(&open, true));
    is_taken.then(|| named(&path))
}

/// Returns the process that the file of the lock names.
fn named(path: &Path) -> String {
    let owner = files::read(path).unwrap_or_default();
    if owner.is_empty() {
        "another process".to_owned()
    } else {
        String::from_utf8_lossy(&owner).into_owned()
    }
}

fn refused(path: &Path) -> Error {
    let (owner, path) = (named(path), path.display());
    Error::elsewhere(format!(
        "{path}: {owner} is already running in this folder: wait for it or stop it; if that machine has crashed, remove this file"
    ))
}

/// Takes the lock, until the file is closed. Returns false if another process has it.
fn locks(file: &File, is_shared: bool) -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{FlockOperation, flock};
        use rustix::io::Errno;
        let operation = if is_shared {
            FlockOperation::NonBlockingLockShared
        } else {
            FlockOperation::NonBlockingLockExclusive
        };
        flock(file, operation) != Err(Errno::WOULDBLOCK)
    }
    #[cfg(not(unix))]
    {
        let _ = (file, is_shared);
        true
    }
}
