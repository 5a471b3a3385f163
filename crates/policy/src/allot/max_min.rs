//! Weighted max-min shares by progressive filling.
//!
//! First every job with work gets one processor, also where that is more than there are. Then, one at a time, a processor
//! goes to the job that has least for its weight, of several to the one that came first, among those that want more and
//! that no full set of processors holds. Bertsekas and Gallager, "Data networks", 1992, section 6.5.2, with whole
//! processors.
//!
//! What holds, beyond the first processor of each job:
//!
//! * conservative: no job has more than its desire, nor more than its limit,
//! * efficient: a job that wants more is held by a full set,
//! * fair: there, no other job has so much that, with one less, it would have more for its weight than that job.
//!
//! The result depends on the arguments alone, so that jobs that compute it apart from one another agree. Where everybody
//! gets what it wants, the cost is that of looking at every claim and member once; where sets are too small, each of their
//! processors costs the logarithm of the number of jobs besides.
//!
//! It knows counts, not processors. A set of processors must therefore be given with all jobs that can run nowhere else. For sets
//! that are equal, disjoint or inside one another, those are the sets in question; where sets overlap, their unions count
//! as well, and leaving them out promises more than there is.

use alloc::collections::binary_heap::{BinaryHeap, PeekMut};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

/// What one job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// How many processors it could use; 0 without work.
    pub desire: usize,
    /// How much it counts: it gets twice as much as one of half the weight. At least 1.
    pub weight: u32,
    /// The most that it may have, but at least 1.
    pub limit: usize,
}

impl Claim {
    /// The claim of a job without weight or limit.
    #[must_use]
    pub const fn of(desire: usize) -> Self {
        Self {
            desire,
            weight: 1,
            limit: usize::MAX,
        }
    }

    /// The most that it can get.
    fn most(&self) -> usize {
        self.desire.min(self.limit.max(1))
    }
}

/// A set of processors and the jobs that can run nowhere else. The machine is one, with every job.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// How many processors.
    pub processors: usize,
    /// The places of the jobs' claims.
    pub members: &'a [usize],
}

impl Bound<'_> {
    /// What `values` holds for the members.
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
    /// The job with less for its weight comes first, then the earlier one.
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

/// The allotments for these claims, which stand in order of arrival, into `out`. Members that are no claim are ignored.
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

/// What is left in each bound that cannot give everybody what it wants, and in which of them each job is.
struct Room {
    /// Beyond the first processor of each job.
    left: Vec<usize>,
    /// The bounds of all jobs in a row, and where those of each job begin.
    bounds: Vec<usize>,
    begins: Vec<usize>,
}

impl Room {
    /// `most`: what each job wants.
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
        // From counts to ends; filling in from the back turns ends into beginnings.
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

    /// Takes one processor for this job out of each of its bounds, unless one is full.
    fn take(&mut self, job: usize) -> bool {
        let bounds = &self.bounds[self.begins[job]..self.begins[job + 1]];
        let fits = bounds.iter().all(|bound| self.left[*bound] > 0);
        for bound in bounds {
            self.left[*bound] -= usize::from(fits);
        }
        fits
    }
}
