//! The interface of rayon-core 1.13.0 on the Tidegate runtime.
//!
//! To use it, replace the crate `rayon-core` in your workspace's manifest:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { git = "…" }
//! ```
//!
//! Then all code that uses rayon runs on Tidegate. [`join()`] costs little more than a function
//! call, a waiting thread only runs tasks that it is waiting for, and threads without work sleep.
//! Each item behaves as rayon-core documents it; `docs/rayon.md` in this repository lists and
//! explains all differences.
//!
//! | variable | meaning |
//! |---|---|
//! | `TIDEGATE_WORKERS`, `RAYON_NUM_THREADS`, `RAYON_RS_NUM_CPUS` | default number of threads |
//! | `TIDEGATE_STACK_SIZE`, `RUST_MIN_STACK` | default stack size of the threads |
//! | `TIDEGATE_WAIT=help-any` | a waiting thread runs any task, as with rayon |
//! | `TIDEGATE_EXPLAIN=1` | each pool prints its number of threads, and why, at its first use |
//!
//! If a row lists several variables, the first one that is set applies. `TIDEGATE_MAX_THREADS`,
//! `TIDEGATE_MAX_BLOCKING_THREADS`, `TIDEGATE_MEMORY` and `TIDEGATE_GLOBAL` have no effect here, and
//! a pool shares the machine only if `TIDEGATE_SHARE` is set to `auto` or `on`. Tidegate's other
//! variables have their usual meaning.
//!
//! This crate is a thin layer over [`tidegate_core::door::closed`] and does no scheduling itself.

#![deny(missing_docs, unsafe_code)]

mod broadcast;
mod builder;
mod configuration;
mod environment;
mod error;
mod global;
mod join;
mod pool;
#[allow(unsafe_code, reason = "tasks borrow from the frame of the scope")]
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
