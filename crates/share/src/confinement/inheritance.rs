//! What a thread's mask becomes when it is confined, and what it was before.

use super::ThreadId;
use crate::mask::CpuMask;
use std::ops::RangeInclusive;

impl ThreadId {
    /// Returns the range of all threads of process `pid`.
    #[must_use]
    pub const fn all_of(pid: u32) -> RangeInclusive<Self> {
        let (tid, started) = (0, 0);
        let first = Self { pid, tid, started };
        let (tid, started) = (u32::MAX, u64::MAX);
        first..=Self { pid, tid, started }
    }
}

/// Returns the part of `original` that is in `set`, or all of it if there is none.
#[must_use]
pub fn confined(original: &CpuMask, set: &CpuMask) -> CpuMask {
    let both = original.intersection(set);
    if both.is_empty() { *original } else { both }
}

/// Returns the original mask of a thread of which only its mask `now` is known, and its process and
/// that process's parent. A thread inherits the mask of its creator. If a possible creator has the
/// mask `now` when it is confined to one of `sets`, the thread has the original mask of the first
/// such creator, and otherwise `now`.
///
/// The possible creators are the threads of the process, those of its parent, and the program's
/// first thread, whose original mask is `first`. `originals` returns the original masks of the
/// known threads of a process, including those that have ended.
pub fn inherited<I: Iterator<Item = CpuMask>>(
    now: CpuMask,
    sets: &[CpuMask],
    [process, parent]: [u32; 2],
    originals: impl Fn(u32) -> I,
    first: Option<CpuMask>,
) -> CpuMask {
    let creators = originals(process).chain(originals(parent)).chain(first);
    let has_confined = |original: &CpuMask| sets.iter().any(|set| confined(original, set) == now);
    creators.into_iter().find(has_confined).unwrap_or(now)
}
