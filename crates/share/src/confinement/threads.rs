//! Finds the threads that a record describes, and gives them back the processors that they had.

use super::lines::Lines;
use super::{ThreadId, VARIABLE, confined};
use crate::identity::{parent_of, start_of};
use crate::mask::CpuMask;
use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::iter;
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
    let lifted = lines.quotas.iter().map(|folder| lift_quota(folder));
    // All are tried, even if one fails.
    let lifted = lifted.fold(Ok(()), Result::and);
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
    let listed = lines.threads.iter().map(|(thread, set)| (*thread, *set));
    let listed = listed.filter(|(thread, _)| exists(*thread));
    let masks = confined_masks(lines);
    let unlisted = processes().flat_map(|pid| unlisted(lines, &masks, name, pid));
    let confined = listed.chain(unlisted);
    confined
        .filter(|(thread, original)| is_confined(*thread, original, &lines.chosen))
        .filter(|(thread, original)| {
            let set: CpuSet = original.cpus().collect();
            let is_set = set.bind(Tid::numbered(thread.tid));
            if !is_set && exists(*thread) {
                *refused = Some(thread.tid);
            }
            is_set
        })
        .count()
}

/// Returns the masks that a thread of the program can have if it is confined.
fn confined_masks(lines: &Lines) -> HashSet<CpuMask> {
    let originals: HashSet<CpuMask> = lines.threads.values().copied().collect();
    let confined = |set: &CpuMask| {
        let set = *set;
        originals
            .iter()
            .map(move |original| original.intersection(&set))
    };
    lines.chosen.iter().flat_map(confined).collect()
}

/// Returns the threads of process `pid` that are confined and that the record does not list, with
/// their original masks, if the process belongs to the program.
fn unlisted(
    lines: &Lines,
    confined: &HashSet<CpuMask>,
    name: &str,
    pid: u32,
) -> Vec<(ThreadId, CpuMask)> {
    // The masks come first, because they are cheaper to read than environments.
    let tids: Vec<(u32, CpuMask)> = numbers(&folder_of(pid).join("task"))
        .filter_map(|tid| Some((tid, mask(tid)?)))
        .filter(|(_, now)| confined.contains(now))
        .collect();
    if tids.is_empty() || !is_part(lines, name, pid) {
        return Vec::new();
    }
    let parent = parent_of(&folder_of(pid)).unwrap_or(0);
    let threads = tids.into_iter().filter_map(|(tid, now)| {
        let original = lines.inherited(now, pid, parent);
        Some((thread(pid, tid)?, original))
    });
    let unlisted = threads.filter(|(thread, _)| !lines.threads.contains_key(thread));
    unlisted.collect()
}

/// Returns whether process `pid` belongs to the program: whether the record lists the first thread,
/// or the environment names the record, of the process or one of its ancestors.
fn is_part(lines: &Lines, name: &str, pid: u32) -> bool {
    let mut line = iter::successors(Some(pid), |pid| parent_of(&folder_of(*pid)));
    line.any(|pid| {
        let is_listed = |first| lines.threads.contains_key(&first);
        thread(pid, pid).is_some_and(is_listed) || is_named(pid, name)
    })
}

/// Returns whether a thread's mask is confined to one of the chosen sets. A thread with another
/// mask has chosen its processors itself.
fn is_confined(thread: ThreadId, original: &CpuMask, chosen: &[CpuMask]) -> bool {
    mask(thread.tid).is_some_and(|now| {
        now != *original && chosen.iter().any(|set| confined(original, set) == now)
    })
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

fn processes() -> impl Iterator<Item = u32> {
    numbers(Path::new("/proc"))
}

/// Returns the numbers that name entries of `folder`.
fn numbers(folder: &Path) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns whether the environment of process `pid` names the record: whether the command that owns
/// the record has started the process or an ancestor of it.
#[must_use]
pub fn is_named(pid: u32, name: &str) -> bool {
    let environment = fs::read(folder_of(pid).join("environ")).unwrap_or_default();
    let wanted = format!("{VARIABLE}={name}");
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == wanted.as_bytes())
}

/// Removes the quota of the cgroup at `folder`, and the processors that were chosen for it.
///
/// # Errors
/// Returns the first error, unless it means that the cgroup or the controller is gone.
fn lift_quota(folder: &Path) -> Result<(), String> {
    // An empty line means the processors of the parent.
    let lift = |(file, text): (&str, &str)| {
        let path = folder.join(file);
        let opened = OpenOptions::new().write(true).truncate(true).open(&path);
        let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
        written.or_else(|error| match is_gone(&error) {
            true => Ok(()),
            false => Err(format!("cannot write to {}: {error}", path.display())),
        })
    };
    let lifted = [("cpu.max", "max\n"), ("cpuset.cpus", "\n")].map(lift);
    lifted.into_iter().fold(Ok(()), Result::and)
}

/// Returns whether the file of a cgroup does not exist. One that was opened before the cgroup was
/// removed cannot be written.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ENODEV)
}
