//! WSAP: estimates the desire from failed attempts to steal.
//!
//! The share of attempts that met a victim without work approximates the share of processors
//! without work. While the target efficiency allows that share, the desire is the present number of
//! workers divided by the target efficiency. Otherwise, it is the number of busy workers divided by
//! the target efficiency. From Sen, "Dynamic processor allocation for adaptively parallel
//! work-stealing jobs", 2004, section 6.1.
//!
//! Unlike in the source, slots that were given back for lack of work count like slots held, because
//! the attempts that their thieves would have made also count.
//!
//! The source allows a target efficiency of 1. The desire of an efficient job would then equal the
//! number of its workers, so the job would never get a second processor. We reject that value.
//!
//! The estimate has no memory, so under constant parallelism it keeps overshooting and falling
//! back.

use super::{Estimate, ONE, Seen, fixed, processors, tunables};
use crate::parameters::parameters;

parameters! {
    /// Parameters of WSAP.
    Wsap, "wsap" {
        /// The target efficiency: 0.05 to 0.99, by default 0.5.
        eta: f64 = WSAP_ETA,
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
