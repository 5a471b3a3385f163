//! The record of the threads that a command has confined, and of the processors that they had.
//!
//! `tidegate exec` confines the threads of other programs to a part of their processors. It first
//! writes into its [`Record`], a file beside the table, what it is going to change. If the command
//! dies, its watcher ([`restore`]) or another process of the user ([`restore_abandoned`]) gives the
//! threads back what they had. docs/exec.md describes the protocol.
//!
//! The file consists of lines of text, and only its owner appends to it:
//!
//! ```text
//! masks 1 BOOT NAMESPACE        the format, the start of the machine, the pid namespace
//! chosen 0-1                    the processors to which threads are confined from now on
//! thread 4711 4712 98765 0-3    a thread's process, number, start time and original mask
//! quota /sys/fs/cgroup/a/b      the folder of a cgroup with a quota
//! ```
//!
//! The owner holds a lock on the file, which the kernel releases when the owner dies. So a process
//! that gets the lock may restore. As with the table, no file is trusted to which another user has
//! access.
//!
//! What only the owner of a record calls is `#[inline]`: only commands call it, and programs should
//! not have to compile it.

mod inheritance;
mod lines;
mod opened;
mod threads;

pub use crate::records::Records;
pub use inheritance::{confined, is_confined};
pub use threads::{is_named, widen_cpuset};

use crate::identity::{Identity, boot};
use crate::location::{Access, Location};
use crate::mapping;
use crate::mask::CpuMask;
use crate::refusal::{Kind, Refusal};
use crate::trusted;
use opened::{Opened, Taken, examine};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub use tidegate_policy::tunables::EXEC_VARIABLE as VARIABLE;

/// A thread, distinguished from later threads with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadId {
    /// The process to which the thread belongs.
    pub pid: u32,
    /// The thread's number; that of the first thread is `pid`.
    pub tid: u32,
    /// The thread's start time in clock ticks of the kernel, field 22 of its `stat` file.
    pub started: u64,
}

/// The length at which a record is compacted for the first time.
const COMPACT_AT: u64 = 1 << 20;

/// The record of this process, which owns it. If it is dropped without [`Record::restore`], it is
/// abandoned.
#[derive(Debug)]
pub struct Record {
    opened: Opened,
    length: u64,
    /// The length at which the record is compacted next.
    compact_at: u64,
    /// The set that was chosen last.
    chosen: Option<CpuMask>,
}

impl Record {
    /// Returns an error if this process could have no record beside the table at `location`.
    ///
    /// # Errors
    /// The folder cannot be trusted or is missing, or a part of `/proc` without which no process
    /// could restore.
    #[inline]
    pub fn check(location: &Location) -> Result<(), Refusal> {
        let folder = trusted::folder(location, Access::Repair)?;
        let owner = Identity::of_this_process();
        if !folder || owner.started == 0 || owner.namespace == 0 || boot() == 0 {
            let what = "can have no record of masks beside it: its folder or a part of /proc is \
                        missing";
            return Err(Refusal::of(Kind::Unreachable, location.path(), what));
        }
        Ok(())
    }

    /// Creates this process's record beside the table at `location`, whose folder must exist.
    ///
    /// # Errors
    /// Like [`check`](Self::check). Also returns an error if the file cannot be created, or if this
    /// process has one already.
    #[inline]
    pub fn create(location: &Location) -> Result<Self, Refusal> {
        Self::check(location)?;
        let path = location.path().with_file_name(own_name());
        let head = lines::head(boot(), Identity::of_this_process().namespace);
        Ok(Self {
            opened: Opened::create(&path, &head)?,
            length: head.len() as u64,
            compact_at: COMPACT_AT,
            chosen: None,
        })
    }

    /// Returns the path of the file.
    #[must_use]
    #[inline]
    pub fn path(&self) -> &Path {
        self.opened.path()
    }

    /// Returns whether the path still leads to the record. If it does not, because another process
    /// has removed the file, no process could restore what the record says.
    #[must_use]
    #[inline]
    pub fn is_there(&self) -> bool {
        self.opened.is_there()
    }

    /// Records the processors to which threads will be confined from now on. Call this before
    /// confining a thread to them.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or if this process is a child of the process
    /// that created it.
    #[inline]
    pub fn chosen(&mut self, set: &CpuMask) -> Result<(), Refusal> {
        // Only the last two sets count, so the same set must not take both places.
        if self.chosen == Some(*set) {
            return Ok(());
        }
        self.append(&lines::chosen(set))?;
        self.chosen = Some(*set);
        Ok(())
    }

    /// Records the original mask of a thread. Call this before confining the thread, and first for
    /// the program's first thread: its mask is also that of threads of which nothing else is known.
    /// If a confined thread sets its mask itself, call this again with that mask.
    ///
    /// # Errors
    /// Like [`chosen`](Self::chosen).
    #[inline]
    pub fn thread(&mut self, thread: ThreadId, original: &CpuMask) -> Result<(), Refusal> {
        self.append(&lines::thread(thread, original))
    }

    /// Records that the cgroup at `folder` gets a quota. Call this before writing the quota.
    ///
    /// # Errors
    /// Like [`chosen`](Self::chosen). Also returns an error if the path is not absolute or contains
    /// a line break.
    #[inline]
    pub fn quota(&mut self, folder: &Path) -> Result<(), Refusal> {
        match lines::quota(folder) {
            Some(line) => self.append(&line),
            None => {
                let what = "cannot be recorded: it is relative, or contains a line break";
                Err(Refusal::of(Kind::Unreachable, folder, what))
            }
        }
    }

    #[inline]
    fn append(&mut self, line: &[u8]) -> Result<(), Refusal> {
        self.opened.write(line, self.length)?;
        self.length += line.len() as u64;
        if self.length >= self.compact_at {
            // If the record cannot be compacted, for instance on a full disk, the long one is as
            // good.
            let _ = self.compact();
            self.compact_at = self.length.saturating_mul(2).max(COMPACT_AT);
        }
        Ok(())
    }

    /// Replaces the file with one that lacks the threads that have ended and the sets that no
    /// longer count.
    #[inline]
    fn compact(&mut self) -> Result<(), Refusal> {
        let mut lines = self.opened.lines()?;
        lines.retain_threads(threads::exists);
        let text = lines.to_text();
        self.opened.replace(&text)?;
        self.length = text.len() as u64;
        Ok(())
    }

    /// Gives the recorded threads and cgroups back what they had, and removes the record. Returns
    /// the number of threads whose mask has changed.
    ///
    /// # Errors
    /// Returns an error if the record cannot be read or removed, or if a thread must be restored
    /// later: it belongs to another user, or `/proc` is missing. Likewise if a quota must be lifted
    /// later.
    #[inline]
    pub fn restore(self) -> Result<usize, Refusal> {
        self.opened.restore()
    }
}

/// Returns the name that this process's record has or would have: the value of [`VARIABLE`] for
/// the program.
#[must_use]
#[inline]
pub fn own_name() -> String {
    let owner = Identity::of_this_process();
    format!("exec-{}-{}.masks", owner.pid, owner.started)
}

/// Waits until the owner of the record at `path` has ended, then restores and removes the record.
/// Returns whether this call did that: the owner, or another process, may have been faster.
///
/// # Errors
/// Returns an error if the file is not a record, or cannot be trusted, read or removed.
#[inline]
pub fn restore(path: &Path) -> Result<bool, Refusal> {
    match Opened::take(path, mapping::wait_for_lock)? {
        Taken::Ours(record) => record.restore().map(|_| true),
        Taken::Owned | Taken::Missing => Ok(false),
    }
}

/// Restores and removes the abandoned records beside the table at `location`, and reports all
/// records. Leaves a file alone if it is not a record that it can trust.
///
/// # Errors
/// Returns an error if the folder cannot be trusted or read.
pub fn check(location: &Location) -> Result<Records, Refusal> {
    let mut records = Records::default();
    let folder = location.path().parent().unwrap_or(Path::new("/"));
    if !trusted::folder(location, Access::Observe)? {
        return Ok(records);
    }
    let found = match names(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(records),
        Err(error) => return Err(Refusal::system(folder, "read", &error)),
    };
    let mut names = Vec::new();
    for name in &found {
        if resembles_record(name) {
            let (Ok(place) | Err(place)) = names.binary_search(&name);
            names.insert(place, name);
        }
    }
    for name in &names {
        match examine(&folder.join(name)) {
            Ok(Taken::Ours(_)) => records.restored.push(name.to_string_lossy().into()),
            Ok(Taken::Owned) => records.owned.push(name.to_string_lossy().into()),
            Ok(Taken::Missing) => {}
            Err(refusal) => records.ignored.push(refusal),
        }
    }
    Ok(records)
}

fn split(bytes: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    bytes.split(move |byte| *byte == separator)
}

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let Ok(entry) = entry else { continue };
        names.push(entry.file_name());
    }
    Ok(names)
}

/// Restores the abandoned records beside the table at `location`, and returns their number. Any
/// process that takes a seat should call this.
pub fn restore_abandoned(location: &Location) -> usize {
    check(location).map_or(0, |records| records.restored.len())
}

fn resembles_record(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"exec-") && name.ends_with(b".masks")
}

/// Returns the numbers in a name like `exec-PID-STARTTIME.masks`.
fn numbers_in(name: &str) -> Option<(u32, u64)> {
    let numbers = name.strip_prefix("exec-")?.strip_suffix(".masks")?;
    let (pid, started) = numbers.split_once('-')?;
    Some((pid.parse().ok()?, started.parse().ok()?))
}
