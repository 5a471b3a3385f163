//! Finds the threads that a record describes, and gives them back the processors that they had.

use super::lines::Lines;
use super::{ThreadId, VARIABLE, is_confined, names, split};
use crate::identity::{parent_of, start_of};
use crate::mask::CpuMask;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tidegate_sync::thread::{CpuSet, Tid};

/// The most passes over all threads. Each pass finds the threads that unrestored threads have
/// created during the one before it, so two or three are the rule.
const PASSES: usize = 16;

/// Restores all threads and cgroups, and returns the number of threads whose mask has changed.
/// `name` is the record's name.
///
/// # Errors
/// Returns why a quota or a thread remains as it is, because the kernel does not allow this process
/// to change it.
pub(super) fn restore(lines: &Lines, name: &str) -> Result<usize, String> {
    let mut lifted = Ok(());
    for folder in &lines.quotas {
        // All are tried, even if one fails.
        lifted = lifted.and(lift_quota(folder));
    }
    if lines.chosen.is_empty() {
        return lifted.map(|()| 0);
    }
    let mut restored = 0;
    let mut refused = None;
    for _ in 0..PASSES {
        refused = None;
        let found = pass(lines, name, &mut refused);
        restored += found;
        if found == 0 {
            break;
        }
    }
    match refused {
        Some(tid) => Err(format!("thread {tid} belongs to another user")),
        None => lifted.map(|()| restored),
    }
}

/// Restores the threads that are found now, and returns their number. Sets `refused` to a thread
/// that cannot be restored, if there is one.
fn pass(lines: &Lines, name: &str, refused: &mut Option<u32>) -> usize {
    let mut restored = 0;
    let mut restore = |thread: ThreadId, original: &CpuMask| {
        if must_restore(thread, original, &lines.chosen) {
            let set: CpuSet = original.cpus().collect();
            if set.bind(Tid::numbered(thread.tid)) {
                restored += 1;
            } else if exists(thread) {
                *refused = Some(thread.tid);
            }
        }
    };
    for (thread, original) in &lines.threads {
        if exists(*thread) {
            restore(*thread, original);
        }
    }
    let masks = confined_masks(lines);
    for &pid in &numbers(Path::new("/proc")) {
        for (thread, original) in &unlisted(lines, &masks, name, pid) {
            restore(*thread, original);
        }
    }
    restored
}

/// Returns the masks that a thread of the program can have if it is confined.
fn confined_masks(lines: &Lines) -> Vec<CpuMask> {
    let mut masks = Vec::new();
    for set in &lines.chosen {
        for (_, original) in &lines.threads {
            let mask = original.intersection(set);
            if !masks.contains(&mask) {
                masks.push(mask);
            }
        }
    }
    masks
}

/// Returns the threads of process `pid` that are confined and that the record does not list, with
/// their original masks, if the process belongs to the program.
fn unlisted(lines: &Lines, confined: &[CpuMask], name: &str, pid: u32) -> Vec<(ThreadId, CpuMask)> {
    // The masks come first, because they are cheaper to read than environments.
    let mut tids = Vec::new();
    for &tid in &numbers(&folder_of(pid).join("task")) {
        if let Some(now) = mask(tid).filter(|now| confined.contains(now)) {
            tids.push((tid, now));
        }
    }
    let mut unlisted = Vec::new();
    if tids.is_empty() || !is_part(lines, name, pid) {
        return unlisted;
    }
    let parent = parent_of(&folder_of(pid)).unwrap_or(0);
    for &(tid, now) in &tids {
        if let Some(thread) = thread(pid, tid).filter(|it| lines.place(*it).is_err()) {
            unlisted.push((thread, lines.inherited(now, pid, parent)));
        }
    }
    unlisted
}

/// Returns whether process `pid` belongs to the program: whether the record lists the first thread,
/// or the environment names the record, of the process or one of its ancestors.
fn is_part(lines: &Lines, name: &str, pid: u32) -> bool {
    let is_listed = |first| lines.place(first).is_ok();
    let mut next = Some(pid);
    while let Some(pid) = next {
        if thread(pid, pid).is_some_and(is_listed) || is_named(pid, name) {
            return true;
        }
        next = parent_of(&folder_of(pid));
    }
    false
}

/// Returns whether a thread's mask is confined to one of the chosen sets. A thread with another
/// mask has chosen its processors itself.
fn must_restore(thread: ThreadId, original: &CpuMask, chosen: &[CpuMask]) -> bool {
    let is_confined = |now| now != *original && is_confined(original, chosen, &now);
    mask(thread.tid).is_some_and(is_confined)
}

fn mask(tid: u32) -> Option<CpuMask> {
    let set = CpuSet::of(Tid::numbered(tid))?;
    Some(CpuMask::from_cpus(set.cpus()))
}

/// Returns whether the thread still exists.
pub(super) fn exists(thread: ThreadId) -> bool {
    self::thread(thread.pid, thread.tid) == Some(thread)
}

fn thread(pid: u32, tid: u32) -> Option<ThreadId> {
    let folder = folder_of(pid).join("task").join(tid.to_string());
    let started = start_of(&folder)?;
    Some(ThreadId { pid, tid, started })
}

fn folder_of(pid: u32) -> PathBuf {
    Path::new("/proc").join(pid.to_string())
}

/// Returns the numbers that name entries of `folder`.
fn numbers(folder: &Path) -> Vec<u32> {
    let mut numbers = Vec::new();
    for name in &names(folder).unwrap_or_default() {
        if let Some(number) = name.to_str().and_then(|name| name.parse().ok()) {
            numbers.push(number);
        }
    }
    numbers
}

/// Returns whether the environment of process `pid` names the record: whether the command that owns
/// the record has started the process or an ancestor of it.
#[must_use]
pub fn is_named(pid: u32, name: &str) -> bool {
    let environment = fs::read(folder_of(pid).join("environ")).unwrap_or_default();
    let wanted = format!("{VARIABLE}={name}");
    split(&environment, 0).any(|variable| variable == wanted.as_bytes())
}

/// Removes the quota of the cgroup at `folder`, and the processors that were chosen for it.
///
/// # Errors
/// Returns the first error, unless it means that the cgroup or the controller is gone.
fn lift_quota(folder: &Path) -> Result<(), String> {
    let judge = |file: &str, written: io::Result<()>| match written {
        Err(error) if !is_gone(&error) => {
            let path = folder.join(file);
            Err(format!("cannot write to {}: {error}", path.display()))
        }
        _ => Ok(()),
    };
    let quota = judge("cpu.max", overwrite(&folder.join("cpu.max"), "max\n"));
    quota.and(judge("cpuset.cpus", widen_cpuset(folder)))
}

/// Lets the processes of the cgroup at `folder` run on all processors of its parent.
///
/// # Errors
/// Returns an error if the cgroup has no file `cpuset.cpus`, or if the kernel refuses to write it.
///
/// # Examples
/// ```
/// let error = tidegate_share::confinement::widen_cpuset("/no/such/cgroup".as_ref());
/// assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::NotFound);
/// ```
pub fn widen_cpuset(folder: &Path) -> io::Result<()> {
    let file = folder.join("cpuset.cpus");
    // An empty line means the processors of the parent, also later, as do all that are possible. The
    // kernel refuses the first while the cgroup has processes.
    let widened = overwrite(&file, "\n");
    let effective = folder.join("../cpuset.cpus.effective");
    let others = [Path::new("/sys/devices/system/cpu/possible"), &effective];
    let widen = |all: &Path| overwrite(&file, &fs::read_to_string(all)?);
    others.into_iter().fold(widened, |widened, all| {
        widened.or_else(|error| widen(all).map_err(|_| error))
    })
}

fn overwrite(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Returns whether the file of a cgroup does not exist. One that was opened before the cgroup was
/// removed cannot be written.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ENODEV)
}
