//! Reads the table and decides which rows count.
//!
//! The rule is in docs/table.md, under "Who counts". To find out whether a job still beats, a
//! reader compares what it reads at different times by its own clock. So it must remember what it
//! has read.

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
    beats: Box<[Beat]>,
    last: Option<Nanos>,
}

/// The state of a row when the reader last looked.
#[derive(Clone, Copy, Debug, Default)]
struct Beat {
    generation: u64,
    beat: u64,
    /// When the reader first saw this state.
    since: Nanos,
}

/// The result of one read of the table.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// The count of changes, which is read before anything else.
    pub(crate) change: u32,
    pub(crate) alive: Vec<Seen>,
    /// Rows in use that no job holds any more.
    pub(crate) dead: Vec<(usize, Row)>,
}

/// A row that a living job holds.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) index: usize,
    pub(crate) row: Row,
    /// Whether the job desires nothing, or has beaten within the stall time. Otherwise it has
    /// stopped.
    pub(crate) beats: bool,
}

impl Seen {
    /// Whether the job takes part in dividing the machine.
    pub(crate) fn takes_part(&self) -> bool {
        self.beats && self.row.report.desire > 0
    }
}

impl Reader {
    pub(crate) fn new(identity: Identity) -> Self {
        Self {
            identity,
            beats: vec![Beat::default(); ROWS].into(),
            last: None,
        }
    }

    /// Reads all rows in use. `own` is the reader's own row. Its lock does not show as held,
    /// because the reader itself holds the lock.
    pub(crate) fn read(
        &mut self,
        table: &Table,
        own: Option<usize>,
        now: Nanos,
    ) -> Result<Snapshot, Refusal> {
        // A job that has not read the table for long must not conclude that the others have
        // stopped.
        let away = |last| now.saturating_sub(last) > TABLE_STALL.default / 2;
        // An observer keeps what it remembers, no matter how rarely it reads.
        if own.is_some() && self.last.is_none_or(away) {
            self.beats.fill(Beat::default());
        }
        self.last = Some(now);
        let head = table.head()?;
        let mut snapshot = Snapshot {
            change: head.change(),
            ..Snapshot::default()
        };
        for (index, claim) in head.in_use() {
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

    /// Whether the job in row `index` desires nothing, or has beaten within the stall time.
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

    /// Whether the process that owns the row is gone, so that only a child of it holds the lock.
    pub(crate) fn is_orphan(&self, row: &Row) -> bool {
        row.owner.is_gone(self.identity)
    }
}

/// Frees the rows of dead jobs. Returns how many rows it has freed. It skips rows that have been
/// freed or taken meanwhile.
pub(crate) fn sweep(table: &Table, dead: &[(usize, Row)]) -> Result<usize, Refusal> {
    let mut swept = 0;
    for (index, _) in dead {
        swept += usize::from(table.sweep(*index)?);
    }
    Ok(swept)
}
