//! Programs whose tasks wait for single others: intervals, and an order between their points.
//!
//! The seven kernels of [`grande`] are put together as in Tobias Weibel, Implementing
//! and evaluating intervals, 2010: [`fork_join`] for those whose parts have nothing in common,
//! [`lufact`] and [`sor`] by edges from part to part, [`moldyn`] by phases. Beside them are
//! [`pipeline`], [`wavefront`], [`stencil`] and [`layers`], whose graphs are as large as one likes; [`rows`]
//! unfolds them in bounded memory.
//!
//! Where the parts of a kernel share rows or columns they reach them through locks that are only ever
//! tried: if the order of the intervals did not keep writers and readers apart, the run would panic.
//!
//! What they do not do: run on a runtime without intervals, or choose the size of pieces; that is a
//! parameter.

use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use tidegate::interval::{Draft, Interval};

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

/// The program `crypt`.
pub type Crypt = Grande<grande::Crypt>;
/// The program `lufact`.
pub type Lufact = Grande<grande::LuFact>;
/// The program `moldyn`.
pub type Moldyn = Grande<grande::MolDyn>;
/// The program `montecarlo`.
pub type Montecarlo = Grande<grande::MonteCarlo>;
/// The program `raytracer`.
pub type Raytracer = Grande<grande::RayTracer>;
/// The program `series`.
pub type Series = Grande<grande::Series>;
/// The program `sor`.
pub type Sor = Grande<grande::Sor>;

/// Rows that are created together, where the graph is wide enough that more would not help.
const BATCH: u64 = 16;

/// Lets `next`, a draft, wait for the end of `before`.
fn follow(before: &Interval<'_>, next: &Interval<'_>) {
    let edge = before.end().before(next.start());
    edge.expect("a draft was created after what it waits for");
}

/// Puts an interval in its place in a row, which may be the first free one.
fn put<'scope>(row: &mut Vec<Interval<'scope>>, place: usize, interval: Interval<'scope>) {
    match row.get_mut(place) {
        Some(before) => *before = interval,
        None => row.push(interval),
    }
}

/// Schedules a draft in its place in a row, after what stands there, which is of the row before, and after its neighbour to the left.
fn after_above_and_left<'scope>(
    row: &mut Vec<Interval<'scope>>,
    place: usize,
    next: Draft<'scope>,
) {
    let left = place.checked_sub(1).map(|left| &row[left]);
    let before = row.get(place).into_iter().chain(left);
    before.for_each(|before| follow(before, &next));
    put(row, place, next.schedule());
}

/// To read what nobody writes meanwhile.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.try_read().expect("writers come before or after")
}

/// To write what nobody else reads or writes meanwhile.
fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.try_write().expect("all others come before or after")
}

/// The length of pieces into which so many items are divided.
fn piece(items: usize, pieces: usize) -> usize {
    items.div_ceil(pieces).max(1)
}
