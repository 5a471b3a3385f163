//! Idempotent queues. The owner uses only loads and stores. Its stores may undo a theft that it has
//! not seen yet, and then a task comes out again. See `docs/queues.md`.
//!
//! Based on Michael, Vechev and Saraswat, "Idempotent work stealing", PPoPP 2009.

mod anchor;
mod deque;
mod fifo;
mod lifo;

pub use deque::IdempotentDeque;
pub use fifo::IdempotentFifo;
pub use lifo::IdempotentLifo;
