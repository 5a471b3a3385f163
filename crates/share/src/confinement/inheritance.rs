//! What a thread's mask becomes when it is confined, and what it was before.

use crate::mask::CpuMask;

/// Returns the part of `original` that is in `set`, or all of it if there is none.
#[must_use]
pub fn confined(original: &CpuMask, set: &CpuMask) -> CpuMask {
    let both = original.intersection(set);
    if both.is_empty() { *original } else { both }
}

/// Returns whether a thread with this original mask has the mask `now` when it is confined to one
/// of `sets`.
///
/// A thread inherits the mask of its creator. So if only the mask `now` of a thread is known, it
/// has the original mask of the first possible creator of which this is true, and otherwise `now`.
/// The possible creators are the known threads of its process, including those that have ended,
/// then those of its parent, then the program's first thread.
#[must_use]
pub fn is_confined(original: &CpuMask, sets: &[CpuMask], now: &CpuMask) -> bool {
    sets.iter().any(|set| confined(original, set) == *now)
}
