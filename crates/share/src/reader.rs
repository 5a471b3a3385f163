//! Reads the table and decides which rows count in dividing the machine.
//!
//! The rule is in docs/table.md, under "Who counts". To find out whether a job still has a
//! heartbeat, a reader compares what it reads at different times, measured by its own clock. So it
//! must remember what it has read.

use crate::file::Table;
use crate::identity::Identity;
use crate::layout::{ROWS, Row};
use crate::refusal::Refusal;
use tidegate_policy::Nanos;
use tidegate_policy::tunables::TABLE_STALL;

/// What a reader remembers of the table.
#[derive(Debug)]
pub(crate) struct Reader {
    identity: Identity,
    beats: Vec<Beat>,
    last: Option<Nanos>,
}

/// A row's heartbeat, as it was when the reader last looked at the row.
#[derive(Clone, Copy, Debug, Default)]
struct Beat {
    generation: u64,
    beat: u64,
    /// When the reader first saw this heartbeat.
    since: Nanos,
}

/// The result of reading the table once.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// The count of changes. It is read before the rows.
    pub(crate) change: u32,
    pub(crate) alive: Vec<Seen>,
    /// Rows that are in use, but whose lock no job holds.
    pub(crate) dead: Vec<(usize, Row)>,
}

impl Snapshot {
    /// Returns the selected jobs in order of arrival.
    pub(crate) fn by_arrival(&self, select: fn(&Seen) -> bool) -> Vec<&Seen> {
        let mut jobs: Vec<&Seen> = Vec::new();
        for seen in self.alive.iter().filter(|seen| select(seen)) {
            let place = jobs.partition_point(|other| other.row.arrived <= seen.row.arrived);
            jobs.insert(place, seen);
        }
        jobs
    }
}

/// A row whose lock a living job holds.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) index: usize,
    pub(crate) row: Row,
    /// Whether the job desires no processors, or has had a heartbeat within the stall time. If not,
    /// it counts as stalled.
    pub(crate) beats: bool,
}

impl Seen {
    /// Returns whether the job takes part in dividing the machine.
    pub(crate) fn takes_part(&self) -> bool {
        self.beats && self.row.report.desire > 0
    }
}

impl Reader {
    pub(crate) fn new(identity: Identity) -> Self {
        Self {
            identity,
            beats: vec![Beat::default(); ROWS],
            last: None,
        }
    }

    /// Reads all rows in use. `own` is the reader's own row, whose lock does not show as held
    /// because the reader itself holds it.
    pub(crate) fn read(
        &mut self,
        table: &Table,
        own: Option<usize>,
        now: Nanos,
    ) -> Result<Snapshot, Refusal> {
        // A job that has not read the table for a long time must not conclude that the other jobs
        // are stalled.
        let away = |last| now.saturating_sub(last) > TABLE_STALL.default / 2;
        // That does not apply to an observer. It remembers the heartbeats, no matter how rarely it
        // reads.
        if own.is_some() && self.last.is_none_or(away) {
            self.beats.fill(Beat::default());
        }
        self.last = Some(now);
        let head = table.head()?;
        let mut snapshot = Snapshot {
            change: head.change(),
            ..Snapshot::default()
        };
        for index in 0..ROWS {
            let claim = head.claim(index);
            if !claim.is_in_use() {
                continue;
            }
            let row = table.row(index)?;
            if own != Some(index) && !table.is_locked(index)? {
                snapshot.dead.push((index, row));
            } else if row.generation == claim.generation() {
                let beats = own == Some(index) || self.beats(index, &row, now);
                snapshot.alive.push(Seen { index, row, beats });
            }
        }
        Ok(snapshot)
    }

    /// Returns whether the job in row `index` desires no processors, or has had a heartbeat within
    /// the stall time.
    fn beats(&mut self, index: usize, row: &Row, now: Nanos) -> bool {
        let seen = &mut self.beats[index];
        if (seen.generation, seen.beat) != (row.generation, row.beat) || seen.since == 0 {
            *seen = Beat {
                generation: row.generation,
                beat: row.beat,
                since: now.max(1),
            };
        }
        row.report.desire == 0 || now.saturating_sub(seen.since) < TABLE_STALL.default
    }

    /// Returns whether the process that owns the row is gone. Then only a child of that process
    /// holds the lock.
    pub(crate) fn is_orphan(&self, row: &Row) -> bool {
        row.owner.is_gone(self.identity)
    }
}

/// Frees the rows of dead jobs, and returns how many it has freed. Skips rows that have been freed
/// or taken meanwhile.
pub(crate) fn sweep(table: &Table, dead: &[(usize, Row)]) -> Result<usize, Refusal> {
    let mut swept = 0;
    for (index, _) in dead {
        swept += usize::from(table.sweep(*index)?);
    }
    Ok(swept)
}
