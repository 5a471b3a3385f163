//! Detached tasks, their handles, and futures.
//!
//! A spawned closure and its result live in a [`Packet`](packet::Packet), one allocation that the
//! pool's queue and the handle share. The thread that begins the closure runs it: a worker, or the
//! caller of [`Handle::join`] if no worker has begun the task. An atomic word says who has what.
//! A [`future`] also has a packet, and is polled by tasks. [`TaskBuilder`] spawns both.

mod abort;
mod builder;
mod future;
mod handle;
#[cfg(all(test, loom))]
mod models;
mod packet;
mod queue_full;

pub(crate) use builder::Target;
pub use builder::{TaskBuilder, task};
pub use handle::Handle;
pub use queue_full::QueueFull;

use packet::{Cell, Queueing};
use std::sync::Arc;
use tidegate_core::Origin;
use tidegate_core::door::{PoolInner, WorkerThread, spawn};

/// A closure of more bytes gets an allocation of its own: it would be moved to the stack of the
/// thread that runs it, and its memory would last as long as the handle.
const LARGE: usize = 1 << 10;

#[inline]
fn push<T, F>(pool: Arc<PoolInner>, origin: Origin, queued: Queueing, f: F) -> Cell<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if size_of::<F>() > LARGE {
        let f: Box<dyn FnOnce() -> T + Send> = Box::new(f);
        return push(pool, origin, queued, f);
    }
    let (packet, task) = packet::of_closure(pool, origin, queued, f);
    spawn::submit(&packet.pool, queued.class, task);
    if queued.class.is_some() {
        answer_signals();
    }
    packet
}

/// Called when the caller has spawned a task into a queue: no push to its deque has answered its
/// signals.
#[cold]
fn answer_signals() {
    if let Some(here) = WorkerThread::get() {
        here.poll();
    }
}
