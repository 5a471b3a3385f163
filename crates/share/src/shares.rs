//! Computes how many processors a job is entitled to, from a snapshot of the table.

use crate::mask::CpuMask;
use crate::reader::{Seen, Snapshot};
use crate::report::Report;
use tidegate_policy::allot::{Bound, Claim, max_min};
use tidegate_policy::share::neighbours;
use tidegate_policy::tunables::WEIGHT;

/// The current division of the machine, from one job's point of view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// The number of processors that this job is entitled to; 0 if it desires none.
    pub allotment: usize,
    /// The number of processors that the jobs divide: those on which at least one job may run.
    pub processors: usize,
    /// The number of other jobs that desire processors now.
    pub others: usize,
    /// The number of processors that all jobs, including this one, keep busy.
    pub usage: usize,
    /// The number of processors left to programs outside the table.
    pub neighbours: usize,
}

/// A job's portion of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// The processors that the job may run on.
    pub mask: CpuMask,
    /// The number of processors that the job is entitled to; 0 if it desires none, or is stalled.
    pub allotment: usize,
    /// For the job that has read the table, the number that it would be entitled to if it desired
    /// all that its limit allows; 0 if it desires none. For others, the same as `allotment`.
    pub most: usize,
    /// Whether this is the job that has read the table.
    pub is_own: bool,
}

impl Shares {
    /// Computes the shares for the job in row `own`.
    pub(crate) fn of(snapshot: &Snapshot, own: usize) -> Self {
        let (jobs, reports, place) = jobs(snapshot, own, Seen::takes_part);
        let division = Division::of(&reports);
        Self {
            allotment: place.map_or(0, |place| division.allotments[place]),
            processors: division.processors,
            others: jobs.len() - usize::from(place.is_some()),
            usage: reports.iter().map(|report| report.usage).sum(),
            neighbours: division.neighbours,
        }
    }
}

impl Portion {
    /// Computes the portion of each job, in order of arrival, for the job in row `own`.
    #[inline]
    pub(crate) fn of_all(snapshot: &Snapshot, own: usize) -> Vec<Self> {
        let (_, mut dividing, place) = jobs(snapshot, own, Seen::takes_part);
        let allotments = Division::of(&dividing).allotments;
        let mut allotments = allotments.iter();
        let most = place.map_or(0, |place| {
            dividing[place].desire = dividing[place].limit;
            Division::of(&dividing).allotments[place]
        });
        let (jobs, reports, _) = jobs(snapshot, own, |_| true);
        let mut portions = Vec::new();
        for (seen, report) in jobs.iter().zip(&reports) {
            let is_own = seen.index == own;
            // The jobs that take part are in the same order here.
            let allotment = seen.takes_part().then(|| allotments.next());
            let allotment = *allotment.flatten().unwrap_or(&0);
            portions.push(Self {
                mask: report.mask,
                allotment,
                most: if is_own { most } else { allotment },
                is_own,
            });
        }
        portions
    }
}

/// Returns the selected jobs in order of arrival, what they have published, and the place of the
/// job in row `own`. An empty set of processors is replaced with that of this job.
fn jobs(
    snapshot: &Snapshot,
    own: usize,
    select: fn(&Seen) -> bool,
) -> (Vec<&Seen>, Vec<Report>, Option<usize>) {
    let usual = snapshot.alive.iter().find(|seen| seen.index == own);
    let usual = usual.map_or(CpuMask::EMPTY, |seen| seen.row.report.mask);
    let jobs = snapshot.by_arrival(select);
    let place = jobs.iter().position(|seen| seen.index == own);
    let mut reports = Vec::new();
    for seen in &jobs {
        let mut report = seen.row.report;
        if report.mask.is_empty() {
            report.mask = usual;
        }
        reports.push(report);
    }
    (jobs, reports, place)
}

/// The result of dividing the machine among all jobs.
struct Division {
    processors: usize,
    neighbours: usize,
    allotments: Vec<usize>,
}

impl Division {
    /// Divides the machine among the jobs with these `reports`, which must be in order of arrival.
    fn of(reports: &[Report]) -> Self {
        let mut all = CpuMask::EMPTY;
        let mut claims = Vec::new();
        for report in reports {
            all = all.union(&report.mask);
            claims.push(report.claim());
        }
        // All jobs use the measurement of the same job, because they must compute with the same
        // numbers.
        let measured = reports.iter().find(|report| report.neighbours > 0);
        let measured = measured.map_or(0, |report| report.neighbours);
        let neighbours = neighbours(measured).min(all.len());
        claims.push(Claim {
            weight: WEIGHT.default as u32,
            ..Claim::of(neighbours)
        });
        let members = members(reports, &all, neighbours > 0);
        let mut bounds = Vec::new();
        for (processors, members) in &members {
            bounds.push(Bound {
                processors: *processors,
                members,
            });
        }
        let mut allotments = Vec::new();
        max_min(&claims, &bounds, &mut allotments);
        allotments.truncate(reports.len());
        Self {
            processors: all.len(),
            neighbours,
            allotments,
        }
    }
}

/// Lists each set of processors to which some job is confined, with the indices of all jobs
/// confined to it. The last entry is the whole machine, with all jobs and, if `others`, the
/// programs outside the table.
fn members(reports: &[Report], all: &CpuMask, others: bool) -> Vec<(usize, Vec<usize>)> {
    let mut bounds = Vec::new();
    for (index, Report { mask: set, .. }) in reports.iter().enumerate() {
        let is_known = reports[..index].iter().any(|before| before.mask == *set);
        if set != all && !is_known {
            let mut confined = Vec::new();
            for (job, report) in reports.iter().enumerate() {
                if report.mask.is_subset(set) {
                    confined.push(job);
                }
            }
            bounds.push((set.len(), confined));
        }
    }
    let members = reports.len() + usize::from(others);
    bounds.push((all.len(), (0..members).collect()));
    bounds
}
