//! Reads the table without taking a seat.
//!
//! All functions are `#[inline]`: only commands call them, and programs should not have to compile
//! them.

use crate::file::Table;
use crate::identity::Identity;
use crate::layout::{Name, ROWS, Row};
use crate::location::{Access, Location};
use crate::reader::{Reader, Seen, sweep};
use crate::refusal::Refusal;
use std::path::Path;
use tidegate_policy::Nanos;
use tidegate_sync::clock;

/// Reads the table without changing it.
#[derive(Debug)]
pub struct Observer {
    table: Table,
    reader: Reader,
}

/// A job, as described in its own row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// The job's process id, in its own pid namespace.
    pub pid: u32,
    /// The job's name.
    pub name: Name,
    /// The number of processors that the job could use.
    pub desire: usize,
    /// The number of processors that the job considers itself entitled to.
    pub allotment: usize,
    /// The number of processors that the job keeps busy.
    pub usage: usize,
    /// The maximum number of processors that the job may have.
    pub limit: usize,
    /// The job's weight relative to the other jobs.
    pub weight: usize,
    /// The part of the job's processor time that is spent on useful work, per mille, if the job has
    /// measured it.
    pub efficiency: Option<u32>,
    /// When the job took its seat, in nanoseconds since 1970.
    pub since: Nanos,
    /// The processor time that the job's process had used at its last heartbeat, in nanoseconds.
    pub cpu_time: Nanos,
    /// Whether the job desires processors but has had no heartbeat for a second.
    pub stalled: bool,
}

/// The result of checking the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Soundness {
    /// Jobs that are alive.
    pub alive: Vec<Job>,
    /// Jobs that died without giving up their rows.
    pub dead: Vec<Job>,
    /// Jobs whose process is gone while one of its children holds their row. Such a job no longer
    /// counts. Its row becomes free when the child ends.
    pub orphaned: Vec<Job>,
    /// The number of rows of dead jobs that the check has freed.
    pub repaired: usize,
    /// The number of rows in the table.
    pub rows: usize,
}

impl Observer {
    /// Opens the table at `location`. Returns `None` if there is no table; an observer never
    /// creates one.
    ///
    /// # Errors
    /// Returns an error if the file at `location` is not a table, or cannot be trusted.
    #[inline]
    pub fn open(location: &Location) -> Result<Option<Self>, Refusal> {
        Self::with(location, Access::Observe)
    }

    #[inline]
    fn with(location: &Location, access: Access) -> Result<Option<Self>, Refusal> {
        let table = Table::open(location, access)?;
        let reader = Reader::new(Identity::of_this_process());
        Ok(table.map(|table| Self { table, reader }))
    }

    /// Returns the jobs that are alive, in the order of their arrival. In the result of the first
    /// call, no job is `stalled`.
    ///
    /// # Errors
    /// Returns an error if the table was truncated or can no longer be read.
    #[inline]
    pub fn jobs(&mut self) -> Result<Vec<Job>, Refusal> {
        let snapshot = self.reader.read(&self.table, None, clock::now())?;
        let mut jobs = Vec::new();
        for seen in &snapshot.by_arrival(|_| true) {
            jobs.push(Job::of(&seen.row, !seen.beats));
        }
        Ok(jobs)
    }

    /// Returns whether the path still leads to the table that was opened.
    #[must_use]
    #[inline]
    pub fn is_current(&self) -> bool {
        self.table.is_current()
    }

    /// Returns the path of the table.
    #[must_use]
    #[inline]
    pub fn path(&self) -> &Path {
        self.table.path()
    }

    /// Checks the table at `location`, and frees the rows of jobs that have died. Returns `None` if
    /// there is no table but a job could create it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, for the same reasons as in
    /// [`open`](Self::open); the file is not changed. Also returns an error if there is no table
    /// and no job could create it.
    #[inline]
    pub fn check(location: &Location) -> Result<Option<Soundness>, Refusal> {
        let Some(mut observer) = Self::with(location, Access::Repair)? else {
            return Table::could_be_made(location).map(|()| None);
        };
        let snapshot = observer.reader.read(&observer.table, None, clock::now())?;
        let mut found = Soundness {
            repaired: sweep(&observer.table, &snapshot.dead)?,
            rows: ROWS,
            ..Soundness::default()
        };
        for Seen { row, .. } in &snapshot.alive {
            if observer.reader.is_orphan(row) {
                found.orphaned.push(Job::of(row, false));
            } else {
                found.alive.push(Job::of(row, false));
            }
        }
        for (_, row) in &snapshot.dead {
            found.dead.push(Job::of(row, false));
        }
        Ok(Some(found))
    }
}

impl Job {
    #[inline]
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
            efficiency: (report.efficiency > 0).then_some(report.efficiency),
            since: row.arrived,
            cpu_time: row.cpu_time,
            stalled,
        }
    }
}
