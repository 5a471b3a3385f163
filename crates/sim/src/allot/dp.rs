//! Dynamic partitioning: when a job changes, only the processors that it gains or loses move.
//!
//! A job that arrives or wants more takes the free processors. While it still has less than it
//! desires and less than the fair share, it then takes processors, one at a time, from the job with
//! the most. A job that leaves or wants less gives its surplus back, one processor at a time, to
//! the deprived job with the fewest. From Sen, "Dynamic processor allocation for adaptively
//! parallel work-stealing jobs", 2004, section 5.2.
//!
//! The paper does not say how to break ties. Here, of the jobs with the most processors, the first
//! one gives one up. Of the deprived jobs with the fewest, the one with the largest desire gets it,
//! as in figure 5-2.
//!
//! Our fair share differs from the source. Formula 5.1 excludes the jobs that desire less than an
//! equal part, and the processors that they have, in a single step. The result can be unfair, and
//! the formula can divide by zero. Here, jobs that desire less than the share are excluded, with
//! the processors that they desire, until no such job is left. This takes several steps, because
//! each exclusion raises the share, and other desires may then be below it.

use super::Share;
use std::cmp::Reverse;

/// Adapts the allotments after the desire of the job at `at` has changed.
pub(super) fn changed(jobs: &mut [Share], processors: usize, at: usize) {
    settle(jobs, processors, at, fair_share);
}

/// The fraction `processors / jobs`, kept as two integers so that comparisons are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FairShare {
    processors: usize,
    jobs: usize,
}

impl FairShare {
    fn is_above(self, count: usize) -> bool {
        count * self.jobs < self.processors
    }
}

fn fair_share(jobs: &[Share], processors: usize) -> FairShare {
    let with_work = jobs.iter().filter(|job| job.desire > 0);
    let mut share = FairShare {
        processors,
        jobs: with_work.count(),
    };
    loop {
        let content = |job: &&Share| job.desire > 0 && share.is_above(job.desire);
        let (count, desires) = jobs
            .iter()
            .filter(content)
            .fold((0, 0), |(n, sum), job| (n + 1, sum + job.desire));
        let next = FairShare {
            processors: processors.saturating_sub(desires),
            jobs: jobs.iter().filter(|job| job.desire > 0).count() - count,
        };
        if next == share {
            return share;
        }
        share = next;
    }
}

fn settle(
    jobs: &mut [Share],
    processors: usize,
    at: usize,
    fair_share: fn(&[Share], usize) -> FairShare,
) {
    let with_work = jobs.iter().filter(|job| job.desire > 0).count();
    if with_work >= processors {
        for job in jobs {
            job.allotment = job.desire.min(1);
        }
        return;
    }
    let others: usize = jobs.iter().map(|job| job.allotment).sum::<usize>() - jobs[at].allotment;
    let job = &mut jobs[at];
    if job.is_deprived() {
        job.allotment = job.desire.min(processors - others);
        let share = fair_share(jobs, processors);
        while jobs[at].is_deprived() && share.is_above(jobs[at].allotment) {
            let Some(richest) = richest_but(jobs, at) else {
                break;
            };
            jobs[richest].allotment -= 1;
            jobs[at].allotment += 1;
        }
    } else {
        job.allotment = job.desire;
        for _ in others + job.desire..processors {
            let deprived = jobs.iter_mut().filter(|job| job.is_deprived());
            let poorest = deprived.min_by_key(|job| (job.allotment, Reverse(job.desire)));
            let Some(poorest) = poorest else {
                break;
            };
            poorest.allotment += 1;
        }
    }
}

fn richest_but(jobs: &[Share], at: usize) -> Option<usize> {
    let others = (0..jobs.len()).filter(|other| *other != at && jobs[*other].allotment > 0);
    others.min_by_key(|other| Reverse(jobs[*other].allotment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allot::{Allot, AllotState};

    /// Returns the fair share of formula 5.1. Its `jobs` is 0 if the formula divides by zero.
    fn one_step(jobs: &[Share], processors: usize) -> FairShare {
        let with_work = jobs.iter().filter(|job| job.desire > 0);
        let part = processors / with_work.clone().count();
        let content = |job: &&Share| job.desire < part;
        let (count, sum) = with_work
            .clone()
            .filter(content)
            .fold((0, 0), |(n, sum), job| (n + 1, sum + job.allotment));
        FairShare {
            processors: processors - sum,
            jobs: with_work.count() - count,
        }
    }

    /// A job's identifier and its new desire.
    type Event = (u64, usize);

    fn run(
        processors: usize,
        events: &[Event],
        share: fn(&[Share], usize) -> FairShare,
    ) -> Vec<usize> {
        let mut jobs: Vec<Share> = vec![];
        for &(job, desire) in events {
            let at = jobs
                .iter()
                .position(|share| share.job == job)
                .unwrap_or(jobs.len());
            if at == jobs.len() {
                jobs.push(Share {
                    job,
                    desire: 0,
                    allotment: 0,
                });
            }
            jobs[at].desire = desire;
            settle(&mut jobs, processors, at, share);
        }
        jobs.iter().map(|job| job.allotment).collect()
    }

    /// With formula 5.1, these events end in an unfair allotment.
    #[test]
    fn iterated_formula_stays_fair() {
        let events = [(1, 3), (2, 1), (1, 20), (3, 16), (4, 7), (1, 6), (1, 13)];
        assert_eq!(run(30, &events, one_step), [10, 1, 12, 7]);
        assert_eq!(run(30, &events, fair_share), [11, 1, 11, 7]);
    }

    /// Replays figure 5-2, one event per row.
    #[test]
    fn published_trace_is_reproduced() {
        let mut machine = AllotState::new(Allot::Dp, 16);
        let trace: [(u64, usize, &[usize]); 10] = [
            (1, 4, &[4]),
            (2, 16, &[4, 12]),
            (3, 2, &[4, 10, 2]),
            (3, 16, &[4, 6, 6]),
            (4, 8, &[4, 4, 4, 4]),
            (5, 8, &[3, 3, 3, 3, 4]),
            (6, 8, &[2, 2, 3, 3, 3, 3]),
            (2, 0, &[3, 4, 3, 3, 3]),
            (3, 0, &[4, 4, 4, 4]),
            (6, 0, &[4, 6, 6]),
        ];
        for (job, desire, after) in trace {
            if desire > 0 {
                machine.arrive(job, desire);
            } else {
                machine.leave(job);
            }
            let allotments: Vec<usize> = machine
                .shares()
                .iter()
                .map(|share| share.allotment)
                .collect();
            assert_eq!(allotments, after, "job {job} desires {desire}");
        }
    }

    /// When one job changes, no processor moves between two other jobs that are satisfied.
    #[test]
    fn change_spares_other_satisfied_jobs() {
        let mut machine = AllotState::new(Allot::Dp, 16);
        for (job, desire) in [(1, 4), (2, 3), (3, 16)] {
            machine.arrive(job, desire);
        }
        machine.arrive(4, 2);
        let allotments = [1, 2, 3, 4].map(|job| machine.allotment(job));
        assert_eq!(allotments, [4, 3, 7, 2]);
        machine.desire(4, 1);
        assert_eq!([1, 2, 3, 4].map(|job| machine.allotment(job)), [4, 3, 8, 1]);
    }
}
