//! Spawned tasks: handles, futures, cancellation, and what follows a task.

mod bounded;
mod cancellation;
mod context;
mod drops;
mod futures;
mod wakers;
