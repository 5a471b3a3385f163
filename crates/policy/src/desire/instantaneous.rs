//! As many as tasks run and wait now: Cilk-AP-INST in Sen, "Dynamic processor allocation for adaptively parallel
//! work-stealing jobs", 2004, section 4.2.
//!
//! It is here to be compared with. A loop that spawns equal tasks has one task waiting at any time, however many it
//! will spawn, so the desire climbs by one a cycle.

use super::{Estimate, Seen};

/// The estimate; it has no parameters and remembers nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instantaneous;

impl Estimate for Instantaneous {
    fn next(&mut self, seen: &Seen<'_>) -> usize {
        seen.busy.saturating_add(seen.waiting())
    }
}
