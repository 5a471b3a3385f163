//! Idempotent queues. The owner uses only loads and stores, and may undo a theft that it has not
//! seen, so a task may come out again. See `docs/queues.md`.
//!
//! After Michael, Vechev and Saraswat, "Idempotent work stealing", PPoPP 2009.

mod anchor;
mod deque;
mod fifo;
mod lifo;

pub use deque::IdempotentDeque;
pub use fifo::IdempotentFifo;
pub use lifo::IdempotentLifo;
