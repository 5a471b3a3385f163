//! An adaptive work-stealing runtime: a fork that no other worker takes costs 2 to 3 ns, and idle
//! workers sleep.
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
//! # Getting started
//!
//! 1. **Fork.** [`join`] runs two closures, possibly in parallel. Fork as finely as the problem
//!    allows: a task stays with its worker unless another worker is out of work.
//! 2. **Loop.** [`for_each`] visits the items of a range, slice or vector. [`par_map`] collects a
//!    value per item, and [`filter_map`] leaves items out. [`map_reduce`], [`sum`] and
//!    [`fold_reduce`] combine values in a tree whose shape depends only on the number of items, so
//!    a floating-point sum is the same for any number of workers. [`find_any`] and [`any`] end
//!    early. [`sort()`] and [`sort_unstable`] sort a slice. [`chunks`], [`windows`], [`enumerate`] and [`zip`]
//!    define what a loop visits. [`stream`] maps an iterator of any length and returns the results
//!    in order.
//! 3. **Spawn.** [`scope`] runs any number of tasks that may borrow from its caller, optionally [in
//!    order](Scope::spawn_in_order), and waits for them. [`spawn`] starts a task that borrows
//!    nothing, and returns a [`Handle`] to its result; [`task`] also gives it a name, a
//!    class or a token.
//! 4. **Mark blocking calls.** Wrap a slow read in [`blocking`], so that another thread can run
//!    tasks meanwhile.
//! 5. **Order.** [`interval::run`] runs a task graph, with locks, values and failures that follow
//!    the declared order. [`Scope::spawn_at`] and [`Pool::install_at`] choose the cache near which
//!    a task runs.
//! 6. **Configure.** The global pool starts at its first use. [`Pool::builder`] creates other
//!    pools, with any number of workers and other policies. [`Pool::install`] runs a closure in a
//!    pool; inside it, the free functions use that pool.
//! 7. **Stop early.** A [`CancelToken`] or [`with_deadline`] applies to everything that is forked
//!    under it: [`try_scope`](fn@try_scope), [`try_for_each`], [`try_par_map`], [`try_map_reduce`],
//!    [`try_join`] and intervals stop, and a long task calls [`check_cancelled`].
//!    [`Handle::abort`] stops a spawned task. A [`TaskLocal`] value, such as the number of a
//!    request, follows tasks in the same way as tokens. Outside [`sync`], whose names are those of
//!    the standard library, `try_` always means that a closure may return an error or be cancelled.
//! 8. **Observe.** [`Pool::stats`], and [`stats`] for the global pool, report what the workers did.
//!    With `TIDEGATE_EXPLAIN=1`, each pool prints how many workers it has, and why.
//!
//! # Waiting
//!
//! A worker that waits in a join, a scope or a loop only runs tasks that descend from what it waits
//! for. This is [`WaitPolicy::Descendants`](policy::WaitPolicy::Descendants), the default. If there
//! are no such tasks, the worker gives its slot, the right to run, to another thread and sleeps. So
//! if a task holds a lock across a join, no unrelated task that wants the same lock ever runs on
//! top of it, and no stack gets deeper than the program's own recursion.
//!
//! Two things may nevertheless run on top of any waiting call. A part of a [`broadcast`] must run
//! on its thread, even while the thread waits. And if every thread of a pool waits and the pool may
//! not start another, a waiting thread runs queued tasks, to avoid a deadlock;
//! [`Counters::rescues`] counts such cases.
//!
//! If the two halves of a join wait for each other, both make progress in a pool with two workers.
//! Idle workers sleep, and use no processor time.
//!
//! # Where things run
//!
//! * **In a task of the pool**, [`join`], [`scope`], loops, [`sort_unstable`] and [`interval::run`]
//!   run on the task's worker, and [`spawn`] spawns into the task's pool. [`Pool::install`] is a
//!   plain call.
//! * **On a thread outside all pools**, the free functions use the global pool. Functions that wait
//!   run on the caller's own stack if the pool has a free slot, otherwise on one of the pool's
//!   threads. [`Pool::install`] runs on a thread of the pool.
//! * **In a task of one pool**, the methods of another [`Pool`] run on one of that other pool's
//!   threads. The free functions use the task's own pool.
//!
//! [`broadcast`] runs on every thread of the pool.
//!
//! # Panics
//!
//! A panic of a task never unwinds into the runtime. It only ends the call that started the task:
//!
//! * A panic in one half of a [`join`] is resumed by the join, after the other half has ended. A
//!   second half that has not begun is dropped.
//! * A panic of a [`scope`]'s body, or of one of its tasks, is resumed by the scope, after all
//!   tasks have ended.
//! * A panic in a call made by a loop, [`sort_unstable_by`] or [`broadcast`] is resumed by that
//!   function, after all calls that had begun have ended.
//! * A panic in [`try_scope`](fn@try_scope) or a loop whose name begins with `try` also cancels the
//!   remaining tasks or items.
//! * A panic of a task from [`spawn`] or [`spawn_future`] is resumed by [`Handle::join`], or
//!   returned by [`Handle::join_result`]. If the handle was dropped, the panic is passed to
//!   [`Builder::on_panic`], which by default prints a line to standard error.
//! * A panic of the function of a [`stream`] is resumed by the call of `next` that would have
//!   returned the item's result.
//!
//! If several tasks panic, the first panic is resumed with its original payload. The others are
//! passed to [`Builder::on_panic`].
//!
//! # Other programs
//!
//! Programs of one user that use this crate divide the machine's processors among themselves. A
//! pool keeps to its share while other programs have work, and uses all its workers otherwise
//! ([`SharePolicy::Auto`](policy::SharePolicy::Auto); see [`Builder::share`]). [`Stats::allotment`]
//! is the number of workers that the pool may run at the moment; `tidegate jobs` lists all
//! programs. A pool that cannot find them runs as if alone; `TIDEGATE_EXPLAIN=1` prints why.
//!
//! # Environment variables
//!
//! Each variable is read when a pool is built. Its value has the same form as the flag of the
//! `tidegate` command; `tidegate tunables` prints ranges, defaults and reasons. A value set on the
//! builder takes precedence.
//!
//! | variable | option | example |
//! |---|---|---|
//! | `TIDEGATE_WORKERS` | [`Builder::workers`] | `4` |
//! | `TIDEGATE_IDLE` | [`Choose::idle`](policy::Choose::idle) | `linear:min=10us,max=500us` |
//! | `TIDEGATE_STEAL` | [`Choose::steal`](policy::Choose::steal) | `half` |
//! | `TIDEGATE_VICTIM` | [`Choose::victim`](policy::Choose::victim) | `last-victim` |
//! | `TIDEGATE_WAIT` | [`Choose::wait`](policy::Choose::wait) | `help-any` |
//! | `TIDEGATE_QUEUE` | [`Choose::queue`](policy::Choose::queue) | `chase-lev` |
//! | `TIDEGATE_MEMORY` | [`Builder::memory`] | `budget:64MiB,serial=8MiB` |
//! | `TIDEGATE_PLACES` | [`Builder::places`] | `package` |
//! | `TIDEGATE_PRIORITY` | [`Builder::priority`] | `background` |
//! | `TIDEGATE_PRIORITY_AGING` | [`Builder::priority_aging`] | `16` |
//! | `TIDEGATE_STALL_REPORT` | [`Builder::stall_report`] | `30` |
//! | `TIDEGATE_BIND` | [`Builder::bind`] | `on` |
//! | `TIDEGATE_MAX_THREADS` | [`Builder::max_threads`] | `16` |
//! | `TIDEGATE_MAX_BLOCKING_THREADS` | [`Builder::max_blocking_threads`] | `512` |
//! | `TIDEGATE_STACK_SIZE` | [`Builder::stack_size`] | `64MiB` |
//! | `TIDEGATE_SHARE` | [`Builder::share`] | `off` |
//! | `TIDEGATE_WEIGHT` | [`Builder::weight`] | `300` |
//! | `TIDEGATE_DESIRE` | [`Choose::desire`](policy::Choose::desire) | `wsap:eta=0.5` |
//! | `TIDEGATE_EST_CYCLE` | [`Choose::est_cycle`](policy::Choose::est_cycle) | `10ms` |
//! | `TIDEGATE_GLOBAL` | if `off`, a call that would use the global pool panics; the pool of `rayon-core` ignores this variable | `off` |
//! | `TIDEGATE_CPU_REQUEST` | a container's CPU request, which limits the default number of workers ([`machine`]) | `1500` |
//! | `TIDEGATE_TABLE` | the file that programs share (`docs/table.md`) | `/dev/shm/my/table` |
//! | `TIDEGATE_EXPLAIN` | [`Builder::explain`] | `1` |
//!
//! If a value is invalid, [`Builder::build`] returns an error that names the variable and the
//! accepted values. `TIDEGATE_CPU_REQUEST` and `TIDEGATE_TABLE` are exceptions: the pool is built
//! without them, and `TIDEGATE_EXPLAIN` says why. The global pool has no caller to return an error
//! to, so it prints the error to standard error and uses the default. Only an invalid
//! `TIDEGATE_GLOBAL` makes the call panic, as if it were `off`. Contradictions are handled alike:
//! if `TIDEGATE_MEMORY` excludes the value of `TIDEGATE_WAIT` or `TIDEGATE_QUEUE`, then
//! `TIDEGATE_MEMORY` takes precedence; if the queue in use does not support the value of
//! `TIDEGATE_STEAL`, thieves take one task.
//!
//! # After `fork`
//!
//! A child made by `fork` starts new threads: the global pool and any [`Pool`] start theirs when
//! they are first used in the child, by a new call. The thread that called `fork` is outside all
//! pools in the child, even if it called `fork` inside a task.
//!
//! A child forked inside a task should end by `exec` or `exit`; `exit` may run destructors. The
//! child never runs tasks of its parent and never waits for them. If it returns into a join, scope,
//! loop, interval or other call that began before the fork, it prints a line to standard error and
//! aborts as soon as that call needs the parent's threads or tasks. The same holds for spawning into a [`Scope`] of the parent, and for
//! waiting for a [`Handle`] or stream of the parent; a result that was ready at the fork stays
//! available.
//!
//! Two limits are those of the standard library and of the C library. If a thread of the parent
//! starts or ends at the moment of the fork, no thread can start in the child, and its first use of
//! a pool hangs. And threads that start in the child reuse the stacks of the parent's other
//! threads, so the child must not use values that a closure has borrowed from such a stack.
//!
//! # Platforms
//!
//! The crate needs the standard library. Only the crate that makes the scheduling decisions,
//! [`tidegate_policy`], is `no_std`; it needs `alloc`.
//!
//! * **Linux.** Tested on x86-64, and on aarch64 in an emulator.
//! * **Windows and macOS.** Tested in Wine; for macOS, programs are only linked. Each fork executes
//!   memory fences that Linux makes unnecessary, pools don't share the machine with other programs,
//!   and [`Builder::bind`] has no effect.
//! * **32-bit Linux.** Type-checked for x86 but never run.
//! * **WebAssembly.** `wasm32-wasip1-threads` has threads. On `wasm32-unknown-unknown`, which has
//!   none, the calling thread runs all tasks: calls return as usual, and a task whose handle nobody
//!   joins runs when some call enters the pool, or never. There is no clock either, so deadlines and
//!   durations mean nothing.
//!
//! # Features
//!
//! * `tracing`: emits events for the crate of that name when a thread starts, stops, parks, is
//!   woken, steals, or hands over its slot, and adds `carry_span`, with which spans follow tasks.
//!   A subscriber must not use the pool that emits the event. A panic at an event aborts the
//!   process, because other threads may have pointers into the frames that it would unwind.
//! * `testing`: adds `Builder::simulated` and the module `testing`, with which tests run programs
//!   in orders that a seed determines. In other pools, each lock of [`sync`] then costs one more
//!   thread-local access.
//! * `serde`: [`Stats`] and its parts implement `serde::Serialize`.
//! * `metrics`: adds `metrics::prometheus`, which prints [`Stats`] in the format of Prometheus.
//! * `replay`: adds `trace::replay`, and the functions that write and read a trace as a file.
//! * `drawing`: adds the methods `dot` and `svg` to [`interval::Graph`], which draw a recorded run
//!   of intervals.
//! * `jobserver`: inside `make -j` or `cargo build`, a pool on Linux takes a token of the jobserver
//!   for each worker that runs beyond the first. This feature is for programs, not for libraries:
//!   the pool trusts the descriptors that `MAKEFLAGS` names, unless they were opened by Rust code.
//!
//! [`scope`]: fn@scope
//! [`spawn`]: fn@spawn
//! [`blocking`]: fn@blocking
//! [`broadcast`]: fn@broadcast
//! [`stats`]: fn@stats
//! [`stream`]: fn@stream

#![deny(missing_docs)]

mod cancel;
mod handle;
#[allow(unsafe_code, reason = "tasks borrow from the frame of the root")]
pub mod interval;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(all(test, loom))]
mod models;
#[allow(unsafe_code, reason = "moves items out of a vector")]
mod owned;
mod parallel_for;
#[allow(unsafe_code, reason = "writes results into uninitialized memory")]
mod results;
#[allow(unsafe_code, reason = "moves items between a slice and a buffer")]
mod sort;
#[allow(unsafe_code, reason = "one thread uses the closure")]
mod spawn;
mod stream;
pub mod sync;
mod task_local;
#[cfg(all(feature = "testing", not(loom)))]
pub mod testing;

pub use cancel::{
    CancelToken, Cancelled, TryError, TryScope, check_cancelled, shield, try_for_each, try_join,
    try_map_reduce, try_par_map, try_scope, with_deadline,
};
pub use handle::Pool;
pub use parallel_for::{
    ParallelItems, all, any, chunks, chunks_mut, enumerate, filter_map, find_any, fold_reduce,
    for_each, map_reduce, max_by, min_by, par_map, position_any, sum, windows, zip,
};
pub use sort::{
    sort, sort_by, sort_by_cached_key, sort_by_key, sort_unstable, sort_unstable_by,
    sort_unstable_by_key,
};
use spawn::Target;
pub use spawn::{Handle, QueueFull, TaskBuilder, task};
pub use stream::{Mapped, Ordered, Stream, stream};
pub use task_local::TaskLocal;
#[cfg(feature = "tracing")]
#[doc(inline)]
pub use tidegate_core::carry_span;
#[doc(inline)]
pub use tidegate_core::{
    Breakdown, BuildError, Counters, Histogram, MemoryStats, Origin, PanicReport, PlaceId,
    Priority, Scope, ShutdownTimeout, Stats, Waiting, WorkerId, WorkerLocal, WorkerStats, blocking,
    broadcast, current_num_workers, current_place, current_worker, join, machine, memory, places,
    policy, scope, stats, trace, yield_point,
};

/// Configures a [`Pool`]; created by [`Pool::builder`]. [`tidegate_core::Builder`] describes all
/// options.
pub type Builder = tidegate_core::Builder<Pool>;

/// Starts the global pool with the options of `builder`. See [`tidegate_core::build_global`].
///
/// ```
/// use tidegate::Pool;
///
/// tidegate::build_global(Pool::builder().workers(2))?;
/// assert_eq!(tidegate::current_num_workers(), 2);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
///
/// # Errors
/// If the global pool exists already, or may not exist, or an option is invalid.
pub fn build_global(builder: Builder) -> Result<(), BuildError> {
    tidegate_core::build_global(builder)
}

/// Runs the examples of the README files and of the guide as tests.
#[cfg(doctest)]
mod shown {
    macro_rules! pages {
        ($($(#[$if:meta])? $name:ident $page:literal)*) => {$(
            $(#[$if])?
            #[doc = include_str!($page)]
            mod $name {}
        )*};
    }

    pages! {
        readme "../../../README.md"
        readme_of_the_crate "../README.md"
        start "../../../docs/guide/start.md"
        adaptors "../../../docs/guide/adaptors.md"
        word_count "../../../docs/guide/word-count.md"
        stream "../../../docs/guide/stream.md"
        task_graph "../../../docs/guide/task-graph.md"
        server "../../../docs/guide/server.md"
        search "../../../docs/guide/search.md"
        batch_memory "../../../docs/guide/batch-memory.md"
        library "../../../docs/guide/library.md"
        testing "../../../docs/guide/testing.md"
        #[cfg(feature = "testing")]
        rare_orders "../../../docs/guide/rare-orders.md"
        #[cfg(all(feature = "metrics", feature = "tracing"))]
        observing "../../../docs/guide/observing.md"
        tidegate_or_rayon "../../../docs/guide/tidegate-or-rayon.md"
        public_bugs "../../../docs/guide/public-bugs.md"
    }
}

/// Spawns a task that borrows nothing, and returns a handle to its result.
///
/// The task runs on a thread of the calling task's pool, or of the global pool if the caller is
/// outside all pools. If the task has not begun when [`Handle::join`] is called, that call may run
/// it. A task whose handle is dropped runs nevertheless, unless [`Handle::abort_on_drop`] was
/// called. Dropping the pool waits for the task, but the end of the program doesn't.
///
/// ```
/// let handle = tidegate::spawn(|| 6 * 7);
/// assert_eq!(handle.join(), 42);
/// ```
///
/// # Panics
/// If the caller is in no task and `TIDEGATE_GLOBAL=off` forbids the global pool. A panic of the
/// task is resumed by [`Handle::join`], or passed to [`Builder::on_panic`] if the handle was
/// dropped.
///
/// # What the compiler rejects
/// A task that borrows, because it may outlive what it borrows:
/// ```compile_fail,E0373
/// let number = 1;
/// tidegate::spawn(|| number + 1);
/// ```
#[inline]
#[track_caller]
pub fn spawn<T, F>(f: F) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    TaskBuilder::new(Target::Here("spawn")).spawn(f)
}

/// Spawns a future, and returns a handle to its result.
///
/// Workers of the pool poll the future: when one of its wakers is called, the pool queues a task
/// that polls it. The pool is that of the calling task, or else the global pool. There is no
/// reactor: timers and sockets need a runtime that wakes the future, such as tokio's
/// (`examples/futures.rs`). Code between two awaits runs on a worker and may call [`join`] and all
/// other functions of this crate.
///
/// Dropping the handle lets the future continue, unless [`Handle::abort_on_drop`] was called.
/// Dropping the pool waits until the future has completed; [`Pool::shutdown_timeout`] limits this
/// wait. The bound of [`Builder::max_queued`] does not apply to futures.
///
/// ```
/// let (a, b) = (tidegate::spawn(|| 6), tidegate::spawn(|| 7));
/// let product = tidegate::spawn_future(async { a.await * b.await });
/// assert_eq!(product.join(), 42);
/// ```
///
/// # Panics
/// Like [`spawn`](fn@spawn). A panic of the future is resumed where the handle returns the result.
/// The handle also panics if the future waits and its last waker has been dropped, because nothing
/// can continue the future. A future that keeps its own waker is not detected, and waits forever.
///
/// # What the compiler rejects
/// A future that borrows, because nothing ensures that it ends before what it borrows:
/// ```compile_fail,E0597
/// let number = 1;
/// let borrows = async { number + 1 };
/// tidegate::spawn_future(borrows);
/// ```
#[track_caller]
pub fn spawn_future<F>(future: F) -> Handle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    TaskBuilder::new(Target::Here("spawn_future")).spawn_future(future)
}
