use crate::mask::CpuMask;
use tidegate_policy::allot::Claim;
use tidegate_policy::tunables::WEIGHT;

/// The information that a job publishes about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The number of processors that the job could use effectively; 0 if it has nothing to do.
    pub desire: usize,
    /// The number of processors that the job keeps busy.
    pub usage: usize,
    /// The maximum number of processors that the job may keep busy, for instance because of a
    /// quota. Must be at least 1.
    pub limit: usize,
    /// The job's weight relative to other jobs. See [`WEIGHT`] for its range and default.
    pub weight: usize,
    /// The processors that the job may run on.
    pub mask: CpuMask,
    /// The number of processors that the job considers itself entitled to. Only for observers.
    pub allotment: usize,
    /// The part of the job's processor time that was spent on useful work, per mille; 0 if the job
    /// has not measured it. Only for observers.
    pub efficiency: u32,
    /// How many processors programs outside the table keep busy, in thousandths; 0 if the job has
    /// not measured it. See [`Neighbours`](crate::Neighbours).
    pub neighbours: u64,
}

impl Report {
    /// Creates the report of a job that desires nothing, may use all of `mask`, and has the default
    /// weight.
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

    /// Returns whether the change from `before` to `self` affects how the other jobs divide the
    /// machine.
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
