//! From a snapshot of the table to the number of processors of one job.

use crate::layout::Row;
use crate::mask::CpuMask;
use crate::reader::{Seen, Snapshot};
use tidegate_policy::allot::{Bound, Claim, max_min};
use tidegate_policy::share::neighbours;
use tidegate_policy::tunables::WEIGHT;

/// How the machine is divided at this moment, as one job sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// The job's own processors; 0 if it desires none.
    pub allotment: usize,
    /// How many processors are divided: all on which one of the jobs may run.
    pub processors: usize,
    /// How many other jobs desire processors now.
    pub others: usize,
    /// How many processors all jobs together keep busy, this one included.
    pub usage: usize,
    /// How many of the processors are left to programs that are not in the table.
    pub neighbours: usize,
}

impl Shares {
    /// Those of the job in row `own`.
    pub(crate) fn of(snapshot: &Snapshot, own: usize) -> Self {
        let mut jobs: Vec<&Seen> = snapshot
            .alive
            .iter()
            .filter(|seen| seen.takes_part())
            .collect();
        jobs.sort_unstable_by_key(|seen| (seen.row.arrived, seen.index));
        let place = jobs.iter().position(|seen| seen.index == own);
        let mut rows: Vec<Row> = jobs.iter().map(|seen| seen.row.clone()).collect();
        let usual = place.map_or(CpuMask::default(), |place| rows[place].mask);
        for row in rows.iter_mut().filter(|row| row.mask.is_empty()) {
            row.mask = usual;
        }
        let rows: Vec<&Row> = rows.iter().collect();
        let division = Division::of(&rows);
        Self {
            allotment: place.map_or(0, |place| division.allotments[place]),
            processors: division.processors,
            others: jobs.len() - usize::from(place.is_some()),
            usage: rows.iter().map(|row| row.usage).sum(),
            neighbours: division.neighbours,
        }
    }
}

/// All allotments.
struct Division {
    processors: usize,
    neighbours: usize,
    allotments: Vec<usize>,
}

impl Division {
    /// For these jobs, in the order in which they came.
    fn of(rows: &[&Row]) -> Self {
        let all = rows
            .iter()
            .fold(CpuMask::default(), |all, row| all.union(&row.mask));
        // All go by the measurement of one: they must not divide by different numbers.
        let measured = rows.iter().map(|row| row.neighbours).find(|load| *load > 0);
        let neighbours = neighbours(measured.unwrap_or(0)).min(all.len());
        let mut claims: Vec<Claim> = rows.iter().map(|row| claim(row)).collect();
        claims.push(Claim {
            weight: WEIGHT.default as u32,
            ..Claim::of(neighbours)
        });
        let members = members(rows, &all, neighbours > 0);
        let bounds: Vec<Bound<'_>> = members
            .iter()
            .map(|(processors, members)| Bound {
                processors: *processors,
                members,
            })
            .collect();
        let mut allotments = Vec::new();
        max_min(&claims, &bounds, &mut allotments);
        allotments.truncate(rows.len());
        Self {
            processors: all.len(),
            neighbours,
            allotments,
        }
    }
}

fn claim(row: &Row) -> Claim {
    Claim {
        desire: row.desire,
        weight: row.weight as u32,
        limit: row.limit,
    }
}

/// Each set of processors that some job is confined to, with the jobs that cannot leave it; the whole with all of them, strangers included.
fn members(rows: &[&Row], all: &CpuMask, strangers: bool) -> Vec<(usize, Vec<usize>)> {
    let mut sets: Vec<&CpuMask> = Vec::new();
    for row in rows {
        if row.mask != *all && !sets.contains(&&row.mask) {
            sets.push(&row.mask);
        }
    }
    let within = |set: &CpuMask| {
        let confined = (0..rows.len()).filter(|job| rows[*job].mask.is_subset(set));
        (set.len(), confined.collect())
    };
    let mut bounds: Vec<(usize, Vec<usize>)> = sets.into_iter().map(within).collect();
    let everybody = rows.len() + usize::from(strangers);
    bounds.push((all.len(), (0..everybody).collect()));
    bounds
}
