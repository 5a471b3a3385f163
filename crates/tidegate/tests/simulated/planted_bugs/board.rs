//! A lost update across a spawn: a task reads a total, spawns a task that also adds to it, and
//! writes the total back.
//!
//! The writer checks that the total is still the one that it has read. But it checks and writes in
//! two steps, and an update between them is lost. Ordinary runs miss this: the gap takes about
//! 20 ns, and the spawned task needs a thief and then 0.1 ms before it updates the total. The
//! writer must be stopped in the gap for all that time. If it is stopped during the spawn, when it
//! may have woken the thief, the check notices the update.

use super::read;
use tidegate::sync::Mutex;

const REGIONS: usize = 3;
const DAY: u64 = 500;
const LATE: u64 = 7;

#[derive(Clone, Copy, Default)]
struct Entry {
    version: u64,
    total: u64,
}

/// The total of each region.
#[derive(Default)]
pub struct Board([Mutex<Entry>; REGIONS]);

impl Board {
    fn get(&self, region: usize) -> Entry {
        *self.0[region].lock().unwrap()
    }

    fn set(&self, region: usize, total: u64) {
        let mut entry = self.0[region].lock().unwrap();
        let version = entry.version + 1;
        *entry = Entry { version, total };
    }

    fn add(&self, region: usize, sales: u64) {
        let mut entry = self.0[region].lock().unwrap();
        entry.version += 1;
        entry.total += sales;
    }

    /// Sets the total of an entry, unless the entry has changed since it was `seen`.
    pub fn set_if_unchanged(&self, region: usize, seen: u64, total: u64) -> bool {
        let is_unchanged = self.get(region).version == seen;
        if is_unchanged {
            self.set(region, total);
        }
        is_unchanged
    }

    /// Like `set_if_unchanged`, but in one step.
    pub fn set_at_once_if_unchanged(&self, region: usize, seen: u64, total: u64) -> bool {
        let mut entry = self.0[region].lock().unwrap();
        let is_unchanged = entry.version == seen;
        if is_unchanged {
            let version = seen + 1;
            *entry = Entry { version, total };
        }
        is_unchanged
    }
}

/// Adds up the sales of each region: those of the day, and in a spawned task those that came late.
pub fn add_up(set_if_unchanged: fn(&Board, usize, u64, u64) -> bool) {
    let board = Board::default();
    tidegate::scope(|scope| {
        for region in 0..REGIONS {
            let board = &board;
            scope.spawn(move |scope| {
                read();
                let seen = board.get(region);
                scope.spawn(move |_| {
                    read();
                    board.add(region, LATE);
                });
                if !set_if_unchanged(board, region, seen.version, seen.total + DAY) {
                    board.add(region, DAY);
                }
            });
        }
    });
    let totals = board.0.map(|entry| entry.into_inner().unwrap().total);
    assert_eq!(totals, [DAY + LATE; REGIONS], "sales are lost");
}
