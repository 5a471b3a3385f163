//! The report that a job publishes.

use crate::mask::CpuMask;
use tidegate_policy::allot::Claim;
use tidegate_policy::tunables::WEIGHT;

/// What a job publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The number of processors it could put to good use; 0 if it has nothing to do.
    pub desire: usize,
    /// The number of processors it keeps busy.
    pub usage: usize,
    /// The most processors it may keep busy, for instance because of a quota; at least 1.
    pub limit: usize,
    /// Its weight relative to other jobs; [`WEIGHT`] has the range and default.
    pub weight: usize,
    /// The processors on which it may run.
    pub mask: CpuMask,
    /// The number of processors it considers itself entitled to, for observers.
    pub allotment: usize,
    /// The part of its processor time that went into work, per mille, for observers.
    pub efficiency: u32,
    /// The number of processors that programs outside the table keep busy, in thousandths, if the
    /// job has measured it; see [`Neighbours`](crate::Neighbours).
    pub neighbours: u64,
}

impl Report {
    /// The report of a job that desires nothing, may use all of `mask`, and has the default weight.
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

    /// Whether the other jobs divide the machine differently for `self` than for `before`.
    pub(crate) fn matters_after(&self, before: &Self) -> bool {
        let divided = |report: &Self| {
            let (desire, limit, weight) = (report.desire, report.limit, report.weight);
            (desire, limit, weight, report.mask, report.neighbours)
        };
        divided(self) != divided(before)
    }

    pub(crate) fn claim(&self) -> Claim {
        Claim {
            desire: self.desire,
            weight: self.weight as u32,
            limit: self.limit,
        }
    }
}
