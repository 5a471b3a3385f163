//! Detached tasks, their handles, and futures.
//!
//! A spawned closure and its result live in a [`Packet`](packet::Packet), one allocation that the
//! pool's queue and the handle share. The thread that begins the closure runs it: a worker, or the
//! caller of [`Handle::join`] if no worker has begun the task. One small lock protects the packet.
//! A [`future`] also has a packet, and is polled by tasks.

mod abort;
mod future;
mod handle;
#[cfg(all(test, loom))]
mod models;
mod named;
mod packet;
pub(crate) mod priority;
mod queue_full;

pub(crate) use future::spawn_future;
pub use handle::Handle;
pub use named::spawn_named;
pub use priority::spawn_at_priority;
pub use queue_full::QueueFull;

use packet::Queueing;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use tidegate_core::Origin;
use tidegate_core::door::{self, Carried, PoolInner, Task, WorkerThread, carry, wait};
use tidegate_policy::Priority;

/// Spawns a task for `caller`, a function that uses the calling task's pool.
pub(crate) fn from_here<T, F>(caller: &'static str, origin: Origin, f: F) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match WorkerThread::visible() {
        Some(current) => spawn(current.pool().as_arc(), origin, f),
        None => carried_from_here(caller, origin, f),
    }
}

/// Runs [`from_here`] for a caller that has a context or belongs to no pool.
#[cold]
fn carried_from_here<T, F>(caller: &'static str, origin: Origin, f: F) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let suspended = carry::carry();
    spawn_carried(door::pool_here(caller), origin, suspended.carried, f)
}

/// Spawns a task of the pool's class.
pub(crate) fn spawn<T, F>(pool: Arc<PoolInner>, origin: Origin, f: F) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    within_bound(pool, None, origin, f)
}

/// Spawns a task. Outside a pool that bounds its queue, waits until the queue is within the bound.
fn within_bound<T, F>(
    pool: Arc<PoolInner>,
    class: Option<Priority>,
    origin: Origin,
    f: F,
) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let bound = pool.spawn_bound.as_ref().filter(|_| is_outside(&pool));
    let (is_counted, excess) = (bound.is_some(), bound.and_then(|bound| bound.enter()));
    let handle = submit(pool, Queueing { class, is_counted }, origin, f);
    if let Some(event) = excess {
        wait::for_event(&event);
    }
    handle
}

/// Like `spawn`, for a caller with this context. The task inherits the caller's class.
pub(crate) fn spawn_carried<T, F>(
    pool: Arc<PoolInner>,
    origin: Origin,
    carried: Carried,
    f: F,
) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let class = pool.sources.classes.other(carried.priority());
    within_bound(pool, class, origin, move || carried.run(f))
}

/// Spawns a task, unless the queue has reached its bound.
pub(crate) fn try_spawn<T, F>(
    pool: Arc<PoolInner>,
    origin: Origin,
    f: F,
    carried: Carried,
) -> Result<Handle<T>, QueueFull<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let bound = pool.spawn_bound.as_ref().filter(|_| is_outside(&pool));
    if let Some(full) = bound.filter(|bound| !bound.try_enter()) {
        return Err(QueueFull::new(f, full.limit()));
    }
    let queued = Queueing {
        class: pool.sources.classes.other(carried.priority()),
        is_counted: bound.is_some(),
    };
    Ok(submit(pool, queued, origin, move || carried.run(f)))
}

/// Whether the caller must respect the bound. A task of the pool has no bound, because the queue
/// might not drain while the task waits.
fn is_outside(pool: &PoolInner) -> bool {
    WorkerThread::in_pool(pool).is_none()
}

/// A closure of more bytes gets an allocation of its own: it would be moved to the stack of the
/// thread that runs it, and its memory would last as long as the handle.
const LARGE: usize = 1 << 10;

#[inline]
fn submit<T, F>(pool: Arc<PoolInner>, queued: Queueing, origin: Origin, f: F) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if size_of::<F>() > LARGE {
        let f: Box<dyn FnOnce() -> T + Send> = Box::new(f);
        return submit(pool, queued, origin, f);
    }
    let packet = packet::of_closure(pool, origin, queued, f);
    door::spawn::submit(&packet.pool, queued.class, Task::shared(packet.clone()));
    if queued.class.is_some() {
        answer_signals();
    }
    Handle::new(packet)
}

/// Called when the caller has spawned a task into a queue: no push to its deque has answered its
/// signals.
#[cold]
fn answer_signals() {
    if let Some(here) = WorkerThread::get() {
        here.poll();
    }
}

/// Spawns a future that is polled in the caller's context.
pub(crate) fn spawn_future_carried<F>(
    pool: &Arc<PoolInner>,
    origin: Origin,
    future: F,
) -> Handle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let suspended = carry::carry_into(pool);
    if suspended.carried.is_nothing() {
        return spawn_future(pool, None, origin, future);
    }
    let class = suspended.carried.priority();
    let carried = suspended.carried;
    let mut future = Box::pin(future);
    let polled = poll_fn(move |waker| carried.run(|| future.as_mut().poll(waker)));
    spawn_future(pool, class, origin, polled)
}
