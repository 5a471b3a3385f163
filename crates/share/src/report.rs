//! What a job tells the others.

use crate::mask::CpuMask;
use tidegate_policy::allot::Claim;
use tidegate_policy::tunables::WEIGHT;

/// What a job publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// How many processors it could put to good use; 0 if it has nothing to do.
    pub desire: usize,
    /// How many it keeps busy.
    pub usage: usize,
    /// How many it may keep busy at most, for instance by a quota; at least 1.
    pub limit: usize,
    /// How much it counts beside the others; [`WEIGHT`] has range and default.
    pub weight: usize,
    /// The processors on which it may run.
    pub mask: CpuMask,
    /// How many it takes itself to be entitled to, for observers.
    pub allotment: usize,
    /// How much of the time of its processors went into work, per mille, for observers.
    pub efficiency: u32,
    /// How many processors strangers keep busy, in thousandths, if it has measured that; see [`Neighbours`](crate::Neighbours).
    pub neighbours: u64,
}

impl Report {
    /// That of a job that desires nothing, may use all of `mask`, and counts as much as any.
    #[must_use]
    pub fn new(mask: CpuMask) -> Self {
        Self {
            desire: 0,
            usage: 0,
            limit: mask.len().max(1),
            weight: WEIGHT.default,
            mask,
            allotment: 0,
            efficiency: 0,
            neighbours: 0,
        }
    }

    /// Whether others divide the machine otherwise for `self` than for `before`.
    pub(crate) fn matters_after(&self, before: &Self) -> bool {
        let divided = |report: &Self| {
            let (desire, limit, weight) = (report.desire, report.limit, report.weight);
            (desire, limit, weight, report.mask, report.neighbours)
        };
        divided(self) != divided(before)
    }

    /// What it claims of the machine.
    pub(crate) fn claim(&self) -> Claim {
        Claim {
            desire: self.desire,
            weight: self.weight as u32,
            limit: self.limit,
        }
    }
}
