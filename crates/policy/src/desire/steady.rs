//! Steady: the desire follows recent use, and grows while the whole allotment is used and tasks
//! wait.
//!
//! This estimator was designed for this project; `docs/desire.md` compares it with the other
//! estimators. After a cycle in which nearly the whole allotment was used, the desire
//!
//! * does not change if the job was deprived: the cycle does not show whether the job could use
//!   more processors than it desired, or fewer,
//! * does not change if, at the end, no more tasks run or wait than the job has processors: another
//!   processor would find nothing to do,
//! * otherwise doubles, or becomes the number of running and waiting tasks if that number is
//!   larger.
//!
//! The number of waiting tasks is a poor forecast (in a loop that spawns tasks, only one task waits
//! at a time), but if any task waits, one more processor has something to do.
//!
//! After any other cycle, the desire becomes the largest number of processors that any of the last
//! cycles could use. That number is the larger of the cycle's mean use and the number of tasks that
//! ran or waited at its end. But the desire never exceeds the largest mean use divided by the
//! target efficiency. So a short dip does not erase the memory, and many tiny tasks do not inflate
//! the desire.
//!
//! When the desire falls, its new value becomes the ceiling. While the job uses no more processors
//! than the ceiling, the desire grows to the number of running and waiting tasks, but at most
//! doubles. Once the job uses more, the desire climbs as before. So under constant parallelism the
//! climb ends after one overshoot, a stray waiting task costs one processor, and a job whose tasks
//! are too short to be stolen does not request all processors again and again.
//!
//! A thief does not count as idle while it tries victims that are busy but have no task to give
//! away: Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs", 2004,
//! section 4.2. The doubling and the rule for deprived jobs are from A-Steal, the use of the deques
//! from A-Deque (Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, sections 2.3, 2.4).

use super::{Estimate, ONE, Seen, fixed, processors, scale, tunables};
use crate::parameters::parameters;
use alloc::vec::Vec;

parameters! {
    /// Parameters of the steady estimate.
    Steady, "steady" {
        /// The share of the allotted time that counts as using the whole allotment: 0.5 to 1, by
        /// default 0.9.
        high: f64 = STEADY_HIGH,
        /// The minimum efficiency for which a job keeps its desire while its work fluctuates: 0.05
        /// to 1, by default 0.5.
        target: f64 = STEADY_TARGET,
        /// The number of cycles to remember: 1 to 1,000, by default 4.
        memory: usize = STEADY_MEMORY,
    }
}

#[derive(Clone, Copy, Debug)]
struct Cycle {
    /// The mean number of processors used, in [`ONE`]ths.
    used: u64,
    /// The number of processors for which there was work.
    wanted: usize,
}

impl Cycle {
    fn of(seen: &Seen<'_>) -> Self {
        let in_vain = scale(seen.searching, seen.failed_empty, seen.attempts.max(1));
        let idle = seen.parked().saturating_add(in_vain.min(seen.searching));
        let used = seen.capacity().saturating_sub(idle);
        let used = scale(used, ONE, seen.length.max(1));
        let wanted = processors(used, 1, ONE).max(seen.busy.saturating_add(seen.waiting()));
        Self { used, wanted }
    }
}

#[derive(Clone, Debug)]
pub(super) struct SteadyState {
    rules: Steady,
    desire: usize,
    /// The last time that the job had more processors than this, it left some unused. `usize::MAX`
    /// if no ceiling is known.
    ceiling: usize,
    /// The last cycles, the oldest first.
    cycles: Vec<Cycle>,
}

impl SteadyState {
    pub(super) fn new(rules: Steady) -> Self {
        Self {
            rules,
            desire: 1,
            ceiling: usize::MAX,
            cycles: Vec::with_capacity(rules.memory),
        }
    }

    fn remember(&mut self, cycle: Cycle) {
        if self.cycles.len() == self.rules.memory {
            self.cycles.remove(0);
        }
        self.cycles.push(cycle);
    }

    /// Returns the largest number of processors that one of the remembered cycles could use at the
    /// target efficiency.
    fn remembered(&self) -> usize {
        let (mut wanted, mut used) = (0, 0);
        for cycle in &self.cycles {
            wanted = cycle.wanted.max(wanted);
            used = cycle.used.max(used);
        }
        let bearable = processors(used, 1, fixed(self.rules.target));
        wanted.min(bearable).max(1)
    }
}

impl Estimate for SteadyState {
    fn next(&mut self, seen: &Seen<'_>) -> usize {
        let cycle = Cycle::of(seen);
        self.remember(cycle);
        let allotment = seen.entitled();
        if cycle.used < fixed(self.rules.high).saturating_mul(allotment as u64) {
            self.desire = self.remembered();
            self.ceiling = self.desire;
            return self.desire;
        }
        if allotment > self.ceiling {
            self.ceiling = usize::MAX;
        }
        if allotment >= self.desire && cycle.wanted > allotment {
            let doubled = allotment.saturating_mul(2);
            self.desire = if self.ceiling == usize::MAX {
                cycle.wanted.max(doubled)
            } else {
                cycle.wanted.min(doubled)
            };
        }
        self.desire
    }
}
