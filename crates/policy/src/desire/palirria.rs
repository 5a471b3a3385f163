//! By the workers at the rim and on the axes of a mesh.
//!
//! Workers stand on a mesh around the source; a zone is all that are equally far from it. If
//! everybody in the outermost zone has an empty deque, the zone is dropped; otherwise, if everybody
//! on the axes further in has more tasks than the threshold, the next zone is added. Palirria of
//! Varisteas and Brorsson, as told by Haselsteiner, "Adaptive Work-Stealing Techniques", 2015,
//! section 2.5.
//!
//! The mesh is not the machine's (the source allows one that is made up): worker 0 is the source, zone `d` are the `4 d`
//! workers after zone `d - 1`, the first four of them on the axes. So the estimate presumes that the workers with the
//! lowest numbers are awake. The source stands on the axes, also alone. The victims that go with it, tasks flowing
//! outwards along the axes and back, are not here: with other victims the deques of a zone say less.

use super::tunables::PALIRRIA_THRESHOLD;
use super::{Estimate, Seen};
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor};

/// Parameters of Palirria.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palirria {
    /// The length above which a deque is long.
    pub threshold: usize,
}

impl Policy for Palirria {
    const NAME: &'static str = "palirria";
    const DEFAULT: Self = Self {
        threshold: PALIRRIA_THRESHOLD.default,
    };

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), ParseError> {
        visitor.plain(&PALIRRIA_THRESHOLD, &mut self.threshold)
    }
}

impl Default for Palirria {
    /// The defaults of its [`tunables`](crate::tunables).
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How many workers are at most this far from the source.
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
        // Zones in front of the outermost one; the source is zone 0.
        let on_axes = (1..outermost).flat_map(|zone| {
            let first = within(zone - 1);
            first..first + 4
        });
        let is_long = |worker| length(worker) > self.threshold;
        if core::iter::once(0).chain(on_axes).all(is_long) {
            return within(outermost + 1);
        }
        allotment
    }
}
