//! How many processors each job is entitled to.
//!
//! All rules give a job without work (desire 0) nothing. With more jobs than processors every job with work has exactly
//! one, and the operating system slices the time: nobody is queued. Otherwise an allocation can be
//!
//! * *fair*: if a job is deprived (its allotment is below its desire), no job has more than its allotment and one,
//! * *efficient*: if a job is deprived, no processor is free,
//! * *conservative*: no job has more than its desire.
//!
//! [`max_min()`] computes the shares from nothing and knows weights, limits and sets of processors; it is what jobs that
//! share a machine compute, each for itself, from the same snapshot. An [`AllotState`] follows jobs that come, change and go
//! under a rule of the literature, for comparison:
//!
//! * `dp`: moves as few processors as are needed; fair, efficient, conservative. Sen, "Dynamic processor allocation for
//!   adaptively parallel work-stealing jobs", 2004, section 5.2,
//! * `deq`: the same shares from nothing. Haselsteiner, "Adaptive Work-Stealing Techniques", 2015,
//!   algorithm 2.1,
//! * `equi`: equal parts whatever the desire, so neither efficient nor conservative. The same, section 2.4,
//! * `max-min`: [`max_min()`] without weights on one set of processors.
//!
//! This module does not know which processors are meant, only how many, and it does not estimate desires: that is
//! [`desire`](crate::desire).

mod deq;
mod dp;
mod equi;
mod max_min;
mod promise;

pub use max_min::{Bound, Claim, max_min};
pub use promise::{Broken, broken};

use crate::error::ParseError;
use crate::text;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// A rule by which jobs get processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allot {
    /// Dynamic partitioning.
    Dp,
    /// Dynamic equipartitioning, from nothing at each change.
    Deq,
    /// Equal parts.
    Equi,
    /// Progressive filling, from nothing at each change.
    MaxMin,
}

impl Allot {
    const NAMES: &'static [&'static str] = &["dp", "deq", "equi", "max-min"];

    /// The names of all rules, for help texts.
    #[must_use]
    pub const fn names() -> &'static [&'static str] {
        Self::NAMES
    }
}

impl fmt::Display for Allot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dp => "dp",
            Self::Deq => "deq",
            Self::Equi => "equi",
            Self::MaxMin => "max-min",
        })
    }
}

impl FromStr for Allot {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "dp" => Ok(Self::Dp),
            "deq" => Ok(Self::Deq),
            "equi" => Ok(Self::Equi),
            "max-min" => Ok(Self::MaxMin),
            _ => Err(text::unknown("rule for allotments", text, Self::NAMES)),
        }
    }
}

/// A job under an [`AllotState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// What the caller calls the job.
    pub job: u64,
    /// What it desires.
    pub desire: usize,
    /// What it is entitled to.
    pub allotment: usize,
}

impl Share {
    fn is_deprived(&self) -> bool {
        self.allotment < self.desire
    }
}

/// Jobs that come, change and go on one set of processors.
///
/// ```
/// use tidegate_policy::{Allot, AllotState};
///
/// let mut machine = AllotState::new(Allot::Dp, 16);
/// machine.arrive(1, 4);
/// machine.arrive(2, 16);
/// assert_eq!([machine.allotment(1), machine.allotment(2)], [4, 12]);
/// machine.leave(1);
/// assert_eq!([machine.allotment(1), machine.allotment(2)], [0, 16]);
/// ```
#[derive(Clone, Debug)]
pub struct AllotState {
    rule: Allot,
    processors: usize,
    /// In order of arrival.
    shares: Vec<Share>,
}

impl AllotState {
    /// So many processors and no job.
    #[must_use]
    pub fn new(rule: Allot, processors: usize) -> Self {
        Self {
            rule,
            processors,
            shares: Vec::new(),
        }
    }

    /// How many processors there are for all of them.
    #[must_use]
    pub fn processors(&self) -> usize {
        self.processors
    }

    /// The jobs in order of arrival.
    #[must_use]
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// The first promise of the rule that the shares break, if they do.
    #[must_use]
    pub fn broken(&self) -> Option<Broken> {
        broken(self.rule, self.processors, &self.shares)
    }

    /// What this job is entitled to; nothing if it is not there.
    #[must_use]
    pub fn allotment(&self, job: u64) -> usize {
        self.find(job).map_or(0, |at| self.shares[at].allotment)
    }

    fn find(&self, job: u64) -> Option<usize> {
        self.shares.iter().position(|share| share.job == job)
    }

    /// A job comes; if it is there already, its desire changes.
    pub fn arrive(&mut self, job: u64, desire: usize) {
        if self.find(job).is_none() {
            self.shares.push(Share {
                job,
                desire: 0,
                allotment: 0,
            });
        }
        self.desire(job, desire);
    }

    /// The desire of a job changes. Nothing happens if it is not there.
    pub fn desire(&mut self, job: u64, desire: usize) {
        let Some(at) = self.find(job) else {
            return;
        };
        self.shares[at].desire = desire;
        if self.rule == Allot::Dp {
            dp::changed(&mut self.shares, self.processors, at);
        } else {
            self.compute();
        }
    }

    /// A job goes. Nothing happens if it is not there.
    pub fn leave(&mut self, job: u64) {
        self.desire(job, 0);
        self.shares.retain(|share| share.job != job);
    }

    /// All shares from nothing.
    fn compute(&mut self) {
        let mut allotments = Vec::with_capacity(self.shares.len());
        let desires = || self.shares.iter().map(|share| share.desire);
        match self.rule {
            Allot::Deq => deq::deq(desires(), self.processors, &mut allotments),
            Allot::Equi => equi::equi(desires(), self.processors, &mut allotments),
            Allot::Dp | Allot::MaxMin => {
                let claims: Vec<Claim> = desires().map(Claim::of).collect();
                let members: Vec<usize> = (0..claims.len()).collect();
                let machine = Bound {
                    processors: self.processors,
                    members: &members,
                };
                max_min(&claims, &[machine], &mut allotments);
            }
        }
        for (share, allotment) in self.shares.iter_mut().zip(allotments) {
            share.allotment = allotment;
        }
    }
}

/// `processors` in equal parts for these jobs, the remainder one each from the first on.
fn spread<'a>(processors: usize, jobs: impl ExactSizeIterator<Item = &'a mut usize>) {
    let (count, mut left) = (jobs.len(), processors);
    for (given, allotment) in jobs.enumerate() {
        *allotment = left.div_ceil(count - given);
        left -= *allotment;
    }
}
