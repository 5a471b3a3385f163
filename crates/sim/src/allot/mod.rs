//! How many processors each job is entitled to.
//!
//! Under all rules, a job without work (desire 0) gets no processors. If there are more jobs with
//! work than processors, each of them gets exactly one, and no job is queued: the operating system
//! time-slices them. Otherwise, an allocation can be
//!
//! * *fair*: if a job is deprived (its allotment is below its desire), no job has more than that
//!   allotment plus one,
//! * *efficient*: if a job is deprived, no processor is free,
//! * *conservative*: no job has more than its desire.
//!
//! [`max_min()`] computes all shares from scratch and supports weights, limits and sets of
//! processors. Jobs that share a machine use it: each computes the shares itself, from the same
//! snapshot. For comparison, an [`AllotState`] tracks jobs that arrive, change and leave, under one
//! of these rules:
//!
//! * `dp`: moves as few processors as possible; fair, efficient, conservative. Sen, "Dynamic
//!   processor allocation for adaptively parallel work-stealing jobs", 2004, section 5.2,
//! * `deq`: the same shares, computed from scratch. Haselsteiner, "Adaptive Work-Stealing
//!   Techniques", 2015, algorithm 2.1,
//! * `equi`: equal parts no matter what the jobs desire, so neither efficient nor conservative.
//!   Haselsteiner, section 2.4,
//! * `max-min`: [`max_min()`] without weights, on one set of processors.
//!
//! This module decides how many processors a job gets, not which ones. It does not estimate desires
//! ([`desire`](tidegate_policy::desire) does).

mod deq;
mod dp;
mod equi;
mod promise;

pub use promise::{Broken, broken};

use std::fmt;
use std::str::FromStr;
use tidegate_policy::ParseError;
use tidegate_policy::allot::{Bound, Claim, max_min};

/// A rule for dividing processors among jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allot {
    /// Dynamic partitioning: moves as few processors as possible.
    Dp,
    /// Dynamic equipartitioning, computed from scratch at each change.
    Deq,
    /// Equal parts, no matter what the jobs desire.
    Equi,
    /// Max-min shares without weights, computed from scratch at each change.
    MaxMin,
}

impl Allot {
    const ALL: [Self; 4] = [Self::Dp, Self::Deq, Self::Equi, Self::MaxMin];

    /// Returns the names of all rules, for help texts.
    #[must_use]
    pub const fn names() -> &'static [&'static str] {
        &["dp", "deq", "equi", "max-min"]
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
        let rule = Self::ALL.into_iter().find(|rule| rule.to_string() == text);
        rule.ok_or_else(|| tidegate_policy::unknown("allotment policy", text, Self::names()))
    }
}

/// One job in an [`AllotState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The caller's identifier for the job.
    pub job: u64,
    /// The number of processors that the job desires.
    pub desire: usize,
    /// The number of processors that the job is entitled to.
    pub allotment: usize,
}

impl Share {
    fn is_deprived(&self) -> bool {
        self.allotment < self.desire
    }
}

/// The jobs on one set of processors, and how many processors each is entitled to.
///
/// ```
/// use tidegate_sim::{Allot, AllotState};
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
    /// The jobs, in order of arrival.
    shares: Vec<Share>,
}

impl AllotState {
    /// Creates a machine with `processors` processors and no jobs.
    #[must_use]
    pub fn new(rule: Allot, processors: usize) -> Self {
        Self {
            rule,
            processors,
            shares: Vec::new(),
        }
    }

    /// Returns the number of processors of the machine.
    #[must_use]
    pub fn processors(&self) -> usize {
        self.processors
    }

    /// Returns the jobs in order of arrival.
    #[must_use]
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// Returns the first promise of the rule that the shares break, if any.
    #[must_use]
    pub fn broken(&self) -> Option<Broken> {
        broken(self.rule, self.processors, &self.shares)
    }

    /// Returns the number of processors that a job is entitled to; 0 if the job is unknown.
    #[must_use]
    pub fn allotment(&self, job: u64) -> usize {
        self.find(job).map_or(0, |at| self.shares[at].allotment)
    }

    fn find(&self, job: u64) -> Option<usize> {
        self.shares.iter().position(|share| share.job == job)
    }

    /// Adds a job. If the job exists already, changes its desire.
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

    /// Changes the desire of a job. Does nothing if the job is unknown.
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

    /// Removes a job. Does nothing if the job is unknown.
    pub fn leave(&mut self, job: u64) {
        self.desire(job, 0);
        self.shares.retain(|share| share.job != job);
    }

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

/// Divides `processors` into equal parts. The first jobs get one extra processor each, if there is
/// a remainder.
fn spread<'a>(processors: usize, jobs: impl ExactSizeIterator<Item = &'a mut usize>) {
    let (count, mut left) = (jobs.len(), processors);
    for (given, allotment) in jobs.enumerate() {
        *allotment = left.div_ceil(count - given);
        left -= *allotment;
    }
}
