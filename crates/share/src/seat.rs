//! Taking part: a row of one's own.

use crate::file::Table;
use crate::identity::Identity;
use crate::layout::{Claim, Name, ROWS, Row};
use crate::location::{Access, Location};
use crate::mask::CpuMask;
use crate::neighbours::Neighbours;
use crate::reader::{Reader, Seen, sweep};
use crate::refusal::{Kind, Refusal};
use crate::report::Report;
use crate::shares::Shares;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
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
    /// The count of changes at the last look.
    seen: u32,
}

impl Seat {
    /// Takes a free row of the table at `location`, which is made if it is not there.
    ///
    /// # Errors
    /// There is no table to be had, or no row is free.
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
            report: Report::new(CpuMask::default()),
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

    /// Writes what the job has to say, and that it lives; to be called every cycle while it desires something. Others are
    /// woken if it makes a difference to them.
    ///
    /// # Errors
    /// The table is not what it was.
    pub fn publish(&mut self, report: &Report) -> Result<(), Refusal> {
        let row = &mut self.row;
        let before = std::mem::replace(&mut row.report, *report);
        row.cpu_time = clock::process_time();
        row.beat = row.beat.wrapping_add(1);
        self.table.write_row(self.index, row)?;
        if report.matters_after(&before) {
            self.table.announce()?;
        }
        Ok(())
    }

    /// Reads how the machine is divided. Rows of jobs that have died are freed on the way.
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    pub fn shares(&mut self) -> Result<Shares, Refusal> {
        let snapshot = self
            .reader
            .read(&self.table, Some(self.index), clock::now())?;
        self.seen = snapshot.change;
        sweep(&self.table, &snapshot.dead)?;
        let own = |seen: &&Seen| {
            seen.index == self.index && seen.row.generation == self.claim.generation()
        };
        match snapshot.alive.iter().find(own) {
            Some(_) => Ok(Shares::of(&snapshot, self.index)),
            None => {
                let what = "does not show this job's row any more: somebody else has written there";
                Err(Refusal::of(Kind::Damaged, self.path(), what))
            }
        }
    }

    /// Measures what strangers do; to be called about once a second by a job that wants to leave them room, and published.
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    pub fn measure(&mut self, neighbours: &mut Neighbours) -> Result<u64, Refusal> {
        let snapshot = self
            .reader
            .read(&self.table, Some(self.index), clock::now())?;
        Ok(neighbours.measure(&snapshot, clock::now()))
    }

    /// Sleeps until somebody changes something that the last [`shares`](Self::shares) has not seen, at most `limit`. May return early.
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    pub fn wait_change(&self, limit: Duration) -> Result<(), Refusal> {
        self.table.wait(self.seen, limit)
    }

    /// What ends a [`wait_change`](Self::wait_change) from another thread.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(self.table.change())
    }

    /// Whether this is still the table that others find under its name. If not, take another seat.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.table.is_current()
    }

    /// The file of the table.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.table.path()
    }
}

/// Wakes one who waits for a change; from [`Seat::waker`].
#[derive(Clone, Debug)]
pub struct Waker(Option<Arc<SharedWord>>);

impl Waker {
    /// Ends the wait of that seat, and of all others of its table: they look and wait again.
    pub fn wake(&self) {
        // Where the file is cut off the wait ends by itself.
        let _ = self.0.as_ref().map(|word| word.add_and_wake());
    }
}

/// Locks a row: one that is not in use if there is one, else one whose job has died.
fn lock_any(table: &Table) -> Result<Option<usize>, Refusal> {
    let head = table.head()?;
    let (taken, free): (Vec<usize>, Vec<usize>) =
        (0..ROWS).partition(|index| head.claim(*index).is_in_use());
    for index in free.into_iter().chain(taken) {
        if table.lock(index)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

impl Drop for Seat {
    fn drop(&mut self) {
        // In a child made by `fork` each of these is refused. Whatever else fails, the lock ends with the file.
        let _ = self.table.write_claim(self.index, self.claim.given_back());
        let _ = self.table.announce();
        let _ = self.table.unlock(self.index);
    }
}
