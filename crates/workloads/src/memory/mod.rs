//! Programs whose memory use depends on the order in which their tasks run.
//!
//! Each program declares the memory for its own use ([`Runtime::reserve`]) right before allocating
//! it, and gives the reservation back right after freeing the memory. Serial versions do the same;
//! the peak of what they declare is the S1 in the bounds. Inputs and products exist before and
//! after a run, whatever its order, and are not declared.
//!
//! | program | what a task holds |
//! |---|---|
//! | [`memfib`] | always the same amount |
//! | [`nested`] | an array, for all tasks inside it |
//! | [`matmul`], [`strassen`] | a temporary of its matrix's size, a quarter of its parent's |
//! | [`sortmany`] | what it sorts and, while sorting, the same amount again |
//! | [`decompress`] | usually a little, occasionally very much |
//!
//! In all programs but the first, the serial version and both forms of the parallel body share
//! their code: callers pass down a [`Way`] to create tasks, and the serial version's `Way` creates
//! none.

pub mod decompress;
pub mod matmul;
pub mod memfib;
pub mod nested;
pub mod product;
pub mod sortmany;
pub mod strassen;

use crate::runtime::Runtime;
use crate::way::{Way, each};

/// Allocated memory and its reservation.
#[derive(Debug)]
struct Block<L, T> {
    // Declared first, so that the memory is freed before the reservation is given back.
    values: Vec<T>,
    _reservation: L,
}

/// Reserves memory for `length` copies of `value`, then allocates them.
#[track_caller]
fn block<R: Runtime, T: Clone>(value: T, length: usize) -> Block<R::Reservation, T> {
    let reservation = R::reserve(length.saturating_mul(size_of::<T>()));
    Block {
        values: vec![value; length],
        _reservation: reservation,
    }
}
