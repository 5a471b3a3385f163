//! What a thread's mask becomes when it is confined, and what it was before.

use crate::mask::CpuMask;

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
/// The possible creators are the known threads of the process, including those that have ended,
/// then those of its parent, then the program's first thread. `creators` are their original masks.
pub fn inherited(
    now: CpuMask,
    sets: &[CpuMask],
    creators: &mut dyn Iterator<Item = CpuMask>,
) -> CpuMask {
    for original in creators {
        if sets.iter().any(|set| confined(&original, set) == now) {
            return original;
        }
    }
    now
}
