//! Spawned tasks: handles, futures, cancellation, and what follows a task.

mod bounded;
mod cancellation;
mod context;
mod drops;
mod futures;
#[path = "../support/mod.rs"]
mod support;
mod wakers;
