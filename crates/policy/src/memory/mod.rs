//! Decides which task may have memory now and which must wait. docs/memory.md describes the
//! protocol.

pub mod book;
mod form;
pub mod order;
pub mod plan;
pub mod rounds;
mod slab;
pub(crate) mod tunables;

pub use form::{Budget, DepthFirst, DfDeques, Hybrid, MemoryPolicy, SleepFunction};
