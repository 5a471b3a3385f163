//! Finds the threads that a record describes, and gives them back the processors that they had.

use super::lines::Lines;
use super::{ThreadId, VARIABLE};
use crate::identity::start_of;
use crate::mask::CpuMask;
use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use tidegate_sync::thread::{CpuSet, Tid};

/// The most passes over all threads. Each pass finds the threads that unrestored threads have
/// created during the one before it, so two or three are the rule.
const PASSES: usize = 16;

/// Restores all threads and cgroups, and returns the number of threads whose mask has changed.
/// `name` is the record's name.
///
/// # Errors
/// Returns the number of a thread that remains confined, because the kernel does not allow this
/// process to change it.
pub(super) fn restore(lines: &Lines, name: &str) -> Result<usize, u32> {
    lines.quotas.iter().for_each(|folder| lift_quota(folder));
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
    refused.map_or(Ok(restored), Err)
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
    let tids: Vec<u32> = numbers(&folder_of(pid).join("task"))
        .filter(|tid| mask(*tid).is_some_and(|mask| confined.contains(&mask)))
        .collect();
    let first = Some(pid).filter(|_| !tids.is_empty());
    let Some(first) = first.and_then(|pid| thread(pid, pid)) else {
        return Vec::new();
    };
    let is_part = lines.threads.contains_key(&first) || is_named(pid, name);
    let Some(original) = lines.inherited(first).filter(|_| is_part) else {
        return Vec::new();
    };
    let threads = tids.into_iter().filter_map(|tid| thread(pid, tid));
    let unlisted = threads.filter(|thread| !lines.threads.contains_key(thread));
    unlisted.map(|thread| (thread, original)).collect()
}

/// Returns whether a thread's mask is confined to one of the chosen sets. A thread with another
/// mask has chosen its processors itself.
fn is_confined(thread: ThreadId, original: &CpuMask, chosen: &[CpuMask]) -> bool {
    mask(thread.tid).is_some_and(|now| {
        let mut confined = chosen.iter().map(|set| original.intersection(set));
        now != *original && confined.any(|set| set == now)
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

/// Returns whether the environment of process `pid` names the record.
fn is_named(pid: u32, name: &str) -> bool {
    let environment = fs::read(folder_of(pid).join("environ")).unwrap_or_default();
    let wanted = format!("{VARIABLE}={name}");
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == wanted.as_bytes())
}

/// Removes the quota of the cgroup at `folder`, and the processors that were chosen for it. If that
/// fails, the cgroup is gone, and with it the quota.
fn lift_quota(folder: &Path) {
    // An empty line means the processors of the parent.
    for (file, text) in [("cpu.max", "max\n"), ("cpuset.cpus", "\n")] {
        let opened = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(folder.join(file));
        let _ = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    }
}
