//! Palirria: estimates the desire from the deques of the workers on the rim and on the axes of a
//! mesh.
//!
//! The workers form a mesh around a worker called the source. A zone is the set of workers at the
//! same distance from the source. If all workers in the outermost zone have empty deques, the zone
//! is dropped. Otherwise, if all workers on the axes of the inner zones have more tasks than the
//! threshold, the next zone is added. Palirria is by Varisteas and Brorsson, as described by
//! Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, section 2.5.
//!
//! The mesh is imaginary, as the publication allows; it does not follow the machine's topology.
//! Worker 0 is the source, and zone `d` consists of the `4 d` workers after zone `d - 1`, the first
//! four of them on the axes. So the estimate assumes that the workers with the lowest numbers are
//! awake. The source counts as a worker on the axes, even if it is the only worker. Palirria's own
//! victim selection, which moves tasks outwards along the axes and back, is not implemented; under
//! another selection, the deques of a zone say less about the demand.

use super::{Estimate, Seen, tunables};
use crate::parameters::parameters;

parameters! {
    /// Parameters of Palirria.
    #[derive(Eq)]
    Palirria, "palirria" {
        /// The number of tasks above which a deque counts as long: 0 to 65,536, by default 1.
        threshold: usize = PALIRRIA_THRESHOLD,
    }
}

/// Returns the number of workers up to this distance from the source.
fn within(distance: usize) -> usize {
    1 + 2 * distance * (distance + 1)
}

impl Estimate for Palirria {
    fn next(&mut self, seen: &Seen<'_>) -> usize {
        let allotment = seen.entitled();
        let outermost = (0..).find(|zone| within(*zone) >= allotment).unwrap_or(0);
        let length = |worker: usize| seen.deques.get(worker).copied().unwrap_or(0);
        if outermost > 0 {
            let inner = within(outermost - 1);
            if (inner..allotment).all(|worker| length(worker) == 0) {
                return inner;
            }
        }
        let is_long = |worker| length(worker) > self.threshold;
        // The workers on the axes, in the zones inside the outermost one.
        let are_long = |zone| {
            let first = within(zone - 1);
            (first..first + 4).all(is_long)
        };
        if is_long(0) && (1..outermost).all(are_long) {
            return within(outermost + 1);
        }
        allotment
    }
}
