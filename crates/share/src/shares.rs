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
        let (jobs, reports) = jobs(snapshot, own, Seen::takes_part);
        let place = jobs.iter().position(|seen| seen.index == own);
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
    pub(crate) fn of_all(snapshot: &Snapshot, own: usize) -> Vec<Self> {
        let (seen, mut dividing) = jobs(snapshot, own, Seen::takes_part);
        let place = seen.iter().position(|seen| seen.index == own);
        let mut allotments = Division::of(&dividing).allotments.into_iter();
        let most = place.map_or(0, |place| {
            dividing[place].desire = dividing[place].limit;
            Division::of(&dividing).allotments[place]
        });
        let (jobs, reports) = jobs(snapshot, own, |_| true);
        let portion = |(seen, report): (&Seen, Report)| {
            let is_own = seen.index == own;
            // The jobs that take part are in the same order here.
            let allotment = match seen.takes_part() {
                true => allotments.next().unwrap_or(0),
                false => 0,
            };
            Self {
                mask: report.mask,
                allotment,
                most: if is_own { most } else { allotment },
                is_own,
            }
        };
        jobs.into_iter().zip(reports).map(portion).collect()
    }
}

/// Returns the selected jobs in order of arrival, and what they have published. An empty set of
/// processors is replaced with that of the job in row `own`.
fn jobs(
    snapshot: &Snapshot,
    own: usize,
    select: impl Fn(&Seen) -> bool,
) -> (Vec<&Seen>, Vec<Report>) {
    let alive = &snapshot.alive;
    let usual = alive.iter().find(|seen| seen.index == own);
    let usual = usual.map_or(CpuMask::default(), |seen| seen.row.report.mask);
    let mut jobs: Vec<&Seen> = alive.iter().filter(|seen| select(seen)).collect();
    jobs.sort_unstable_by_key(|seen| (seen.row.arrived, seen.index));
    let report = |seen: &&Seen| {
        let mut report = seen.row.report;
        if report.mask.is_empty() {
            report.mask = usual;
        }
        report
    };
    let reports = jobs.iter().map(report).collect();
    (jobs, reports)
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
        let all = reports
            .iter()
            .fold(CpuMask::default(), |all, report| all.union(&report.mask));
        // All jobs use the measurement of the same job, because they must compute with the same
        // numbers.
        let measured = reports
            .iter()
            .map(|report| report.neighbours)
            .find(|load| *load > 0);
        let neighbours = neighbours(measured.unwrap_or(0)).min(all.len());
        let mut claims: Vec<Claim> = reports.iter().map(Report::claim).collect();
        claims.push(Claim {
            weight: WEIGHT.default as u32,
            ..Claim::of(neighbours)
        });
        let members = members(reports, &all, neighbours > 0);
        let bounds: Vec<Bound<'_>> = members
            .iter()
            .map(|(processors, members)| Bound {
                processors: *processors,
                members,
            })
            .collect();
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
    let mut sets: Vec<&CpuMask> = Vec::new();
    for report in reports {
        if report.mask != *all && !sets.contains(&&report.mask) {
            sets.push(&report.mask);
        }
    }
    let within = |set: &CpuMask| {
        let confined = (0..reports.len()).filter(|job| reports[*job].mask.is_subset(set));
        (set.len(), confined.collect())
    };
    let mut bounds: Vec<(usize, Vec<usize>)> = sets.into_iter().map(within).collect();
    let members = reports.len() + usize::from(others);
    bounds.push((all.len(), (0..members).collect()));
    bounds
}
