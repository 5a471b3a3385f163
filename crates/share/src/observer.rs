//! Looking at the table without taking part.

use crate::file::Table;
use crate::identity::Identity;
use crate::layout::{Name, ROWS, Row};
use crate::location::{Access, Location};
use crate::reader::{Reader, sweep};
use crate::refusal::Refusal;
use std::path::Path;
use tidegate_policy::Nanos;
use tidegate_sync::clock;

/// One who reads the table and changes nothing in it.
#[derive(Debug)]
pub struct Observer {
    table: Table,
    reader: Reader,
}

/// A job as it describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// Its process, in that one's own pid namespace.
    pub pid: u32,
    /// What it calls itself.
    pub name: Name,
    /// How many processors it could use.
    pub desire: usize,
    /// How many it takes itself to be entitled to.
    pub allotment: usize,
    /// How many it keeps busy.
    pub usage: usize,
    /// How many it may have at most.
    pub limit: usize,
    /// How much it counts beside the others.
    pub weight: usize,
    /// How much of the time of its processors goes into work, per mille.
    pub efficiency: u32,
    /// When it came, in nanoseconds since 1970.
    pub since: Nanos,
    /// The processor time of its process so far, as of its last beat.
    pub cpu_time: Nanos,
    /// Whether it desires processors and has not moved for a second.
    pub stalled: bool,
}

/// What a check of the table has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Soundness {
    /// Jobs that live.
    pub alive: Vec<Job>,
    /// Jobs that have died without leaving.
    pub dead: Vec<Job>,
    /// Jobs whose process is gone while a child of it holds their row; it is not counted, and free when the child ends.
    pub orphaned: Vec<Job>,
    /// How many rows of dead jobs were freed by the check.
    pub repaired: usize,
    /// How many rows there are.
    pub rows: usize,
}

impl Observer {
    /// Opens the table at `location`; `None` if there is none, which no observer changes.
    ///
    /// # Errors
    /// What is there is no table, or not to be trusted.
    pub fn open(location: &Location) -> Result<Option<Self>, Refusal> {
        Self::with(location, Access::Observe)
    }

    fn with(location: &Location, access: Access) -> Result<Option<Self>, Refusal> {
        let table = Table::open(location, access)?;
        let reader = Reader::new(Identity::of_this_process());
        Ok(table.map(|table| Self { table, reader }))
    }

    /// The jobs that live, in the order in which they came. Whether one is stalled is known from the second look on.
    ///
    /// # Errors
    /// The table is not what it was.
    pub fn jobs(&mut self) -> Result<Vec<Job>, Refusal> {
        let snapshot = self.reader.read(&self.table, None, clock::now())?;
        let mut jobs: Vec<Job> = snapshot
            .alive
            .iter()
            .map(|seen| Job::of(&seen.row, !seen.beats))
            .collect();
        jobs.sort_by_key(|job| job.since);
        Ok(jobs)
    }

    /// Whether the name still leads to the table that was opened.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.table.is_current()
    }

    /// The file of the table.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.table.path()
    }

    /// Checks the table at `location`, and frees the rows of jobs that have died. `None` if there is no table, and the first job can make it.
    ///
    /// # Errors
    /// As [`open`](Self::open), the file is left as it is; or there is no table, and no job can make it.
    pub fn check(location: &Location) -> Result<Option<Soundness>, Refusal> {
        let Some(mut observer) = Self::with(location, Access::Repair)? else {
            return Table::could_be_made(location).map(|()| None);
        };
        let snapshot = observer.reader.read(&observer.table, None, clock::now())?;
        let repaired = sweep(&observer.table, &snapshot.dead)?;
        let (orphaned, alive): (Vec<_>, Vec<_>) = snapshot
            .alive
            .iter()
            .map(|seen| &seen.row)
            .partition(|row| observer.reader.is_orphan(row));
        let jobs = |rows: Vec<&Row>| rows.into_iter().map(|row| Job::of(row, false)).collect();
        Ok(Some(Soundness {
            alive: jobs(alive),
            dead: jobs(snapshot.dead.iter().map(|(_, row)| row).collect()),
            orphaned: jobs(orphaned),
            repaired,
            rows: ROWS,
        }))
    }
}

impl Job {
    fn of(row: &Row, stalled: bool) -> Self {
        let report = &row.report;
        Self {
            pid: row.owner.pid,
            name: row.name,
            desire: report.desire,
            allotment: report.allotment,
            usage: report.usage,
            limit: report.limit,
            weight: report.weight,
            efficiency: report.efficiency,
            since: row.arrived,
            cpu_time: row.cpu_time,
            stalled,
        }
    }
}
