//! Instantaneous: the desire is the number of tasks that run or wait now. From Sen, "Dynamic
//! processor allocation for adaptively parallel work-stealing jobs", 2004, section 4.2, where it is
//! called Cilk-AP-INST.
//!
//! This estimator serves as a baseline. A loop that spawns equal tasks has one task waiting at any
//! time, no matter how many it will spawn, so the desire only climbs by one per cycle.

use super::{Estimate, Seen};

#[derive(Clone, Copy, Debug)]
pub(super) struct Instantaneous;

impl Estimate for Instantaneous {
    fn next(&mut self, seen: &Seen<'_>) -> usize {
        seen.busy.saturating_add(seen.waiting())
    }
}
