//! Reading the table: which rows count.
//!
//! The rule is docs/table.md, "Who counts". Whether a job still beats is seen by comparing what was read at different times by the
//! reader's own clock; so a reader has a memory.

use crate::file::Table;
use crate::identity::Identity;
use crate::layout::{ROWS, Row};
use crate::refusal::Refusal;
use tidegate_policy::Nanos;
use tidegate_policy::tunables::TABLE_STALL;

/// The memory of one who reads.
#[derive(Debug)]
pub(crate) struct Reader {
    identity: Identity,
    beats: Box<[Beat]>,
    last: Option<Nanos>,
}

/// What was last seen of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Beat {
    generation: u64,
    beat: u64,
    /// When that was seen first.
    since: Nanos,
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// The count of changes from before anything else was read.
    pub(crate) change: u32,
    pub(crate) alive: Vec<Seen>,
    /// Rows in use that nobody has any more.
    pub(crate) dead: Vec<(usize, Row)>,
}

/// A row that a job has.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) index: usize,
    pub(crate) row: Row,
    /// Whether the job desires nothing, or has moved of late; else it is stopped.
    pub(crate) beats: bool,
}

impl Seen {
    /// Whether the job is among those that divide the machine.
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

    /// All rows in use. `own` is the reader's own row, which the lock does not tell it about.
    pub(crate) fn read(
        &mut self,
        table: &Table,
        own: Option<usize>,
        now: Nanos,
    ) -> Result<Snapshot, Refusal> {
        // Who was away for long must not take the others for stopped.
        let away = |last| now.saturating_sub(last) > TABLE_STALL.default / 2;
        // An observer takes them for what it sees: it may look as seldom as it likes.
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

    /// Whether the job in row `index` desires nothing, or has moved of late.
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

    /// Whether the process that has a row is gone, and only a child of it holds the lock.
    pub(crate) fn is_orphan(&self, row: &Row) -> bool {
        row.owner.is_gone(self.identity)
    }
}

/// Frees the rows of the dead. How many were not free by then.
pub(crate) fn sweep(table: &Table, dead: &[(usize, Row)]) -> Result<usize, Refusal> {
    let mut swept = 0;
    for (index, _) in dead {
        swept += usize::from(table.sweep(*index)?);
    }
    Ok(swept)
}
