//! By the attempts to steal that were in vain.
//!
//! The share of attempts that met a victim without work approximates the share of processors without work. While that
//! is no more than the target efficiency allows, the desire is what the present workers would be if just that share of a
//! larger number were busy; otherwise it is the number at which the busy ones reach the target. Sen, "Dynamic processor
//! allocation for adaptively parallel work-stealing jobs", 2004, section 6.1.
//!
//! We differ in one thing: slots that were given back for lack of work count with those held, because the attempts that
//! their thieves did not make count as well.
//!
//! The source allows a target efficiency of 1. The desire of an efficient job is then what the job has, so it would never
//! leave its first processor; we refuse that value.
//!
//! It has no memory, so on constant parallelism it goes on overshooting and falling back.

use super::tunables::WSAP_ETA;
use super::{Estimate, ONE, Seen, fixed, processors};
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor};

/// Parameters of the estimate of WSAP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wsap {
    /// The target efficiency.
    pub eta: f64,
}

impl Policy for Wsap {
    const NAME: &'static str = "wsap";
    const DEFAULT: Self = Self {
        eta: WSAP_ETA.default,
    };

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), ParseError> {
        visitor.plain(&WSAP_ETA, &mut self.eta)
    }
}

impl Default for Wsap {
    /// The defaults of its [`tunables`](crate::tunables).
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Estimate for Wsap {
    fn next(&mut self, seen: &Seen<'_>) -> usize {
        let present = seen.usage.max(seen.allotment) as u64;
        let (eta, useful) = (fixed(self.eta), seen.attempts().useful());
        let efficient = if useful >= eta { ONE } else { useful };
        processors(present, efficient, eta)
    }
}
