//! A job's seat: its own row of the table.

use crate::file::Table;
use crate::identity::Identity;
use crate::layout::{Claim, Name, ROWS, Row};
use crate::location::{Access, Location};
use crate::mask::CpuMask;
use crate::neighbours::Neighbours;
use crate::reader::{Reader, Seen, Snapshot, sweep};
use crate::refusal::{Kind, Refusal};
use crate::report::Report;
use crate::shares::{Portion, Shares};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tidegate_policy::Nanos;
use tidegate_sync::clock;
use tidegate_sync::futex::SharedWord;

/// A job's row in the table, from [`take`](Self::take) until it is dropped.
#[derive(Debug)]
pub struct Seat {
    table: Table,
    index: usize,
    claim: Claim,
    row: Row,
    reader: Reader,
    /// The count of changes when the table was last read.
    seen: u32,
}

impl Seat {
    /// Takes a free row of the table at `location`, and creates the table if it is missing.
    ///
    /// # Errors
    /// Returns an error if the table cannot be opened or created, or if no row is free.
    pub fn take(location: &Location, name: &Name) -> Result<Self, Refusal> {
        let path = location.path();
        let table = Table::open(location, Access::Take)?;
        let table = table.ok_or_else(|| Refusal::of(Kind::Unreachable, path, "is not there"))?;
        let Some(index) = lock_any(&table)? else {
            let what = format!("has no room: all of its {ROWS} rows are taken");
            return Err(Refusal::of(Kind::Full, path, what));
        };
        let claim = table.claim(index)?.next();
        let identity = Identity::of_this_process();
        let row = Row {
            generation: claim.generation(),
            owner: identity,
            arrived: clock::wall(),
            beat: 0,
            cpu_time: 0,
            name: *name,
            report: Report::new(CpuMask::EMPTY),
        };
        table.write_row(index, &row)?;
        table.write_claim(index, claim)?;
        table.announce()?;
        Ok(Self {
            table,
            index,
            claim,
            row,
            reader: Reader::new(identity),
            seen: 0,
        })
    }

    /// Takes a seat for the same job in the table to which the path leads now, after the old table
    /// was removed.
    ///
    /// # Errors
    /// Like [`take`](Self::take).
    #[inline]
    pub fn take_again(&self) -> Result<Self, Refusal> {
        Self::take(&Location::at(self.path()), &self.row.name)
    }

    /// Publishes the job's needs and a heartbeat. Call this once per cycle while the job desires
    /// processors. Wakes the other jobs if `report` changes how they divide the machine.
    ///
    /// # Errors
    /// Returns an error if the table was truncated or can no longer be written, or if this process
    /// is a child of the process that took the seat.
    pub fn publish(&mut self, report: &Report) -> Result<(), Refusal> {
        self.publish_outside(report, clock::process_time())
    }

    /// Like [`publish`](Self::publish), for a job that is not this process but other processes,
    /// which have used `cpu_time` of processor time.
    ///
    /// # Errors
    /// Like [`publish`](Self::publish).
    #[inline]
    pub fn publish_outside(&mut self, report: &Report, cpu_time: Nanos) -> Result<(), Refusal> {
        let row = &mut self.row;
        let before = std::mem::replace(&mut row.report, *report);
        row.cpu_time = cpu_time;
        row.beat = row.beat.wrapping_add(1);
        self.table.write_row(self.index, row)?;
        if report.matters_after(&before) {
            self.table.announce()?;
        }
        Ok(())
    }

    /// Reads how the machine is divided, and frees the rows of jobs that have died.
    ///
    /// # Errors
    /// Like [`publish`](Self::publish). Also returns an error if another program has overwritten
    /// this job's row.
    pub fn shares(&mut self) -> Result<Shares, Refusal> {
        Ok(Shares::of(&self.read()?, self.index))
    }

    /// Like [`shares`](Self::shares), but returns the portion of every job, in order of arrival.
    ///
    /// # Errors
    /// Like [`shares`](Self::shares).
    #[inline]
    pub fn division(&mut self) -> Result<Vec<Portion>, Refusal> {
        Ok(Portion::of_all(&self.read()?, self.index))
    }

    /// Reads the table, and frees the rows of jobs that have died.
    fn read(&mut self) -> Result<Snapshot, Refusal> {
        let (own, now) = (Some(self.index), clock::now());
        let snapshot = self.reader.read(&self.table, own, now)?;
        self.seen = snapshot.change;
        sweep(&self.table, &snapshot.dead)?;
        let own = |seen: &Seen| {
            seen.index == self.index && seen.row.generation == self.claim.generation()
        };
        if snapshot.alive.iter().any(own) {
            return Ok(snapshot);
        }
        let what = "does not show this job's row any more: another process has written there";
        Err(Refusal::of(Kind::Damaged, self.path(), what))
    }

    /// Measures how many processors programs outside the table use, in thousandths. A job that
    /// leaves processors to them should call this about once a second and publish the result.
    ///
    /// # Errors
    /// Like [`publish`](Self::publish).
    pub fn measure(&mut self, neighbours: &mut Neighbours) -> Result<u64, Refusal> {
        let (own, now) = (Some(self.index), clock::now());
        let snapshot = self.reader.read(&self.table, own, now)?;
        Ok(neighbours.measure(&snapshot, clock::now()))
    }

    /// Sleeps until the table changes, for at most `limit`. Returns immediately if the table has
    /// changed since the last call to [`shares`](Self::shares). May return early.
    ///
    /// # Errors
    /// Like [`publish`](Self::publish).
    pub fn wait_change(&self, limit: Duration) -> Result<(), Refusal> {
        self.table.wait(self.seen, limit)
    }

    /// Returns a waker with which another thread can end a call to
    /// [`wait_change`](Self::wait_change).
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(self.table.change())
    }

    /// Returns whether the path still leads to this table. If it does not, the job should take a
    /// new seat.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.table.is_current()
    }

    /// Returns the path of the table.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.table.path()
    }
}

/// Wakes a seat that sleeps in [`Seat::wait_change`]. Created by [`Seat::waker`].
#[derive(Clone, Debug)]
pub struct Waker(Option<Arc<SharedWord>>);

impl Waker {
    /// Ends the wait of that seat, and of all other seats of its table. The other seats read the
    /// table and wait again.
    pub fn wake(&self) {
        // If the file was truncated, all waits end even without this call.
        let _ = self.0.as_ref().map(|word| word.add_and_wake());
    }
}

/// Locks a row that is not in use, or, if there is none, the row of a job that has died.
fn lock_any(table: &Table) -> Result<Option<usize>, Refusal> {
    let head = table.head()?;
    for is_in_use in [false, true] {
        for index in 0..ROWS {
            if head.claim(index).is_in_use() == is_in_use && table.lock(index)? {
                return Ok(Some(index));
            }
        }
    }
    Ok(None)
}

impl Drop for Seat {
    fn drop(&mut self) {
        // In a child made by `fork`, each of these calls fails. In the process that took the seat,
        // closing the file releases the lock, even if a call fails.
        let _ = self.table.write_claim(self.index, self.claim.given_back());
        let _ = self.table.announce();
        let _ = self.table.unlock(self.index);
    }
}
