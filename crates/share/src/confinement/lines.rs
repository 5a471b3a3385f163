//! The text of a record.

use super::{ThreadId, inherited};
use crate::identity::boot;
use crate::mask::CpuMask;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The first words of a record.
const FORMAT: &str = "masks 1";

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) boot: u64,
    pub(super) namespace: u64,
    /// The last two chosen sets, the last one at the end.
    pub(super) chosen: Vec<CpuMask>,
    /// The original masks.
    pub(super) threads: BTreeMap<ThreadId, CpuMask>,
    /// The first thread in the record: the first thread of the program.
    pub(super) first: Option<ThreadId>,
    pub(super) quotas: Vec<PathBuf>,
}

/// Returns the first line of a record that this process makes.
pub(super) fn head(namespace: u64) -> Vec<u8> {
    head_of(boot(), namespace)
}

fn head_of(boot: u64, namespace: u64) -> Vec<u8> {
    format!("{FORMAT} {boot:016x} {namespace}\n").into_bytes()
}

pub(super) fn chosen(set: &CpuMask) -> Vec<u8> {
    format!("chosen {}\n", list(set)).into_bytes()
}

pub(super) fn thread(thread: ThreadId, original: &CpuMask) -> Vec<u8> {
    let ThreadId { pid, tid, started } = thread;
    format!("thread {pid} {tid} {started} {}\n", list(original)).into_bytes()
}

/// Returns `None` if the path does not fit into a line.
pub(super) fn quota(folder: &Path) -> Option<Vec<u8>> {
    let bytes = folder.as_os_str().as_bytes();
    let fits = folder.is_absolute() && !bytes.contains(&b'\n');
    fits.then(|| [b"quota ", bytes, b"\n"].concat())
}

impl Lines {
    /// Reads a record. If it has a bad line, returns the number of that line. Ignores the last line
    /// if it is not complete, because its writer has died.
    pub(super) fn parse(text: &[u8]) -> Result<Self, usize> {
        let mut lines = text
            .split_inclusive(|byte| *byte == b'\n')
            .filter_map(|line| line.strip_suffix(b"\n"));
        let mut found = lines.next().and_then(Self::of_head).ok_or(1_usize)?;
        for (index, line) in lines.enumerate() {
            found.add(line).ok_or(index + 2)?;
        }
        Ok(found)
    }

    fn of_head(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let (boot, namespace) = line.strip_prefix(FORMAT)?.trim_start().split_once(' ')?;
        Some(Self {
            boot: u64::from_str_radix(boot, 16).ok()?,
            namespace: namespace.parse().ok()?,
            chosen: Vec::new(),
            threads: BTreeMap::new(),
            first: None,
            quotas: Vec::new(),
        })
    }

    fn add(&mut self, line: &[u8]) -> Option<()> {
        if let Some(path) = line.strip_prefix(b"quota ") {
            let path = Path::new(OsStr::from_bytes(path));
            self.quotas.push(path.is_absolute().then(|| path.into())?);
            return Some(());
        }
        let mut words = std::str::from_utf8(line).ok()?.split(' ');
        match words.next()? {
            "chosen" => {
                self.chosen.push(set(words.next()?)?);
                let old = self.chosen.len().saturating_sub(2);
                self.chosen.drain(..old);
            }
            "thread" => {
                let thread = ThreadId {
                    pid: words.next()?.parse().ok()?,
                    tid: words.next()?.parse().ok()?,
                    started: words.next()?.parse().ok()?,
                };
                let original = set(words.next()?)?;
                self.first.get_or_insert(thread);
                // A thread that has changed its mask itself is recorded again.
                self.threads.insert(thread, original);
            }
            _ => return None,
        }
        words.next().is_none().then_some(())
    }

    /// Forgets the threads that `keep` does not select, but never the program's first thread.
    pub(super) fn retain_threads(&mut self, keep: impl Fn(ThreadId) -> bool) {
        let first = self.first;
        self.threads
            .retain(|thread, _| Some(*thread) == first || keep(*thread));
    }

    pub(super) fn to_text(&self) -> Vec<u8> {
        let mut text = head_of(self.boot, self.namespace);
        let first = self.first.and_then(|id| self.threads.get_key_value(&id));
        let rest = self.threads.iter();
        let rest = rest.filter(|(id, _)| Some(**id) != self.first);
        let threads = first.into_iter().chain(rest);
        text.extend(self.chosen.iter().flat_map(chosen));
        text.extend(threads.flat_map(|(id, original)| thread(*id, original)));
        text.extend(self.quotas.iter().filter_map(|path| quota(path)).flatten());
        text
    }

    /// Returns the original mask of a thread that the record does not list, which has the mask
    /// `now`, in a process with this number and this parent.
    pub(super) fn inherited(&self, now: CpuMask, process: u32, parent: u32) -> CpuMask {
        let originals = |pid| self.threads.range(ThreadId::all_of(pid));
        let originals = |pid| originals(pid).map(|(_, original)| *original);
        let first = self.first.and_then(|first| self.threads.get(&first));
        inherited(
            now,
            &self.chosen,
            [process, parent],
            originals,
            first.copied(),
        )
    }
}

/// Writes a set as a list of ranges like `0-3,8`.
fn list(set: &CpuMask) -> String {
    let mut text = String::new();
    let mut cpus = set.cpus().peekable();
    while let Some(start) = cpus.next() {
        let mut end = start;
        while cpus.next_if_eq(&(end + 1)).is_some() {
            end += 1;
        }
        let comma = if text.is_empty() { "" } else { "," };
        let range = if start == end {
            write!(text, "{comma}{start}")
        } else {
            write!(text, "{comma}{start}-{end}")
        };
        range.expect("a string takes any text");
    }
    if text.is_empty() {
        text.push_str(EMPTY);
    }
    text
}

/// The empty set: an allotment of no processor.
const EMPTY: &str = "none";

fn set(text: &str) -> Option<CpuMask> {
    if text == EMPTY {
        return Some(CpuMask::default());
    }
    let range = |part: &str| {
        let (start, end) = part.split_once('-').unwrap_or((part, part));
        let (start, end): (usize, usize) = (start.parse().ok()?, end.parse().ok()?);
        (start <= end && end < CpuMask::MOST).then_some(start..=end)
    };
    let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
    Some(CpuMask::from_cpus(ranges?.into_iter().flatten()))
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
