//! The file of a record: opened, locked, and under its name.

use super::lines::Lines;
use super::{numbers_in, threads};
use crate::identity::{Identity, boot};
use crate::location::Access;
use crate::mapping;
use crate::refusal::Refusal;
use crate::trusted::{self, FileId};
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tidegate_sync::thread::PrivateFile;

/// A record whose lock this process holds.
#[derive(Debug)]
pub(super) struct Opened {
    file: PrivateFile,
    path: PathBuf,
    name: String,
}

/// The result of trying to take over a record.
pub(super) enum Taken {
    Ours(Opened),
    /// Another process, which lives, holds the lock.
    Owned,
    Missing,
}

/// Every process locks this byte.
const LOCK_AT: u64 = 0;

impl Opened {
    /// Creates a record with this text. No other process sees it before it is complete and locked.
    #[inline]
    pub(super) fn create(path: &Path, text: &[u8]) -> Result<Self, Refusal> {
        let record = Self::unnamed(path, text)?;
        record.name_it(path)?;
        Ok(record)
    }

    #[inline]
    fn unnamed(path: &Path, text: &[u8]) -> Result<Self, Refusal> {
        let file = trusted::unnamed(path, path, text)?;
        let record = Self::of(path, PrivateFile::new(file));
        let locked = mapping::lock(record.file()?, LOCK_AT);
        locked.map_err(|error| Refusal::system(path, "locked", &error))?;
        Ok(record)
    }

    fn of(path: &Path, file: PrivateFile) -> Self {
        let name = path.file_name().unwrap_or_default();
        Self {
            name: name.to_string_lossy().into_owned(),
            path: path.to_owned(),
            file,
        }
    }

    #[inline]
    fn name_it(&self, name: &Path) -> Result<(), Refusal> {
        let named = mapping::name_file(self.file()?, name);
        named.map_err(|error| Refusal::system(name, "made", &error))
    }

    /// Opens the record at `path` and takes its lock with `lock`, which may return `false`.
    pub(super) fn take(
        path: &Path,
        lock: fn(&File, u64) -> io::Result<bool>,
    ) -> Result<Taken, Refusal> {
        loop {
            let (file, id) = match trusted::open(path, Access::Repair, trusted::check_file)? {
                trusted::Opened::Found(found) => found,
                trusted::Opened::Missing => return Ok(Taken::Missing),
                trusted::Opened::Gone => continue,
            };
            let record = Self::of(path, file);
            let locked = lock(record.file()?, LOCK_AT);
            if !locked.map_err(|error| Refusal::system(path, "locked", &error))? {
                return Ok(Taken::Owned);
            }
            // The owner replaces the file when it compacts the record, and removes it at the end.
            if id.is_at(path) {
                return Ok(Taken::Ours(record));
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the path leads to this file.
    #[inline]
    pub(super) fn is_there(&self) -> bool {
        let found = self.file().map(File::metadata);
        matches!(found, Ok(Ok(found)) if FileId::of(&found).is_at(&self.path))
    }

    fn file(&self) -> Result<&File, Refusal> {
        let what = "was opened by the parent of this process";
        let file = self.file.get();
        file.ok_or_else(|| Refusal::no_record(&self.path, what))
    }

    #[inline]
    pub(super) fn write(&self, bytes: &[u8], at: u64) -> Result<(), Refusal> {
        trusted::check_limit(&self.path, at + bytes.len() as u64)?;
        let written = self.file()?.write_all_at(bytes, at);
        written.map_err(|error| Refusal::system(&self.path, "written", &error))
    }

    pub(super) fn lines(&self) -> Result<Lines, Refusal> {
        let mut file = self.file()?;
        let mut text = Vec::new();
        let read = file.rewind().and_then(|()| file.read_to_end(&mut text));
        read.map_err(|error| Refusal::system(&self.path, "read", &error))?;
        Lines::parse(&text).map_err(|line| {
            let what = format!("is no record of masks: line {line} has no meaning");
            Refusal::no_record(&self.path, what)
        })
    }

    /// Replaces the file with a new one that has this text, and is locked as well.
    #[inline]
    pub(super) fn replace(&mut self, text: &[u8]) -> Result<(), Refusal> {
        let next = Self::unnamed(&self.path, text)?;
        let beside = self.beside();
        // Only the owner of the record uses this name, so the file is a remnant of its own.
        let _ = fs::remove_file(&beside);
        next.name_it(&beside)?;
        let renamed = fs::rename(&beside, &self.path);
        renamed.map_err(|error| Refusal::system(&self.path, "replaced", &error))?;
        *self = next;
        Ok(())
    }

    /// Returns the name of a new file before it replaces the record.
    fn beside(&self) -> PathBuf {
        self.path.with_extension("masks.new")
    }

    /// Gives the threads and cgroups back what they had, and removes the record unless a thread
    /// must be restored later. Returns the number of threads whose mask has changed.
    pub(super) fn restore(&self) -> Result<usize, Refusal> {
        let lines = self.lines()?;
        let mut restored = 0;
        let (boot, namespace) = (boot(), Identity::of_this_process().namespace);
        let is_used = !lines.chosen.is_empty() || !lines.quotas.is_empty();
        if is_used && (boot == 0 || namespace == 0) {
            let what = "cannot be restored: /proc is missing";
            return Err(Refusal::kept_record(&self.path, what));
        }
        // The threads in a record from before the machine's last boot have ended.
        if lines.boot == boot {
            if lines.namespace != namespace {
                let what = "cannot be restored from here: it is of another pid namespace";
                return Err(Refusal::no_record(&self.path, what));
            }
            restored = threads::restore(&lines, &self.name).map_err(|why| {
                let what = format!("cannot be restored: {why}");
                Refusal::kept_record(&self.path, what)
            })?;
        }
        let _ = fs::remove_file(self.beside());
        trusted::remove(&self.path).map(|()| restored)
    }
}

/// Restores the record at `path` unless its owner lives.
pub(super) fn examine(path: &Path) -> Result<Taken, Refusal> {
    let name = path.file_name().unwrap_or_default();
    if name.to_str().and_then(numbers_in).is_none() {
        let what = "is no record of masks: a record is named exec-PID-STARTTIME.masks";
        return Err(Refusal::no_record(path, what));
    }
    let taken = Opened::take(path, mapping::lock)?;
    if let Taken::Ours(record) = &taken {
        record.restore()?;
    }
    Ok(taken)
}
