//! Which task may have memory, and which waits for it. The protocol is docs/memory.md.

pub mod book;
mod form;
pub mod order;
pub mod plan;
pub mod rounds;
mod slab;
pub(crate) mod tunables;

pub use form::{Budget, DepthFirst, DfDeques, Hybrid, MemoryPolicy, SleepFunction};
