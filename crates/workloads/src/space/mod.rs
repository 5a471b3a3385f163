//! Programs whose memory depends on the order in which their tasks run.
//!
//! Each declares what it allocates for its own use ([`Runtime::lease`](crate::Runtime::lease)) right before it does, and gives it back right after. Serial versions do
//! so, too: the most that they declare is the S1 of the bounds.

pub mod memfib;

use crate::runtime::{Counted, Runtime, Serial};

/// Memory of a task, with its lease.
#[derive(Debug)]
pub(crate) struct Block<L, T = u8> {
    // Freed before the lease is given back.
    pub(crate) values: Vec<T>,
    _lease: L,
}

/// The memory of a serial version.
pub(crate) type Own<T = u8> = Block<Counted, T>;

/// So many values that are all the same.
pub(crate) fn block<R: Runtime, T: Clone>(value: T, length: usize) -> Block<R::Lease, T> {
    let lease = R::lease(length.saturating_mul(size_of::<T>()));
    Block {
        values: vec![value; length],
        _lease: lease,
    }
}

/// The same in a serial version.
pub(crate) fn own<T: Clone>(value: T, length: usize) -> Own<T> {
    block::<Serial, T>(value, length)
}
