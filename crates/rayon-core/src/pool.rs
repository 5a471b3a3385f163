//! Thread pools, and queries about the calling thread's pool.

use crate::broadcast::BroadcastContext;
use crate::global::global_pool;
use crate::scope::{Scope, ScopeFifo};
use std::error::Error;
use std::fmt;
use tidegate_core::door::closed::{self, ClosedPool, Entry, Member};

/// A thread pool, built by [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
///
/// Inside [`install`](Self::install), all functions of this crate use that pool. Dropping the pool
/// does not block; its threads end once all spawned tasks have run.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build()?;
/// assert_eq!(pool.install(rayon_core::current_num_threads), 2);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPool(ClosedPool);

impl ThreadPool {
    pub(crate) fn of(pool: ClosedPool) -> Self {
        Self(pool)
    }

    pub(crate) fn entry(&self) -> Entry {
        self.0.entry()
    }

    /// Deprecated in favour of [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
    ///
    /// # Errors
    /// Like [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
    #[deprecated(note = "Use `ThreadPoolBuilder::build`")]
    #[expect(deprecated, reason = "they came together")]
    pub fn new(configuration: crate::Configuration) -> Result<ThreadPool, Box<dyn Error>> {
        configuration.build()
    }

    /// Runs `op` on a thread of the pool and waits for it. If the caller is a thread of the pool,
    /// `op` runs on that thread.
    ///
    /// If the caller belongs to another pool, it may run other tasks on top of its stack while it
    /// waits. It only runs tasks that were passed to its own pool from outside.
    ///
    /// # Panics
    /// If `op` panics, this panics with the same payload.
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.entry().inside(|_| op())
    }

    /// Like [`broadcast`](crate::broadcast()), but on this pool.
    ///
    /// # Panics
    /// Like [`broadcast`](crate::broadcast()).
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        let op = |index, threads| op(BroadcastContext::new(index, threads));
        self.entry().broadcast(op)
    }

    /// Returns the number of threads in the pool, which never changes.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.0.threads()
    }

    /// Returns the calling thread's index in this pool, or `None` if the thread does not belong to
    /// this pool. The index is below [`current_num_threads`](Self::current_num_threads) and never
    /// changes.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.0.member().map(Member::index)
    }

    /// Whether the calling thread's deque holds tasks, or `None` if the thread does not belong to
    /// this pool. Other threads may steal these tasks at any time.
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.0.member().map(Member::has_work)
    }

    /// Like [`join`](crate::join()), but on this pool.
    ///
    /// # Panics
    /// Like [`join`](crate::join()).
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let join = |member: Member<'_>| member.join(oper_a, |_| oper_b());
        self.entry().inside(join)
    }

    /// Like [`scope`](crate::scope()), but on this pool.
    ///
    /// # Panics
    /// Like [`scope`](crate::scope()).
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        let scope = |member: Member<'_>| member.scope(|scope| op(Scope::of(scope)));
        self.entry().inside(scope)
    }

    /// Like [`scope_fifo`](crate::scope_fifo()), but on this pool.
    ///
    /// # Panics
    /// Like [`scope`](crate::scope()).
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        let scope = |member: Member<'_>| member.scope(|scope| op(ScopeFifo::of(scope)));
        self.entry().inside(scope)
    }

    /// Like [`in_place_scope`](crate::in_place_scope()), but the tasks run on this pool.
    ///
    /// # Panics
    /// Like [`scope`](crate::scope()).
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.entry().in_place_scope(|scope| op(Scope::of(scope)))
    }

    /// Like [`in_place_scope_fifo`](crate::in_place_scope_fifo()), but the tasks run on this pool.
    ///
    /// # Panics
    /// Like [`scope`](crate::scope()).
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.entry()
            .in_place_scope(|scope| op(ScopeFifo::of(scope)))
    }

    /// Like [`spawn`](crate::spawn()), but on this pool.
    ///
    /// # Panics
    /// Like [`spawn`](crate::spawn()).
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.entry().spawn(op);
    }

    /// Like [`spawn_fifo`](crate::spawn_fifo()), but on this pool.
    ///
    /// # Panics
    /// Like [`spawn`](crate::spawn()).
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.entry().spawn_fifo(op);
    }

    /// Like [`spawn_broadcast`](crate::spawn_broadcast()), but on this pool.
    ///
    /// # Panics
    /// Like [`spawn_broadcast`](crate::spawn_broadcast()).
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        let op = move |index, threads| op(BroadcastContext::new(index, threads));
        self.entry().spawn_broadcast(op);
    }

    /// Like [`yield_now`], but returns `None` if the calling thread does not belong to this pool.
    pub fn yield_now(&self) -> Option<Yield> {
        self.0.member().map(|member| Yield::of(member.run_any()))
    }

    /// Like [`yield_local`], but returns `None` if the calling thread does not belong to this pool.
    pub fn yield_local(&self) -> Option<Yield> {
        self.0.member().map(|member| Yield::of(member.run_own()))
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .finish_non_exhaustive()
    }
}

/// The result of [`yield_now`] or [`yield_local`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// The thread found a task and ran it.
    Executed,
    /// The thread found no task.
    Idle,
}

impl Yield {
    fn of(ran: bool) -> Self {
        if ran { Self::Executed } else { Self::Idle }
    }
}

/// Runs one task of the calling thread's pool, on top of the thread's stack. Returns `None` if the
/// thread belongs to no pool.
pub fn yield_now() -> Option<Yield> {
    Member::with(|member| member.map(|member| Yield::of(member.run_any())))
}

/// Runs one task from the calling thread's own deque, on top of the thread's stack. Returns `None`
/// if the thread belongs to no pool.
pub fn yield_local() -> Option<Yield> {
    Member::with(|member| member.map(|member| Yield::of(member.run_own())))
}

/// Returns the number of threads in the calling thread's pool, or in the global pool if the thread
/// belongs to no pool.
#[inline]
pub fn current_num_threads() -> usize {
    let here = Member::with(|member| member.map(Member::threads));
    here.unwrap_or_else(|| global_pool().current_num_threads())
}

/// Returns the calling thread's index in its pool, or `None` if the thread belongs to no pool. The
/// index never changes.
#[inline]
pub fn current_thread_index() -> Option<usize> {
    Member::with(|member| member.map(Member::index))
}

/// Whether the calling thread's deque holds tasks, or `None` if the thread belongs to no pool.
/// Other threads may steal these tasks at any time.
#[inline]
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    Member::with(|member| member.map(Member::has_work))
}

/// Returns the maximum number of threads in a pool. The builder reduces larger numbers to this
/// maximum.
pub fn max_num_threads() -> usize {
    closed::most_threads()
}
