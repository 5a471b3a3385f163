//! The fifo with the free tokens.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use rustix::io::{Errno, FdFlags, fcntl_setfd, ioctl_fionread};

/// The byte that stands for a token, as in `make`.
const TOKEN: u8 = b'+';

pub(super) struct Fifo {
    path: String,
    /// Never waits.
    file: File,
}

impl Fifo {
    /// Creates an empty fifo that only this user can open.
    pub(super) fn create() -> io::Result<Self> {
        let folder = std::env::temp_dir();
        let usable = folder.to_str().filter(|folder| is_usable(folder));
        let folder = usable.unwrap_or("/tmp");
        let process = std::process::id();
        let mut number = 0;
        let path = loop {
            let path = format!("{folder}/tidegate-exec-{process}-{number}.fifo");
            match mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR) {
                Ok(()) => break path,
                // A killed process had this number.
                Err(Errno::EXIST) => number += 1,
                Err(error) => return Err(error.into()),
            }
        };
        let mut options = OpenOptions::new();
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
        options.read(true).write(true);
        let opened = options.custom_flags(flags.bits() as i32).open(&path);
        match opened {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => {
                let _ = std::fs::remove_file(&path);
                Err(error)
            }
        }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Opens the fifo for reading and for writing, with flags of their own, in such a way that
    /// processes started from now on inherit both.
    pub(super) fn inheritable(&self) -> io::Result<[File; 2]> {
        let read = File::open(&self.path)?;
        let write = OpenOptions::new().write(true).open(&self.path)?;
        for file in [&read, &write] {
            fcntl_setfd(file, FdFlags::empty())?;
        }
        Ok([read, write])
    }

    /// Counts the free tokens.
    pub(super) fn count(&self) -> usize {
        ioctl_fionread(&self.file).map_or(0, |count| count as usize)
    }

    /// Adds tokens. Returns how many there was room for.
    pub(super) fn put(&self, tokens: usize) -> usize {
        (&self.file).write(&vec![TOKEN; tokens]).unwrap_or(0)
    }

    /// Takes up to `tokens` free tokens. Returns how many.
    pub(super) fn take(&self, tokens: usize) -> usize {
        (&self.file).read(&mut vec![0; tokens]).unwrap_or(0)
    }
}

/// Whether clients that run in other folders find a fifo in `folder`, although spaces separate the
/// flags of `make`.
pub(super) fn is_usable(folder: &str) -> bool {
    folder.starts_with('/') && !folder.contains(char::is_whitespace)
}

impl AsFd for Fifo {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Fifo {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
