//! The fork-join core of Tidegate: pools, workers, joins, scopes and sleep.
//!
//! The crate [`tidegate`](https://docs.rs/tidegate) re-exports everything here, and adds loops,
//! handles, streams, cancellation, intervals and locks. Its documentation describes how the parts
//! work together, the environment variables and the features. Use this crate directly only to
//! build another interface on the runtime, without the rest of `tidegate`: `rayon-core` and
//! `tidegate-orx` do. The examples here use `tidegate`, as most programs do.

#![deny(missing_docs)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[allow(unsafe_code, reason = "implements an allocator")]
mod allocator;
mod blocking;
mod broadcast;
mod builder;
mod cells;
mod controller_handle;
#[doc(hidden)]
pub mod door;
mod events;
mod explain;
mod fork;
mod global;
mod handle;
#[allow(unsafe_code, reason = "tasks are pointers to objects of unknown types")]
mod job;
mod jobserver;
#[allow(unsafe_code, reason = "a joiner frees the latch")]
mod latch;
mod layout;
pub mod memory;
#[cfg(all(test, loom))]
mod models;
mod options;
mod origin;
mod panics;
mod place;
mod plan;
pub mod policy;
mod pool;
#[allow(unsafe_code, reason = "tasks borrow from the frame of the scope")]
mod scope;
mod share_controller;
mod simulated;
mod sleep;
mod sources;
mod spawn;
mod start;
mod stats;
mod task_context;
pub mod trace;
mod unwind;
#[allow(unsafe_code, reason = "frames and tasks are shared by pointers")]
mod worker;
mod worker_id;
mod yield_now;

pub use blocking::{blocking, yield_point};
pub use builder::{Builder, build_global};
pub use global::{current_num_workers, current_place, places};
pub use handle::{Pool, ShutdownTimeout};
pub use options::BuildError;
pub use origin::Origin;
pub use panics::PanicReport;
pub use place::PlaceId;
pub use scope::Scope;
pub use stats::{Breakdown, Counters, Histogram, MemoryStats, Stats, Waiting, WorkerStats};
#[doc(inline)]
pub use tidegate_machine as machine;
pub use tidegate_policy::Priority;
pub use worker::WorkerLocal;
#[cfg(feature = "tracing")]
pub use worker::carry::carry_span;
pub use worker_id::{WorkerId, current_worker};

use global::{outside, pool_here};
use pool::observe;
use worker::{WorkerThread, carry};

/// Runs `a` and `b`, possibly in parallel, and returns both results.
///
/// `a` runs directly. `b` runs after `a` on the same stack, unless another worker has stolen `b`.
/// In that case, the call runs tasks that `b` has forked, or sleeps, until `b` has ended. If the
/// caller belongs to no pool, both closures run in the global pool, on the caller's own stack if
/// the pool has a free slot.
///
/// ```
/// let text = String::from("borrowed by both");
/// let (words, letters) = tidegate::join(|| text.split(' ').count(), || text.len());
/// assert_eq!((words, letters), (3, 16));
/// ```
///
/// # Panics
/// If `a` or `b` panics, resumes that panic after the other closure has ended. If `a` panics before
/// `b` has begun, `b` is dropped. If both panic, resumes the panic of `a`, and passes the other one
/// to [`Builder::on_panic`].
///
/// # What the compiler rejects
/// Two closures that write the same variable, or a closure that writes what the other reads:
/// ```compile_fail,E0499
/// let mut sum = 0;
/// tidegate::join(|| sum += 1, || sum += 2);
/// ```
/// ```compile_fail,E0502
/// let mut list = vec![1];
/// tidegate::join(|| list.push(2), || list.len());
/// ```
/// Anything that must stay on its thread:
/// ```compile_fail,E0277
/// let counted = std::rc::Rc::new(1);
/// tidegate::join(|| *counted, || 2);
/// ```
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    match WorkerThread::visible() {
        Some(current) => current.join(a, b),
        None => join_carried(a, b),
    }
}

/// Runs [`join`] for a caller that has a context or belongs to no pool.
#[cold]
#[inline(never)]
fn join_carried<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let suspended = carry::carry();
    outside("join", move |current| {
        current.join(|| suspended.carried.run(a), || suspended.carried.run(b))
    })
}

/// Calls `f` with a [`Scope`] that spawns tasks, and waits for these tasks. They may borrow
/// anything that outlives this call.
///
/// `f` runs directly if the caller is a task. If the caller belongs to no pool, `f` runs in the
/// global pool, on the caller's own stack if the pool has a free slot. The tasks run in any order,
/// on the same thread after `f`, or on other workers of the pool as soon as they are spawned. Tasks
/// may spawn further tasks, from any thread that has a reference to the scope.
///
/// ```
/// let mut squares = [1, 2, 3, 4];
/// tidegate::scope(|scope| {
///     for number in &mut squares {
///         scope.spawn(move |_| *number *= *number);
///     }
/// });
/// assert_eq!(squares, [1, 4, 9, 16]);
/// ```
///
/// # Panics
/// Resumes the panic of `f`, or else the first panic of a task, after all tasks have ended. Further
/// panics are passed to [`Builder::on_panic`].
///
/// # What the compiler rejects
/// A task that borrows a value that ends before the scope does:
/// ```compile_fail,E0373
/// tidegate::scope(|scope| {
///     let number = 1;
///     scope.spawn(|_| assert_eq!(number, 1));
/// });
/// ```
/// ```compile_fail,E0597
/// tidegate::scope(|scope| {
///     let number = 1;
///     let borrowed = &number;
///     scope.spawn(move |_| assert_eq!(*borrowed, 1));
/// });
/// ```
pub fn scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    match WorkerThread::visible() {
        Some(current) => scope::scope(current, f),
        None => scope_carried(f),
    }
}

/// Runs [`scope`](fn@scope) for a caller that has a context or belongs to no pool.
#[cold]
fn scope_carried<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    let suspended = carry::carry();
    outside("scope", move |current| {
        scope::scope(current, |scope| suspended.carried.run(|| f(scope)))
    })
}

/// Calls `f` once on each thread that currently belongs to the pool. The argument of `f` is the
/// number of the call, counted from 0. Returns the results in the order of these numbers.
///
/// These calls need no slot. A sleeping thread runs its call immediately, a waiting thread on top
/// of its frames, and a running thread when its deque is empty. A thread that has lost its slot to
/// other programs runs its call when its task waits or ends. The calls of one broadcast may
/// therefore wait for each other at a barrier. The pool is the calling task's, or the global pool
/// if the caller is outside all pools. Guests are not included.
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// let numbers = pool.install(|| tidegate::broadcast(|number| number * 10));
/// assert_eq!(numbers, [0, 10]);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
///
/// # Panics
/// Resumes the first panic of `f`, after all calls have ended.
pub fn broadcast<R: Send>(f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let suspended = carry::carry_unless_visible();
    broadcast::broadcast(&pool_here("broadcast"), |number, _| {
        suspended.carried.run(|| f(number))
    })
}

/// Returns what the calling task's pool has done so far. Outside all pools, reports on the global
/// pool, and starts it if it hasn't started yet.
///
/// [`Pool::stats`] describes the cost of a call, and when each event is counted. Printed with `{}`,
/// the result is a summary.
///
/// ```
/// let (a, b) = tidegate::join(|| 1, || 2);
/// let stats = tidegate::stats();
/// assert_eq!(a + b, 3);
/// println!("{stats}");
/// assert!(stats.to_string().starts_with("workers: "));
/// ```
#[must_use]
#[inline]
pub fn stats() -> Stats {
    global::here("stats", observe::stats)
}
