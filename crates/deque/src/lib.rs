//! The work-stealing queues of the Tidegate runtime.
//!
//! [`split::Split`] is the worker's deque. Its private part, at the young end, costs the owner no
//! fence and no compare-and-swap. Thieves take from its public part, at the old end. The owner
//! moves the border between the two on request, or a thief moves it by force. `docs/deque.md`
//! describes the protocol, the interleaving that it must prevent, and why it is correct. All queues
//! implement [`Queue`], whose page compares them; `docs/queues.md` describes their protocols.
//!
//! Queues hold [`NonNull`](std::ptr::NonNull) pointers, one machine word each, and access them
//! atomically. Slots are never accessed as plain memory, so loom, Miri and ThreadSanitizer need no
//! exceptions. The caller decides what a pointer means, when its memory is freed and when it may be
//! followed; only [`claim`] follows its own pointers.

#![deny(missing_docs)]

mod array;
mod blocks;
mod chase_lev;
#[allow(unsafe_code, reason = "a claim decides which copy of a task is used")]
pub mod claim;
mod duplicating;
mod dynamic;
mod idempotent;
mod lazy;
mod multiplicity;
mod overwrite;
mod own;
mod queue;
#[allow(unsafe_code, reason = "slots are shared with thieves")]
mod ring;
mod shared;
#[allow(unsafe_code, reason = "slots are shared with thieves")]
mod slots;
#[allow(unsafe_code, reason = "the owner reads without synchronization")]
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
