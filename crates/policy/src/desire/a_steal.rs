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

use super::tunables::{A_STEAL_DELTA, A_STEAL_RHO};
use super::{Estimate, ONE, Seen, fixed, processors, scale};
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor};

/// Parameters of A-Steal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ASteal {
    /// The share of the allotted time that a job must spend working for a cycle to be efficient:
    /// 0.05 to 0.99, by default 0.9.
    pub delta: f64,
    /// The factor by which the desire grows or shrinks: 1.05 to 16, by default 2.
    pub rho: f64,
}

impl Policy for ASteal {
    const NAME: &'static str = "a-steal";
    const DEFAULT: Self = Self {
        delta: A_STEAL_DELTA.default,
        rho: A_STEAL_RHO.default,
    };

    fn visit(&mut self, visitor: &mut Visitor<'_>) -> Result<(), ParseError> {
        visitor.plain(&A_STEAL_DELTA, &mut self.delta)?;
        visitor.plain(&A_STEAL_RHO, &mut self.rho)
    }
}

impl Default for ASteal {
    fn default() -> Self {
        Self::DEFAULT
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
