//! The interface of rayon-core 1.13.0 on the Tidegate runtime.
//!
//! Programs get it in place of the crate of that name, by a line in the manifest of their workspace:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { git = "…" }
//! ```
//!
//! Everything written for rayon then runs on Tidegate: [`join()`] costs little more than a call, a task that waits runs nothing but what it
//! waits for, and threads without work sleep. What each item promises is what rayon-core documents; `docs/rayon.md` of this
//! repository lists all differences with their reasons.
//!
//! | variable | meaning |
//! |---|---|
//! | `TIDEGATE_WORKERS`, else `RAYON_NUM_THREADS`, else `RAYON_RS_NUM_CPUS` | threads of a pool whose builder says none |
//! | `TIDEGATE_STACK_SIZE`, else `RUST_MIN_STACK` | the same for the stacks of its threads |
//! | `TIDEGATE_WAIT=help-any` | a task that waits runs whatever there is, as on rayon |
//! | `TIDEGATE_EXPLAIN=1` | each pool says at its first use that it is there, how many threads it has and why |
//!
//! `TIDEGATE_SPARE_THREADS`, `TIDEGATE_MAX_THREADS` and `TIDEGATE_MAX_BLOCKING_THREADS` mean nothing here; the other variables of Tidegate mean what they mean there.
//!
//! This crate is a thin layer over [`tidegate::closed`]; it schedules nothing itself.

#![deny(missing_docs)]

mod broadcast;
mod builder;
mod configuration;
mod environment;
mod error;
mod global;
mod join;
mod pool;
mod scope;
mod spawn;
mod thread;

pub use broadcast::{BroadcastContext, broadcast, spawn_broadcast};
pub use builder::ThreadPoolBuilder;
#[expect(deprecated, reason = "they are part of the interface")]
pub use configuration::{Configuration, initialize};
pub use error::ThreadPoolBuildError;
pub use join::{FnContext, join, join_context};
pub use pool::{
    ThreadPool, Yield, current_num_threads, current_thread_has_pending_tasks, current_thread_index,
    max_num_threads, yield_local, yield_now,
};
pub use scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo};
pub use spawn::{spawn, spawn_fifo};
pub use thread::ThreadBuilder;
