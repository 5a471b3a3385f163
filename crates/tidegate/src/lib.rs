//! An adaptive work-stealing runtime: fork-join at about the price of a call, and workers that rest.
//!
//! ```
//! fn sum(values: &[u64]) -> u64 {
//!     if values.len() < 2 {
//!         return values.iter().sum();
//!     }
//!     let (left, right) = values.split_at(values.len() / 2);
//!     let (a, b) = tidegate::join(|| sum(left), || sum(right));
//!     a + b
//! }
//! assert_eq!(sum(&[1, 2, 3, 4, 5]), 15);
//! ```
//!
//! # Use, in seven steps
//!
//! 1. **Fork.** [`join`] runs two closures, the second on another worker if one has nothing to do. Split as finely as the
//!    problem does: nothing leaves the own worker while nobody is hungry.
//! 2. **Loop.** [`for_each`] visits a range or a slice, [`map_reduce`] combines values in a tree that depends on the length alone, so
//!    that a floating-point sum is the same for any number of workers.
//! 3. **Spawn.** [`scope`] waits for any number of tasks that borrow from its caller, [by priority](Scope::spawn_with_priority) if you say; [`spawn`] starts one that borrows
//!    nothing and gives a [`Handle`].
//! 4. **Say what blocks.** A task that reads from a slow disk does so in [`blocking`]; another thread has its place meanwhile.
//! 5. **Order.** [`interval::run`] runs tasks in whatever order you declare, with locks, values and failures that go along it;
//!    [`Scope::spawn_at`] and [`Pool::install_at`] say beside which cache a task is to run.
//! 6. **Choose.** There is a global pool, made at first use. [`Pool::builder`] makes others, with as many workers and with such policies as
//!    you say; [`Pool::install`] moves a call into one, and inside everything above uses that one.
//! 7. **Look.** [`Pool::stats`] and, for the global pool, [`stats`] tell what the workers did; `TIDEGATE_EXPLAIN=1` makes each pool say why it has so many.
//!
//! # Waiting
//!
//! What a call waits for is all that runs meanwhile on its stack: under [`WaitPolicy::Descendants`](policy::WaitPolicy::Descendants), the default, a worker that waits
//! in a join, a scope or for a loop runs only tasks that descend from what it waits for. When there are none it gives its place to
//! another thread and sleeps. So a task that holds a lock over a join never meets, on its own stack, a stranger that wants the
//! same lock, and no stack gets deeper than the program's own recursion. Two things may run on top of any waiting
//! call: a part of a [`broadcast`], which has to run on that very thread; and, when every thread of a pool waits and none may
//! be started, whatever keeps the pool from standing still for ever ([`Counters::rescues`] counts these).
//!
//! Two halves of a join that wait for each other make progress on two workers. Idle workers sleep, and use no time of any
//! processor.
//!
//! # Where things run
//!
//! | called from | [`join`], [`scope`], [`for_each`], [`map_reduce`], [`broadcast`], [`interval::run`] | [`spawn`] | [`Pool::install`] |
//! |---|---|---|---|
//! | a task of the pool | on its worker | in that pool | right there |
//! | a thread of no pool | on the caller's stack, if the pool has a place for a guest, else on one of its threads | in the global pool | on a thread of the pool |
//! | a task of another pool | methods of a [`Pool`]: on a thread of it; free functions: in the pool of the task | likewise | on a thread of the pool |
//!
//! # Panics
//!
//! A panic of a task never unwinds into the runtime, and ends nothing but what asked for the task:
//!
//! | of | surfaces | when |
//! |---|---|---|
//! | one half of a [`join`] | at the join | after the other half has ended; a second half that nobody has begun is dropped |
//! | a task of a [`scope`], or its body | at the scope | after all tasks have ended |
//! | a call of [`for_each`], [`map_reduce`], [`broadcast`] | there | after all calls that had begun have ended |
//! | a task from [`spawn`] | at [`Handle::join`] | |
//! | the same, its handle dropped | [`Builder::on_panic`], by default a line on standard error | at once |
//!
//! Of several panics the first one is resumed with its own payload, unchanged; the others go to [`Builder::on_panic`].
//!
//! # Other programs
//!
//! Programs of one user that use this crate divide the machine's processors: each pool keeps to its share while others have work, and has
//! all its workers while none has ([`SharePolicy::Auto`](policy::SharePolicy::Auto); [`Builder::share`] says more). [`Stats::allotment`] is how many workers it has at the
//! moment, `tidegate jobs` shows everybody's. A pool that cannot find the others runs as if it were alone; under `TIDEGATE_EXPLAIN=1` it says
//! why.
//!
//! # Environment variables
//!
//! Each is read when a pool is made, in the same form as the flag of the `tidegate` command; `tidegate tunables` prints
//! ranges, defaults and reasons. What the builder says wins.
//!
//! | variable | option | for instance |
//! |---|---|---|
//! | `TIDEGATE_WORKERS` | [`Builder::workers`] | `4` |
//! | `TIDEGATE_IDLE` | [`Builder::idle`] | `linear:min=10us,max=500us` |
//! | `TIDEGATE_STEAL` | [`Builder::steal`] | `half` |
//! | `TIDEGATE_VICTIM` | [`Builder::victim`] | `last-victim` |
//! | `TIDEGATE_WAIT` | [`Builder::wait`] | `help-any` |
//! | `TIDEGATE_QUEUE` | [`Builder::queue`] | `chase-lev` |
//! | `TIDEGATE_MEMORY` | [`Builder::memory`] | `budget:64MiB,serial=8MiB` |
//! | `TIDEGATE_PLACES` | [`Builder::places`] | `package` |
//! | `TIDEGATE_BIND` | [`Builder::bind`] | `on` |
//! | `TIDEGATE_SPARE_THREADS` | [`Builder::spare_threads`] | `0` |
//! | `TIDEGATE_MAX_THREADS` | [`Builder::max_threads`] | `16` |
//! | `TIDEGATE_MAX_BLOCKING_THREADS` | [`Builder::max_blocking_threads`] | `512` |
//! | `TIDEGATE_STACK_SIZE` | [`Builder::stack_size`] | `64MiB` |
//! | `TIDEGATE_SHARE` | [`Builder::share`] | `off` |
//! | `TIDEGATE_WEIGHT` | [`Builder::weight`] | `300` |
//! | `TIDEGATE_DESIRE` | [`Builder::desire`] | `wsap:eta=0.5` |
//! | `TIDEGATE_EST_CYCLE` | [`Builder::est_cycle`] | `10ms` |
//! | `TIDEGATE_TABLE` | the file through which jobs find each other, see [`tidegate_share`] | `/dev/shm/mine/table` |
//! | `TIDEGATE_EXPLAIN` | a line on standard error at a pool's first use | `1` |
//!
//! A bad value is an error of [`Builder::build`] that names the variable and what is allowed. The global pool, which nobody
//! builds, reports it in a line on standard error and goes on with the default. It does the same if `TIDEGATE_WAIT` or
//! `TIDEGATE_QUEUE` contradicts `TIDEGATE_MEMORY`, which wins, or if thieves cannot take what `TIDEGATE_STEAL`
//! says from the queue in use: then they take one task.
//!
//! # After `fork`
//!
//! A child made by `fork` gets fresh threads: the global pool and any [`Pool`] start theirs at their first use there. The
//! thread that forked is outside of all pools in the child, even if it called `fork` inside a task.
//!
//! Such a child should end by `exec` or `exit`. If it returns into the task's joins, scopes, loops and intervals, these end
//! as long as nothing of them was stolen. The child is aborted, with a line on standard error, when it would wait for a
//! thread that only its parent has, or for a lock that one of those held at the fork. Joining a [`Handle`] whose task the
//! parent has begun panics in the child, and so does a spawn into a [`Scope`] of the parent.
//!
//! # Features
//!
//! * `tracing`: events for the crate of that name when a thread starts, stops, parks, is woken, steals, or hands its
//!   place over; nothing of it is compiled in otherwise.
//! * `serde`: [`Stats`] and its parts implement `serde::Serialize`.
//! * `drawing`: `dot` and `svg` of [`interval::Graph`], which draw a recorded run of intervals.
//!
//! [`scope`]: fn@scope
//! [`spawn`]: fn@spawn
//! [`blocking`]: fn@blocking
//! [`broadcast`]: fn@broadcast
//! [`stats`]: fn@stats

#![deny(missing_docs)]

mod allocator;
mod alt_queue;
mod blocking;
mod broadcast;
mod cells;
#[doc(hidden)]
pub mod closed;
mod controller_handle;
mod events;
mod explain;
mod fork;
mod global;
mod handle;
pub mod interval;
mod job;
mod latch;
mod layout;
pub mod memory;
#[cfg(all(test, loom))]
mod models;
mod options;
mod owned;
mod panics;
mod parallel_for;
mod place;
pub mod policy;
mod pool;
mod queue;
mod scope;
mod share_controller;
mod sleep;
mod spawn;
mod stats;
pub mod trace;
mod unwind;
mod worker;
mod worker_id;
mod yield_now;

pub use blocking::{blocking, yield_point};
pub use global::{build_global, current_num_workers, current_place, places};
pub use handle::{Pool, ShutdownTimeout};
pub use options::{BuildError, Builder};
pub use parallel_for::{ParallelItems, chunks, chunks_mut, for_each, map_reduce};
pub use place::PlaceId;
pub use scope::Scope;
pub use spawn::{Handle, QueueFull};
pub use stats::{Breakdown, Counters, MemoryStats, Stats, Waiting, WorkerStats};
#[doc(inline)]
pub use tidegate_machine as machine;
pub use worker::WorkerLocal;
pub use worker_id::{WorkerId, current_worker};

use pool::{enter, observe};
use worker::WorkerThread;

/// What README and the guide show must run.
#[cfg(doctest)]
mod shown {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../README.md")]
    mod readme_of_the_crate {}
    #[doc = include_str!("../../../docs/guide/start.md")]
    mod start {}
    #[doc = include_str!("../../../docs/guide/word-count.md")]
    mod word_count {}
    #[doc = include_str!("../../../docs/guide/task-graph.md")]
    mod task_graph {}
    #[doc = include_str!("../../../docs/guide/server.md")]
    mod server {}
    #[doc = include_str!("../../../docs/guide/search.md")]
    mod search {}
    #[doc = include_str!("../../../docs/guide/batch-memory.md")]
    mod batch_memory {}
    #[doc = include_str!("../../../docs/guide/library.md")]
    mod library {}
    #[doc = include_str!("../../../docs/guide/testing.md")]
    mod testing {}
    #[doc = include_str!("../../../docs/guide/tidegate-or-rayon.md")]
    mod tidegate_or_rayon {}
    #[doc = include_str!("../../../docs/guide/public-bugs.md")]
    mod public_bugs {}
}

/// Runs `a` and `b`, possibly in parallel, and returns both results.
///
/// `a` runs right here. `b` runs here after it, unless a worker without work has taken it in the meantime; then this call
/// helps with what `b` has forked, or sleeps, until `b` has ended. Called from a thread of no pool, both run in the global pool, `a` on
/// the caller's own stack if there is a place for it.
///
/// ```
/// let text = String::from("borrowed by both");
/// let (words, letters) = tidegate::join(|| text.split(' ').count(), || text.len());
/// assert_eq!((words, letters), (3, 16));
/// ```
///
/// # Panics
/// With the panic of `a` or `b`, after the other one has ended; if `a` panics before anybody has begun `b`, then `b` is dropped.
/// If both panic, with that of `a`; the other goes to [`Builder::on_panic`].
///
/// # What the compiler refuses
/// Two closures that write the same variable, or one that writes what the other reads:
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
    match WorkerThread::get() {
        Some(current) => current.join(a, b),
        None => outside(move |current| current.join(a, b)),
    }
}

/// Runs `f` for a caller that belongs to no pool.
#[cold]
#[inline(never)]
fn outside<R: Send>(f: impl FnOnce(WorkerThread<'_>) -> R + Send) -> R {
    enter::take_part(global::global(), f)
}

/// Runs `f` with a [`Scope`] into which it may spawn tasks that borrow what outlives this call, and waits for them.
///
/// `f` runs right here; called from a thread of no pool, in the global pool, on the caller's own stack if there is a place for
/// it. The tasks run here after `f`, or on other workers of the pool at any time from their spawn on, in any order. Tasks may spawn
/// further ones, from any thread that has the scope.
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
/// With the panic of `f`, else with the first one of a task, after all tasks have ended; further ones go to
/// [`Builder::on_panic`].
///
/// # What the compiler refuses
/// A task that borrows what ends before the scope does:
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
    match WorkerThread::get() {
        Some(current) => scope::scope(current, f),
        None => outside(move |current| scope::scope(current, f)),
    }
}

/// Spawns a task that borrows nothing and runs on its own; the handle gives its result.
///
/// It runs on a thread of the pool whose task calls this, else of the global pool; or in [`Handle::join`], if nobody has begun it
/// by then. Dropping the handle lets it run on. Dropping the pool waits for it; the end of the program does not.
///
/// ```
/// let handle = tidegate::spawn(|| 6 * 7);
/// assert_eq!(handle.join(), 42);
/// ```
///
/// # Panics
/// Not here: a panic of the task surfaces at [`Handle::join`], or goes to [`Builder::on_panic`] when the handle was
/// dropped.
///
/// # What the compiler refuses
/// A task that borrows, since nothing says that it ends before what it borrows:
/// ```compile_fail,E0373
/// let number = 1;
/// tidegate::spawn(|| number + 1);
/// ```
pub fn spawn<T, F>(f: F) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match WorkerThread::get() {
        Some(current) => spawn::spawn(&current.shared().as_arc(), f),
        None => spawn::spawn(global::global(), f),
    }
}

/// Calls `f` once on each thread that belongs to the pool at this moment, with numbers from 0 on; results in that order.
///
/// Calls need no slot: sleeping threads run theirs at once, waiting ones on top of their frames, running ones when
/// they come to a boundary, and so do those that had to leave their processor to other jobs. Closures of one call may therefore
/// meet at a barrier. The pool is that of the task which calls this, else the global one; guests are left out.
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// assert_eq!(pool.broadcast(|number| number * 10), [0, 10]);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
///
/// # Panics
/// With the first panic of a call, after all of them have ended.
pub fn broadcast<R: Send>(f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let f = |number, _| f(number);
    match WorkerThread::get() {
        Some(current) => broadcast::broadcast(&current.shared().as_arc(), f),
        None => broadcast::broadcast(global::global(), f),
    }
}

/// What the calling task's pool has done so far. Outside of any pool: the global pool, which starts
/// if it has not yet.
///
/// [`Pool::stats`] says what it costs and what is counted when. The result prints as a summary.
///
/// ```
/// let (a, b) = tidegate::join(|| 1, || 2);
/// let stats = tidegate::stats();
/// assert_eq!(a + b, 3);
/// println!("{stats}");
/// assert!(stats.to_string().starts_with("workers: "));
/// ```
#[must_use]
pub fn stats() -> Stats {
    match WorkerThread::get() {
        Some(current) => observe::stats(current.shared()),
        None => observe::stats(global::global()),
    }
}
