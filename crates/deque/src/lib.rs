//! The work-stealing queues of the Tidegate runtime.
//!
//! [`split::Split`] is the worker's deque: a private part at the young end that costs its owner no fence and no
//! compare-and-swap, a public part at the old end for thieves, and a border that the owner moves on request or a thief
//! moves by force. The protocol, its bad interleaving and its argument stand in `docs/deque.md`.
//!
//! Queues hold [`NonNull`](std::ptr::NonNull) pointers, one machine word each, accessed atomically: no slot is ever
//! read and written at the same time as plain memory, so loom, Miri and ThreadSanitizer run unmuzzled. What a pointer
//! means, who frees it and when it may be followed is the caller's business; this crate never follows one.

#![deny(missing_docs)]

mod ring;
pub mod split;

pub use split::{Split, Steal};
