//! A-Steal: multiplies or divides the desire by a factor at the end of a cycle.
//!
//! A cycle is efficient if the allotted processors ran tasks for most of it, and satisfied if the
//! job had as many processors as it desired. An inefficient cycle divides the desire by the factor,
//! an efficient and satisfied one multiplies it, and any other cycle keeps it. A-Steal is by
//! Agrawal, He and Leiserson, as described by Haselsteiner, "Adaptive Work-Stealing Techniques",
//! 2015, section 2.3.
//!
//! The desire never settles, even under constant parallelism. In the source, thieves also mug: a
//! thief takes the whole deque of a worker that was put to sleep. That is up to the runtime; time
//! spent mugging counts as work.

use super::{Estimate, ONE, Seen, fixed, processors, scale, tunables};
use crate::parameters::parameters;

parameters! {
    /// Parameters of A-Steal.
    ASteal, "a-steal" {
        /// The share of the allotted time that a job must spend working for a cycle to be
        /// efficient: 0.05 to 0.99, by default 0.9.
        delta: f64 = A_STEAL_DELTA,
        /// The factor by which the desire grows or shrinks: 1.05 to 16, by default 2.
        rho: f64 = A_STEAL_RHO,
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct AStealState {
    rules: ASteal,
    desire: usize,
}

impl AStealState {
    pub(super) fn new(rules: ASteal) -> Self {
        Self { rules, desire: 1 }
    }
}

impl Estimate for AStealState {
    fn next(&mut self, seen: &Seen<'_>) -> usize {
        let (desire, rho) = (self.desire as u64, fixed(self.rules.rho));
        let least = scale(seen.capacity(), fixed(self.rules.delta), ONE);
        if seen.working < least {
            // Round down, so that the desire falls no matter how small the factor is.
            self.desire = usize::try_from(desire * ONE / rho).map_or(1, |fallen| fallen.max(1));
        } else if seen.entitled() >= self.desire {
            self.desire = processors(desire, rho, ONE);
        }
        self.desire
    }
}
