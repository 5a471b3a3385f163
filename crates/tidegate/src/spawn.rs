//! Detached tasks, their handles, and futures.
//!
//! A spawned closure and its result live in a [`Packet`], which the task and its handle share. The
//! thread that takes out the closure runs it: a worker, or the caller of [`Handle::join`] if no
//! worker has begun the task. One small lock protects the packet. A [`future`] also has a packet,
//! and is polled by tasks.

mod abort;
#[cfg(all(test, unix, not(any(loom, miri, tidegate_tsan))))]
mod forked_tests;
mod future;
mod handle;
mod named;
mod packet;
pub(crate) mod priority;
mod queue_full;

pub(crate) use future::spawn_future;
pub use handle::Handle;
pub use named::spawn_named;
pub use priority::spawn_at_priority;
pub use queue_full::QueueFull;

use crate::job::Task;
use crate::origin::Origin;
use crate::pool::enter;
use crate::pool::{PoolInner, SpawnBound};
use crate::simulated;
use crate::sleep::wake;
use crate::unwind::{self, UnhandledPanic};
use crate::worker::WorkerThread;
use crate::worker::carry::{self, Carried};
use crate::worker::{run, wait};
use packet::Packet;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use tidegate_policy::Priority;

/// Spawns a task. Outside a pool that bounds its queue, waits until the queue is within the bound.
pub(crate) fn spawn<T, F>(pool: &Arc<PoolInner>, origin: Origin, f: F) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    within_bound(pool, |is_counted| {
        submit_packet(pool, origin, f, is_counted)
    })
}

/// Calls `submit`, which spawns a task, and then waits until the queue is within the bound that the
/// caller must respect. `submit` is told whether the task counts for that bound.
#[inline]
fn within_bound<R>(pool: &Arc<PoolInner>, submit: impl FnOnce(bool) -> R) -> R {
    let bound = bound_here(pool);
    let excess = bound.and_then(SpawnBound::enter);
    let handle = submit(bound.is_some());
    if let Some(event) = excess {
        wait::for_event(&event);
    }
    handle
}

/// Like `spawn`, for a caller with this context. The task inherits the caller's class.
pub(crate) fn spawn_carried<T, F>(
    pool: &Arc<PoolInner>,
    origin: Origin,
    carried: Carried,
    f: F,
) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match pool.classes.other(carried.priority()) {
        Some(class) => priority::spawn_in_class(pool, class, origin, move || carried.run(f)),
        None => spawn(pool, origin, move || carried.run(f)),
    }
}

/// Spawns a task, unless the queue has reached its bound.
pub(crate) fn try_spawn<T, F>(
    pool: &Arc<PoolInner>,
    origin: Origin,
    f: F,
    carried: Carried,
) -> Result<Handle<T>, QueueFull<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let bound = bound_here(pool);
    if let Some(full) = bound.filter(|bound| !bound.try_enter()) {
        return Err(QueueFull::new(f, full.limit()));
    }
    Ok(match pool.classes.other(carried.priority()) {
        Some(class) => {
            priority::submit_packet(pool, class, origin, move || carried.run(f), bound.is_some())
        }
        None => submit_packet(pool, origin, move || carried.run(f), bound.is_some()),
    })
}

/// Returns the bound that the caller must respect. A task of the pool has no bound, because the
/// queue might not drain while the task waits.
fn bound_here(pool: &Arc<PoolInner>) -> Option<&SpawnBound> {
    let bound = pool.spawn_bound.as_ref();
    bound.filter(|_| WorkerThread::in_pool(pool).is_none())
}

fn submit_packet<T, F>(pool: &Arc<PoolInner>, origin: Origin, f: F, is_counted: bool) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let packet = Packet::of(origin, f);
    let own = packet.clone();
    submit(pool, move |current| {
        run_packet(&own, None, is_counted, current);
    });
    Handle::new(packet, pool)
}

/// Runs the closure in a packet, as the packet's own task, which was queued in this class (`None`:
/// the pool's).
#[inline(always)]
fn run_packet<T>(
    packet: &Packet<T>,
    class: Option<Priority>,
    is_counted: bool,
    current: WorkerThread<'_>,
) {
    let bound = current.pool().spawn_bound.iter();
    bound.filter(|_| is_counted).for_each(SpawnBound::leave);
    let dispatched = current.take_dispatched();
    if !packet.run(current.pool()) && dispatched {
        current.pool().classes.give_turn_back(class);
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

/// Spawns a task without a handle. Its panic is reported.
pub(crate) fn spawn_alone(pool: &Arc<PoolInner>, f: impl FnOnce() + Send + 'static) {
    submit(pool, move |current| run_alone(f, current));
}

/// Like `spawn_alone`, but the tasks that one worker spawns with this function begin in the order
/// in which it spawned them.
///
/// Each task has a stand-in in the deque. Any worker may run the stand-ins, in any order, and each
/// runs the oldest task.
pub(crate) fn spawn_fifo(pool: &Arc<PoolInner>, f: impl FnOnce() + Send + 'static) {
    let Some(current) = WorkerThread::of(pool) else {
        // A task from outside waits in a queue anyway, which keeps the order.
        return spawn_alone(pool, f);
    };
    let spawner = current.index;
    let body = move |current: WorkerThread<'_>| run_alone(f, current);
    current.in_order.push(Task::detached(body, Some(current)));
    submit(pool, move |current| {
        let oldest = current.pool().worker(spawner).in_order.pop();
        oldest
            .expect("one for each stand-in")
            .run(current.as_runner());
    });
}

/// Puts a task without a handle into the queue of its class, behind the tasks there; `None` stands
/// for the class of the pool. Its panic is reported.
pub(crate) fn queue_alone(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    f: impl FnOnce(WorkerThread<'_>) + Send + 'static,
) {
    submit_queued(pool, class, move |current| {
        run_alone(|| f(current), current)
    });
}

/// Creates a task without a handle. The task holds the pool until it has run, and is in no queue
/// yet.
pub(crate) fn task_alone(pool: &PoolInner, f: impl FnOnce() + Send + 'static) -> Task {
    held_task(
        pool,
        move |current| run_alone(f, current),
        WorkerThread::get(),
    )
}

/// Submits a task without a handle to the pool. The task must not unwind. The pool does not end
/// before the task has run.
fn submit(pool: &Arc<PoolInner>, f: impl FnOnce(WorkerThread<'_>) + Send + 'static) {
    submit_by(pool, f, |current, task| {
        // An alternative queue can hide the task until its owner forks again, and a thread that is
        // not running a task might never do so.
        let stays = current.alt_queue.is_none() || current.victim.is_busy.get();
        if stays {
            run::push_or_pass_on(current, task);
        } else {
            run::pass_on(current, task);
        }
    });
}

/// Like `submit`, but always puts the task into the queue of its class; `None` stands for the class
/// of the pool. The pool finds the task there even if all of its threads wait, and runs earlier
/// tasks first.
fn submit_queued(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    f: impl FnOnce(WorkerThread<'_>) + Send + 'static,
) {
    if let Some(class) = pool.classes.other(class) {
        return priority::submit(pool, class, f);
    }
    submit_by(pool, f, run::pass_on);
}

/// Submits a task by `push` if the caller is a worker of the pool, otherwise to the pool's queue.
fn submit_by(
    pool: &Arc<PoolInner>,
    f: impl FnOnce(WorkerThread<'_>) + Send + 'static,
    push: impl FnOnce(WorkerThread<'_>, Task),
) {
    let caller = WorkerThread::get();
    match caller {
        Some(current) if std::ptr::eq(current.pool(), &**pool) => {
            push(current, held_task(pool, f, caller));
        }
        _ => queue(pool, f, caller, |task| pool.injector.push(task)),
    }
}

/// Queues a task for a caller outside the pool, and measures the wait of some of these tasks.
fn queue(
    pool: &Arc<PoolInner>,
    f: impl FnOnce(WorkerThread<'_>) + Send + 'static,
    caller: Option<WorkerThread<'_>>,
    push: impl FnOnce(Task),
) {
    let sample = pool.wait_sampler.draw();
    let body = move |current: WorkerThread<'_>| {
        if let Some(sample) = sample {
            current.tally.queue_wait.record(sample.wait());
        }
        f(current);
    };
    push(held_task(pool, body, caller));
    wake::work_visible(pool, None);
    enter::work_off_alone(pool);
    simulated::switch("spawns a task");
}

fn held_task(
    pool: &PoolInner,
    f: impl FnOnce(WorkerThread<'_>) + Send + 'static,
    caller: Option<WorkerThread<'_>>,
) -> Task {
    pool.hold();
    let body = move |current: WorkerThread<'_>| {
        f(current);
        current.pool().let_go();
    };
    Task::detached(body, caller)
}

/// Runs a closure without a handle, and reports its panic.
fn run_alone(f: impl FnOnce(), current: WorkerThread<'_>) {
    if let Err(payload) = unwind::catch(f) {
        current.pool().panics.report(payload, UnhandledPanic::Task);
    }
}
