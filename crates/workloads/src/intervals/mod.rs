//! Programs whose tasks wait for specific other tasks. Their tasks are intervals, with edges
//! between the starts and ends of intervals.
//!
//! The seven kernels of [`grande`] are assembled as in Thomas Weibel, An Advanced Scheduler for
//! Intervals, 2010: [`fork_join`] for kernels with independent parts, [`lufact`] and [`sor`] with
//! edges from part to part, [`moldyn`] with phases. [`pipeline`], [`wavefront`], [`stencil`] and
//! [`layers`] add graphs of any size; [`rows`] unfolds these graphs in bounded memory.
//!
//! If the parts of a kernel share rows or columns, they only try to take the locks on these and
//! never wait. The run panics if the order of the intervals fails to separate writers from readers.
//!
//! These programs require a runtime with intervals. Their parameters determine the size of pieces.

use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use tidegate::interval::{Interval, IntervalBuilder};

use crate::grande;

pub mod composed;
pub mod fork_join;
pub mod layers;
pub mod lufact;
pub mod moldyn;
pub mod pipeline;
pub mod rows;
pub mod sor;
pub mod stencil;
pub mod wavefront;

pub use composed::{Composed, Grande};

/// The program `crypt`, which runs the kernel [`grande::Crypt`].
pub type Crypt = Grande<grande::Crypt>;
/// The program `lufact`, which runs the kernel [`grande::LuFact`].
pub type Lufact = Grande<grande::LuFact>;
/// The program `moldyn`, which runs the kernel [`grande::MolDyn`].
pub type Moldyn = Grande<grande::MolDyn>;
/// The program `montecarlo`, which runs the kernel [`grande::MonteCarlo`].
pub type Montecarlo = Grande<grande::MonteCarlo>;
/// The program `raytracer`, which runs the kernel [`grande::RayTracer`].
pub type Raytracer = Grande<grande::RayTracer>;
/// The program `series`, which runs the kernel [`grande::Series`].
pub type Series = Grande<grande::Series>;
/// The program `sor`, which runs the kernel [`grande::Sor`].
pub type Sor = Grande<grande::Sor>;

/// The number of rows per batch, for graphs so wide that larger batches wouldn't help.
const BATCH: u64 = 16;

/// Makes the unscheduled interval `next` wait for the end of `before`.
fn follow(before: &Interval<'_>, next: &Interval<'_>) {
    let edge = before.end().before(next.start());
    edge.expect("a draft was created after what it waits for");
}

/// Stores an interval at index `place` of a row, which may be one past the row's end.
fn put<'scope>(row: &mut Vec<Interval<'scope>>, place: usize, interval: Interval<'scope>) {
    match row.get_mut(place) {
        Some(before) => *before = interval,
        None => row.push(interval),
    }
}

/// Schedules `next` and stores it at index `place` of a row. It runs after its left neighbour and
/// after the interval previously stored at that index, which belongs to the previous row.
fn after_above_and_left<'scope>(
    row: &mut Vec<Interval<'scope>>,
    place: usize,
    next: IntervalBuilder<'scope>,
) {
    let left = place.checked_sub(1).map(|left| &row[left]);
    let before = row.get(place).into_iter().chain(left);
    before.for_each(|before| follow(before, &next));
    put(row, place, next.schedule());
}

/// Locks for reading. There must be no concurrent writer.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.try_read().expect("writers come before or after")
}

/// Locks for writing. There must be no concurrent reader or writer.
fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.try_write().expect("all others come before or after")
}

/// Returns the length of each piece if `items` items are divided into `pieces` pieces.
fn piece(items: usize, pieces: usize) -> usize {
    items.div_ceil(pieces).max(1)
}
