//! Programs whose memory depends on the order in which their tasks run.
//!
//! Each declares what it allocates for its own use ([`Runtime::lease`]) right before it does, and gives it back right after. Serial versions do
//! so, too: the most that they declare is the S1 of the bounds. Inputs and products are there before and after a run, whatever its order, and are not declared.
//!
//! | program | a task holds |
//! |---|---|
//! | [`memfib`] | the same, whatever its size |
//! | [`nested`] | an array, for all tasks inside of it |
//! | [`matmul`], [`strassen`] | a temporary of its matrix's size: a quarter of its parent's |
//! | [`sortmany`] | what it sorts, and while it sorts as much again |
//! | [`decompress`] | mostly a little, now and then very much |
//!
//! All but the first are one text for the serial version and both forms of the parallel body: a [`Way`] to make tasks is handed down, and that of the serial version
//! makes none.

pub mod decompress;
pub mod matmul;
pub mod memfib;
pub mod nested;
pub mod product;
pub mod sortmany;
pub mod strassen;

use crate::runtime::Runtime;
use crate::way::{Way, each};

/// Memory of a task, with its lease.
#[derive(Debug)]
struct Block<L, T> {
    // Freed before the lease is given back.
    values: Vec<T>,
    _lease: L,
}

/// So many values that are all the same.
#[track_caller]
fn block<R: Runtime, T: Clone>(value: T, length: usize) -> Block<R::Lease, T> {
    let lease = R::lease(length.saturating_mul(size_of::<T>()));
    Block {
        values: vec![value; length],
        _lease: lease,
    }
}
