//! A folder has one `run` at a time, which owns the jobs that the folder names.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;
use crate::publish::host;

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
        let failed = |error| Error::at(&path, &error);
        let open = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(failed)?;
        let end = Instant::now() + PATIENCE;
        while is_taken(&open) {
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

fn refused(path: &Path) -> Error {
    let owner = fs::read_to_string(path).unwrap_or_default();
    let owner = match &owner[..] {
        "" => "another process",
        owner => owner,
    };
    let path = path.display();
    Error::elsewhere(format!(
        "{path}: {owner} is already running in this folder: wait for it or stop it; if that machine has crashed, remove this file"
    ))
}

/// Takes the lock. Returns true if another process has it.
fn is_taken(file: &File) -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{FlockOperation, flock};
        use rustix::io::Errno;
        flock(file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        false
    }
}
