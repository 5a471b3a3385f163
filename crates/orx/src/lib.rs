//! A [`tidegate::Pool`](tidegate_core::Pool) as a [thread pool](ThreadPool) of [`orx_parallel`]: all of its parallel
//! iterators run on Tidegate's workers.
//!
//! ```
//! use orx_parallel::*;
//! use tidegate_orx::OnTidegate;
//!
//! let pool = tidegate::Pool::builder().workers(2).build()?;
//! let even_squares: Vec<usize> = (0..10)
//!     .par()
//!     .on(&pool)
//!     .map(|n| n * n)
//!     .filter(|square| square % 2 == 0)
//!     .collect();
//! assert_eq!(even_squares, [0, 4, 16, 36, 64]);
//! # Ok::<(), tidegate::BuildError>(())
//! ```
//!
//! # How many workers take part
//!
//! orx-parallel spawns a fixed number of tasks when a computation begins: the least of
//! [`Pool::workers`], `num_threads(n)` and the number of items. Each task takes chunk after chunk
//! until no items are left. So:
//!
//! * If fewer workers run than the pool has, because it shares the machine with other programs,
//!   they process all items. A task that begins late finds none.
//! * Workers that the pool gets during a computation don't take part in it (in `par_recursive`, in
//!   the current wave).
//! * With `num_threads(1)`, orx-parallel runs the computation on the calling thread.
//! * Tidegate's environment variables apply. `ORX_NUM_THREADS` doesn't, because it limits only
//!   pools that orx-parallel creates.
//!
//! # Nesting and panics
//!
//! A closure of a computation may start another computation, or call [`tidegate::join`](fn@tidegate_core::join), on the
//! same pool. A worker that waits for the inner call only runs tasks of that call, so it cannot run
//! an unrelated task that needs a lock which the closure holds. This holds for the default
//! [`Choose::wait`](tidegate_core::policy::Choose::wait), and for pools without a memory budget.
//!
//! If a closure panics, the other tasks process the remaining items. Then the call that runs the
//! computation resumes the first panic, with its payload. Further panics are passed to
//! [`Builder::on_panic`](tidegate_core::Builder::on_panic).
//!
//! # Context and cancellation
//!
//! Task-local values (`tidegate::TaskLocal`) and cancellation tokens (`tidegate::CancelToken`) follow
//! the closures of a computation to the workers that run them. A cancelled token alone stops no
//! computation. To stop a computation, let its closures return the error of
//! `tidegate::check_cancelled`, and make it fallible:
//!
//! ```
//! use orx_parallel::*;
//! use tidegate::{CancelToken, Cancelled, check_cancelled};
//! use tidegate_orx::OnTidegate;
//!
//! let sum = || {
//!     let numbers = (0..1000_usize).par().on_tidegate();
//!     let checked = numbers.map(|n| check_cancelled().map(|()| n));
//!     checked.into_fallible().sum()
//! };
//! assert_eq!(sum(), Ok(499_500));
//!
//! let token = CancelToken::new();
//! token.cancel();
//! assert_eq!(token.run(sum), Err(Cancelled));
//! ```
//!
//! # Limits
//!
//! All but the last follow from orx-parallel's interface and hold for its own pools, too.
//!
//! * Only the body of a [`scope`](ThreadPool::scope) can spawn: a task cannot keep the scope, whose
//!   reference has a shorter lifetime. So a task that has taken a chunk cannot give a part of it to
//!   an idle worker, and `chunk_size` limits how evenly the work can be divided. Closures that
//!   fork, by [`tidegate::join`](fn@tidegate_core::join) or a computation of their own, have no such limit.
//! * The compiler accepts a direct call of `scope` only if the closure and the pool borrow nothing,
//!   because the trait's bound holds for every lifetime. For tasks that borrow, call
//!   [`run_all`](ThreadPool::run_all) or [`tidegate::scope`](fn@tidegate_core::scope).
//! * `use_new`, `use_vec` and `fold` create one state for each task. A worker that runs two tasks,
//!   one after the other, uses two states.
//! * In `iter_into_par`, tasks spin while they wait for the iterator. A worker that spins never
//!   reaches a point at which it could stop for another program. If the pool has fewer slots than
//!   tasks, because other programs run, the iterator's `next` should not fork, wait, or call
//!   [`tidegate::blocking`](fn@tidegate_core::blocking) or
//!   [`tidegate::yield_point`](fn@tidegate_core::yield_point): its worker may give its slot up there,
//!   and the spinning ones keep theirs. It then continues without a slot after a grace period
//!   (`owed-grace` and `preempted-grace` in `tidegate tunables`), so an item may take many
//!   milliseconds. For such a source use `tidegate::stream`.
//! * `par_recursive` runs in waves, each of which ends before the next one begins.
//! * `par()` and the similar methods start the threads of orx-parallel's default pool at their
//!   first call, even if [`runner`](orx_parallel::Par::runner) then names another pool. These
//!   threads sleep. A program that depends on orx-parallel and this crate with
//!   `default-features = false` has no such threads. It must use
//!   [`Runner::fixed_with_pool`](orx_parallel::Runner::fixed_with_pool), because the adaptive
//!   runner, and so `OnTidegate`, needs a default feature of both.
//! * [`max_num_threads`](ThreadPool::max_num_threads) returns [`Pool::workers`], not the pool's
//!   current share, because orx-parallel calls it often, and this costs only one load.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

use std::num::NonZeroUsize;

#[cfg(feature = "adaptive")]
use orx_parallel::{Par, Runner};
use orx_parallel::{Scope, ThreadPool};
use tidegate_core::Pool;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// Short forms of [`runner`](orx_parallel::Par::runner) for iterators of orx-parallel. They set the
/// adaptive runner, which is also orx-parallel's default.
///
/// The iterators of `par_recursive` have no short form: pass a [`TidegatePool`] to their `runner`.
#[cfg(feature = "adaptive")]
pub trait OnTidegate: Par {
    /// Runs the computation on this pool, like [`TidegatePool::new`].
    ///
    /// ```
    /// use orx_parallel::*;
    /// use tidegate_orx::OnTidegate;
    ///
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let sum: usize = (0..100).par().on(&pool).map(|n| 2 * n).sum();
    /// assert_eq!(sum, 9900);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    fn on(self, pool: &Pool) -> impl Par<Item = Self::Item, Xap = Self::Xap, Input = Self::Input> {
        self.runner(Runner::adaptive_with_pool(TidegatePool::new(pool)))
    }

    /// Runs the computation on the pool of the calling task, or on the global pool outside of any
    /// pool, like [`TidegatePool::current`].
    ///
    /// ```
    /// use orx_parallel::*;
    /// use tidegate_orx::OnTidegate;
    ///
    /// let sum: usize = (0..100).par().on_tidegate().map(|n| 2 * n).sum();
    /// assert_eq!(sum, 9900);
    /// ```
    fn on_tidegate(self) -> impl Par<Item = Self::Item, Xap = Self::Xap, Input = Self::Input> {
        self.runner(Runner::adaptive_with_pool(TidegatePool::current()))
    }
}

#[cfg(feature = "adaptive")]
impl<P: Par> OnTidegate for P {}

/// A Tidegate pool that implements orx-parallel's [`ThreadPool`].
///
/// To run a computation on it with another runner than that of `OnTidegate`, pass it to
/// [`Runner::fixed_with_pool`](orx_parallel::Runner::fixed_with_pool), for example, and set that
/// runner.
#[derive(Clone, Copy, Debug)]
pub struct TidegatePool<'p>(Option<&'p Pool>);

impl<'p> TidegatePool<'p> {
    /// Uses this pool.
    ///
    /// If a thread outside of all pools starts a computation, and the pool has a free slot, the
    /// thread takes part as a guest: see [`Pool::scope`].
    #[must_use]
    pub fn new(pool: &'p Pool) -> Self {
        Self(Some(pool))
    }
}

impl TidegatePool<'static> {
    /// Uses the pool of the task that starts the computation, or the global pool outside of any
    /// pool, like [`tidegate::scope`](fn@tidegate_core::scope).
    ///
    /// ```
    /// use orx_parallel::*;
    /// use tidegate_orx::TidegatePool;
    ///
    /// let pool = tidegate::Pool::builder().workers(3).build()?;
    /// assert_eq!(pool.install(|| TidegatePool::current().max_num_threads().get()), 3);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    pub fn current() -> Self {
        Self(None)
    }
}

impl ThreadPool for TidegatePool<'_> {
    type ScopeRef<'s, 'env, 'scope>
        = ScopeRef<'s, 'scope>
    where
        'scope: 's,
        'env: 'scope + 's;

    fn scope<'env, 'scope, F>(&'env self, f: F)
    where
        'env: 'scope,
        for<'s> F: FnOnce(ScopeRef<'s, 'scope>) + Send,
    {
        let body = |scope: &tidegate_core::Scope<'scope>| f(ScopeRef(scope));
        match self.0 {
            Some(pool) => pool.scope(body),
            None => tidegate_core::scope(body),
        }
    }

    fn max_num_threads(&self) -> NonZeroUsize {
        let workers = self
            .0
            .map_or_else(tidegate_core::current_num_workers, Pool::workers);
        NonZeroUsize::new(workers).unwrap_or(NonZeroUsize::MIN)
    }
}

/// A [`tidegate::Scope`](tidegate_core::Scope) that implements orx-parallel's [`Scope`]. The body of
/// [`ThreadPool::scope`] gets one.
#[derive(Clone, Copy)]
pub struct ScopeRef<'s, 'scope>(&'s tidegate_core::Scope<'scope>);

impl<'s, 'env, 'scope> Scope<'s, 'env, 'scope> for ScopeRef<'s, 'scope> {
    fn run<W>(self, work: W)
    where
        'scope: 's,
        'env: 'scope + 's,
        W: FnOnce() + Send + 'scope + 'env,
    {
        self.0.spawn(|_| work());
    }
}
