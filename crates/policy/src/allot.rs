//! Weighted max-min shares by progressive filling.
//!
//! First every job with work gets one processor, even if that is more than the machine has. Then
//! processors are given out one at a time. Each goes to the job with the lowest ratio of processors
//! to weight, among the jobs that want more and are not confined to a set without free processors.
//! Ties go to the job that arrived first. From Bertsekas and Gallager, "Data networks", 1992,
//! section 6.5.2, but with whole processors.
//!
//! Beyond the first processor of each job, the result is
//!
//! * conservative: no job has more than its desire or its limit,
//! * efficient: a job that gets less than it wants is confined to a set without free processors,
//! * fair: if another job of that set gave up a processor, its ratio of processors to weight would
//!   not be higher than that of the deprived job.
//!
//! The result depends only on the arguments, so jobs that compute it independently agree. If every
//! job gets what it wants, the algorithm visits each claim and each member once. Each processor of
//! a set that is too small also takes time logarithmic in the number of jobs.
//!
//! The algorithm only counts processors. So for each set of processors, the caller must pass all
//! jobs that can run nowhere else. If the sets are equal, disjoint or nested, these sets suffice.
//! If some partly overlap, the caller must also pass their unions; otherwise, jobs may get more
//! processors than there are.

use alloc::collections::binary_heap::{BinaryHeap, PeekMut};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

/// The processors that one job requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The number of processors that the job could use; 0 if it has no work.
    pub desire: usize,
    /// The weight, at least 1. A job of twice the weight gets twice as many processors.
    pub weight: u32,
    /// The maximum number of processors for the job; 0 counts as 1.
    pub limit: usize,
}

impl Claim {
    /// Returns the claim of a job with weight 1 and no limit.
    #[must_use]
    pub const fn of(desire: usize) -> Self {
        Self {
            desire,
            weight: 1,
            limit: usize::MAX,
        }
    }

    /// Returns the maximum number of processors that the job can get.
    fn most(&self) -> usize {
        self.desire.min(self.limit.max(1))
    }
}

/// A set of processors and the jobs that can run nowhere else. The whole machine is such a set,
/// with every job.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// The number of processors in the set.
    pub processors: usize,
    /// The jobs that can run nowhere else, as indices into the list of claims.
    pub members: &'a [usize],
}

struct Candidate {
    allotment: u32,
    weight: u32,
    job: usize,
}

impl Candidate {
    /// Orders jobs by their ratio of processors to weight, lowest first, then by arrival.
    fn compare(&self, other: &Self) -> Ordering {
        let share = |a: &Self, b: &Self| u64::from(a.allotment) * u64::from(b.weight);
        let shares = share(self, other).cmp(&share(other, self));
        shares.then(self.job.cmp(&other.job))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other).is_eq()
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare(other)
    }
}

/// Writes the allotments for `claims`, which must be in order of arrival, to `out`. Members without
/// a claim are ignored.
pub fn max_min(claims: &[Claim], bounds: &[Bound<'_>], out: &mut Vec<usize>) {
    out.clear();
    out.extend(claims.iter().map(Claim::most));
    let mut room = Room::new(bounds, out);
    let mut candidates = Vec::with_capacity(claims.len());
    for (job, allotment) in out.iter_mut().enumerate() {
        if *allotment > 1 && room.is_scarce_for(job) {
            *allotment = 1;
            candidates.push(Reverse(Candidate {
                allotment: 1,
                weight: claims[job].weight.max(1),
                job,
            }));
        }
    }
    let mut candidates = BinaryHeap::from(candidates);
    while let Some(mut first) = candidates.peek_mut() {
        let job = first.0.job;
        let got_one = room.take(job);
        out[job] += usize::from(got_one);
        if got_one && out[job] < claims[job].most() {
            first.0.allotment += 1;
        } else {
            PeekMut::pop(first);
        }
    }
}

/// The bounds that cannot satisfy all their members: the processors left in each, and which of
/// these bounds apply to each job.
struct Room {
    /// For each bound, the number of processors left once each member that wants processors has
    /// one.
    left: Vec<usize>,
    /// For all jobs in turn, the indices of the bounds that apply to the job. The part of job `j`
    /// starts at `begins[j]`.
    bounds: Vec<usize>,
    begins: Vec<usize>,
}

impl Room {
    /// `most` is the number of processors that each job wants, up to its limit.
    fn new(bounds: &[Bound<'_>], most: &[usize]) -> Self {
        let mut room = Self {
            left: vec![],
            bounds: vec![],
            begins: vec![0; most.len() + 1],
        };
        let mut scarce = vec![];
        for bound in bounds {
            let (mut wanted, mut first) = (0_usize, 0);
            for most in bound.members.iter().filter_map(|job| most.get(*job)) {
                wanted = wanted.saturating_add(*most);
                first += usize::from(*most > 0);
            }
            if wanted > bound.processors {
                scarce.push(bound);
                room.left.push(bound.processors.saturating_sub(first));
            }
        }
        let is_job = |job: &&usize| **job < most.len();
        for bound in &scarce {
            for job in bound.members.iter().filter(is_job) {
                room.begins[*job] += 1;
            }
        }
        // Turn the numbers of bounds per job into the end of each job's part. The loop below then
        // fills each part from its end, so `begins` finally holds the beginnings.
        let mut end = 0;
        for begin in &mut room.begins {
            end += *begin;
            *begin = end;
        }
        room.bounds = vec![0; end];
        for (number, bound) in scarce.iter().enumerate() {
            for job in bound.members.iter().filter(is_job) {
                room.begins[*job] -= 1;
                room.bounds[room.begins[*job]] = number;
            }
        }
        room
    }

    fn bounds_of(&self, job: usize) -> &[usize] {
        &self.bounds[self.begins[job]..self.begins[job + 1]]
    }

    fn is_scarce_for(&self, job: usize) -> bool {
        !self.bounds_of(job).is_empty()
    }

    /// Takes one processor for this job from each of its bounds. Does nothing if one of them has no
    /// processor left. Returns whether it took them.
    fn take(&mut self, job: usize) -> bool {
        let bounds = &self.bounds[self.begins[job]..self.begins[job + 1]];
        let fits = bounds.iter().all(|bound| self.left[*bound] > 0);
        for bound in bounds {
            self.left[*bound] -= usize::from(fits);
        }
        fits
    }
}
