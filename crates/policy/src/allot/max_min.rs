//! Weighted max-min shares by progressive filling.
//!
//! First every job with work gets one processor, even if that is more than the machine has. Then
//! processors are given out one at a time. Each goes to the job with the fewest processors for its
//! weight, among the jobs that want more and are not restricted to a full set of processors. Ties
//! go to the job that arrived first. Bertsekas and Gallager, "Data networks", 1992, section 6.5.2,
//! with whole processors.
//!
//! Beyond the first processor of each job, the result is
//!
//! * conservative: no job has more than its desire or its limit,
//! * efficient: a job that gets less than it wants is restricted to a full set,
//! * fair: in that set, no other job could give up a processor and still have more for its weight
//!   than that job.
//!
//! The result depends only on the arguments, so jobs that compute it independently agree. If every
//! job gets what it wants, the cost is one look at each claim and member. If sets are too small,
//! giving out each of their processors also costs time logarithmic in the number of jobs.
//!
//! The algorithm only counts processors. So the caller must pass each set of processors with all
//! jobs that can run nowhere else. If sets are equal, disjoint or nested, those sets suffice. If
//! sets overlap, the caller must pass their unions as well, or the allotments can exceed the
//! processors.

use alloc::collections::binary_heap::{BinaryHeap, PeekMut};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

/// What one job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The number of processors that the job could use; 0 without work.
    pub desire: usize,
    /// The weight, at least 1: a job of twice the weight gets twice as many processors.
    pub weight: u32,
    /// The limit on the job's processors; 0 counts as 1.
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

    /// The maximum number of processors that the job can get.
    fn most(&self) -> usize {
        self.desire.min(self.limit.max(1))
    }
}

/// A set of processors and the jobs that can run nowhere else. The whole machine is such a set,
/// with every job.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// The number of processors.
    pub processors: usize,
    /// The indices of these jobs' claims.
    pub members: &'a [usize],
}

impl Bound<'_> {
    /// The members' entries in `values`.
    fn of_members(&self, values: &[usize]) -> impl Iterator<Item = usize> {
        self.members
            .iter()
            .filter_map(|job| values.get(*job).copied())
    }
}

/// A job that may get another processor.
struct Candidate {
    allotment: u32,
    weight: u32,
    job: usize,
}

impl Candidate {
    /// Orders jobs by processors per weight, fewest first, then by arrival.
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

/// Writes the allotments for `claims`, which are in order of arrival, to `out`. Members without a
/// claim are ignored.
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

/// The processors left in each bound that cannot satisfy all its members, and which of these bounds
/// each job is in.
struct Room {
    /// The processors left, beyond the first processor of each job.
    left: Vec<usize>,
    /// The bounds of the first job, then those of the second, and so on; `begins` has the start of
    /// each job's part.
    bounds: Vec<usize>,
    begins: Vec<usize>,
}

impl Room {
    /// `most` is the number of processors that each job wants, within its limit.
    fn new(bounds: &[Bound<'_>], most: &[usize]) -> Self {
        let is_scarce = |bound: &&Bound<'_>| {
            let wanted = bound.of_members(most).fold(0, usize::saturating_add);
            wanted > bound.processors
        };
        let scarce: Vec<&Bound<'_>> = bounds.iter().filter(is_scarce).collect();
        let after_first = |bound: &&Bound<'_>| {
            let first = bound.of_members(most).filter(|most| *most > 0).count();
            bound.processors.saturating_sub(first)
        };
        let members = || {
            scarce.iter().enumerate().flat_map(|(bound, set)| {
                let members = set.members.iter().filter(|job| **job < most.len());
                members.map(move |job| (bound, *job))
            })
        };
        let mut room = Self {
            left: scarce.iter().map(after_first).collect(),
            bounds: vec![0; members().count()],
            begins: vec![0; most.len() + 1],
        };
        for (_, job) in members() {
            room.begins[job] += 1;
        }
        // Turn counts into ends. Filling in from the back turns the ends into beginnings.
        let mut end = 0;
        for begin in &mut room.begins {
            end += *begin;
            *begin = end;
        }
        for (bound, job) in members() {
            room.begins[job] -= 1;
            room.bounds[room.begins[job]] = bound;
        }
        room
    }

    fn bounds_of(&self, job: usize) -> &[usize] {
        &self.bounds[self.begins[job]..self.begins[job + 1]]
    }

    fn is_scarce_for(&self, job: usize) -> bool {
        !self.bounds_of(job).is_empty()
    }

    /// Takes one processor for this job from each of its bounds, unless one is full. Returns
    /// whether it did.
    fn take(&mut self, job: usize) -> bool {
        let bounds = &self.bounds[self.begins[job]..self.begins[job + 1]];
        let fits = bounds.iter().all(|bound| self.left[*bound] > 0);
        for bound in bounds {
            self.left[*bound] -= usize::from(fits);
        }
        fits
    }
}
