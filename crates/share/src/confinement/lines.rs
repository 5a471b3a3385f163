//! The text of a record.

use super::{ThreadId, is_confined, split};
use crate::mask::CpuMask;
use std::ffi::OsStr;
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
    /// The original masks, sorted by thread.
    pub(super) threads: Vec<(ThreadId, CpuMask)>,
    /// The first thread in the record: the first thread of the program.
    pub(super) first: Option<ThreadId>,
    pub(super) quotas: Vec<PathBuf>,
}

/// Returns the first line of a record.
#[inline]
pub(super) fn head(boot: u64, namespace: u64) -> Vec<u8> {
    format!("{FORMAT} {boot:016x} {namespace}\n").into_bytes()
}

#[inline]
pub(super) fn chosen(set: &CpuMask) -> Vec<u8> {
    format!("chosen {}\n", list(set)).into_bytes()
}

#[inline]
pub(super) fn thread(thread: ThreadId, original: &CpuMask) -> Vec<u8> {
    let ThreadId { pid, tid, started } = thread;
    format!("thread {pid} {tid} {started} {}\n", list(original)).into_bytes()
}

/// Returns `None` if the path does not fit into a line.
#[inline]
pub(super) fn quota(folder: &Path) -> Option<Vec<u8>> {
    let bytes = folder.as_os_str().as_bytes();
    let fits = folder.is_absolute() && !bytes.contains(&b'\n');
    let mut line = b"quota ".to_vec();
    line.extend_from_slice(bytes);
    line.push(b'\n');
    fits.then_some(line)
}

impl Lines {
    /// Reads a record. If it has a bad line, returns the number of that line. Ignores the last line
    /// if it is not complete, because its writer has died.
    pub(super) fn parse(text: &[u8]) -> Result<Self, usize> {
        let end = text.iter().rposition(|byte| *byte == b'\n');
        let mut lines = split(&text[..end.ok_or(1_usize)?], b'\n');
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
            threads: Vec::new(),
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
                if self.chosen.len() > 2 {
                    self.chosen.remove(0);
                }
            }
            "thread" => {
                let thread = ThreadId {
                    pid: words.next()?.parse().ok()?,
                    tid: words.next()?.parse().ok()?,
                    started: words.next()?.parse().ok()?,
                };
                let original = set(words.next()?)?;
                self.first = self.first.or(Some(thread));
                // A thread that has changed its mask itself is recorded again.
                match self.place(thread) {
                    Ok(at) => self.threads[at].1 = original,
                    Err(at) => self.threads.insert(at, (thread, original)),
                }
            }
            _ => return None,
        }
        words.next().is_none().then_some(())
    }

    /// Returns the place of a thread in the list, or `Err` of where it would be.
    pub(super) fn place(&self, thread: ThreadId) -> Result<usize, usize> {
        self.threads.binary_search_by_key(&thread, |(id, _)| *id)
    }

    fn of_first(&self) -> Option<&(ThreadId, CpuMask)> {
        Some(&self.threads[self.place(self.first?).ok()?])
    }

    /// Forgets the threads that `keep` does not select, but never the program's first thread.
    #[inline]
    pub(super) fn retain_threads(&mut self, keep: impl Fn(ThreadId) -> bool) {
        let first = self.first;
        self.threads
            .retain(|(thread, _)| Some(*thread) == first || keep(*thread));
    }

    #[inline]
    pub(super) fn to_text(&self) -> Vec<u8> {
        let mut text = head(self.boot, self.namespace);
        for set in &self.chosen {
            text.append(&mut chosen(set));
        }
        // A later line of the same thread counts, so the first thread may come twice.
        for (id, original) in self.of_first().into_iter().chain(&self.threads) {
            text.append(&mut thread(*id, original));
        }
        for path in &self.quotas {
            text.append(&mut quota(path).unwrap_or_default());
        }
        text
    }

    /// Returns the original mask of a thread that the record does not list, which has the mask
    /// `now`, in a process with this number and this parent.
    pub(super) fn inherited(&self, now: CpuMask, process: u32, parent: u32) -> CpuMask {
        let is_creator = |original: &CpuMask| is_confined(original, &self.chosen, &now);
        for pid in [process, parent] {
            let start = self.threads.partition_point(|(id, _)| id.pid < pid);
            let threads = self.threads[start..].iter();
            for (_, original) in threads.take_while(|(id, _)| id.pid == pid) {
                if is_creator(original) {
                    return *original;
                }
            }
        }
        let first = self.of_first().filter(|(_, set)| is_creator(set));
        first.map_or(now, |(_, original)| *original)
    }
}

/// Writes a set as a list of ranges like `0-3,8`.
#[inline]
fn list(set: &CpuMask) -> String {
    if set.is_empty() {
        return EMPTY.to_owned();
    }
    let mut text = String::new();
    for start in set.cpus().filter(|cpu| !set.contains(cpu.wrapping_sub(1))) {
        let comma = if text.is_empty() { "" } else { "," };
        text += &format!("{comma}{start}");
        let mut end = start;
        while set.contains(end + 1) {
            end += 1;
        }
        if end > start {
            text += &format!("-{end}");
        }
    }
    text
}

/// The empty set: an allotment of no processor.
const EMPTY: &str = "none";

fn set(text: &str) -> Option<CpuMask> {
    if text == EMPTY {
        return Some(CpuMask::EMPTY);
    }
    let mut set = CpuMask::EMPTY;
    for part in text.split(',') {
        let (start, end) = part.split_once('-').unwrap_or((part, part));
        let (start, end): (usize, usize) = (start.parse().ok()?, end.parse().ok()?);
        let fits = start <= end && end < CpuMask::MOST;
        set = set.union(&CpuMask::from_cpus(fits.then_some(start..end + 1)?));
    }
    Some(set)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
