//! The work-stealing queues of the Tidegate runtime.
//!
//! [`split::Split`] is the worker's deque: a private part at the young end that costs its owner no fence and no
//! compare-and-swap, a public part at the old end for thieves, and a border that the owner moves on request or a thief
//! moves by force. The protocol, its bad interleaving and its argument stand in `docs/deque.md`. The other queues have one interface,
//! [`Queue`], whose page compares them; their protocols stand in `docs/queues.md`.
//!
//! Queues hold [`NonNull`](std::ptr::NonNull) pointers, one machine word each, accessed atomically: no slot is ever
//! read and written at the same time as plain memory, so loom, Miri and ThreadSanitizer run unmuzzled. What a pointer
//! means, who frees it and when it may be followed is the caller's business; [`claim`] alone follows its own.

#![deny(missing_docs)]

mod array;
mod blocks;
mod chase_lev;
pub mod claim;
mod duplicating;
mod dynamic;
mod idempotent;
mod lazy;
mod multiplicity;
mod overwrite;
mod own;
mod queue;
mod ring;
mod shared;
mod slots;
pub mod split;
mod store;
mod turn;

pub use blocks::Blocks;
pub use chase_lev::ChaseLev;
pub use duplicating::Duplicating;
pub use dynamic::Dynamic;
pub use idempotent::{IdempotentDeque, IdempotentFifo, IdempotentLifo};
pub use lazy::Lazy;
pub use multiplicity::Multiplicity;
pub use queue::{Cursor, Full, Miss, Queue};
pub use shared::Shared;
pub use split::{Split, Steal};

#[cfg(all(test, loom))]
mod models;
