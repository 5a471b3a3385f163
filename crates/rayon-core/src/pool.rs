//! Pools of one's own, and what can be asked of the pool that one is in.

use crate::broadcast::BroadcastContext;
use crate::global::global_pool;
use crate::scope::{Scope, ScopeFifo};
use std::error::Error;
use std::fmt;
use tidegate::closed::{self, ClosedPool, Entry, Member};

/// A pool; from [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
///
/// Inside of [`install`](Self::install) everything uses that pool. Dropping it waits for nothing; its threads end when all that
/// was spawned has run.
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
    /// As there.
    #[deprecated(note = "Use `ThreadPoolBuilder::build`")]
    #[expect(deprecated, reason = "they came together")]
    pub fn new(configuration: crate::Configuration) -> Result<ThreadPool, Box<dyn Error>> {
        configuration.build()
    }

    /// Runs `op` on a thread of the pool and waits for it; right here if this is one.
    ///
    /// A thread of another pool that waits runs, on top of its frame, what was given to its own pool from outside meanwhile.
    ///
    /// # Panics
    /// With the panic of `op`.
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.entry().inside(|_| op())
    }

    /// [`broadcast`](crate::broadcast()) on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        let op = |index, threads| op(BroadcastContext::new(index, threads));
        self.entry().broadcast(op)
    }

    /// How many threads the pool has, for as long as it lives.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.0.threads()
    }

    /// The number of the calling thread in this pool, if it is of this pool: below
    /// [`current_num_threads`](Self::current_num_threads), and the same for ever.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.0.member().map(Member::index)
    }

    /// Whether tasks lie in the calling thread's deque, if it is of this pool. Others may be stealing them.
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.0.member().map(Member::has_work)
    }

    /// [`join`](crate::join()) on this pool.
    ///
    /// # Panics
    /// As there.
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

    /// [`scope`](crate::scope()) on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        let scope = |member: Member<'_>| member.scope(|scope| op(Scope::of(scope)));
        self.entry().inside(scope)
    }

    /// [`scope_fifo`](crate::scope_fifo()) on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        let scope = |member: Member<'_>| member.scope(|scope| op(ScopeFifo::of(scope)));
        self.entry().inside(scope)
    }

    /// [`in_place_scope`](crate::in_place_scope()) with the tasks on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.entry().in_place_scope(|scope| op(Scope::of(scope)))
    }

    /// [`in_place_scope_fifo`](crate::in_place_scope_fifo()) with the tasks on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.entry()
            .in_place_scope(|scope| op(ScopeFifo::of(scope)))
    }

    /// [`spawn`](crate::spawn()) on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.entry().spawn(op);
    }

    /// [`spawn_fifo`](crate::spawn_fifo()) on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.entry().spawn_fifo(op);
    }

    /// [`spawn_broadcast`](crate::spawn_broadcast()) on this pool.
    ///
    /// # Panics
    /// As there.
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        let op = move |index, threads| op(BroadcastContext::new(index, threads));
        self.entry().spawn_broadcast(op);
    }

    /// [`yield_now`], if the calling thread is of this pool.
    pub fn yield_now(&self) -> Option<Yield> {
        self.0.member().map(|member| Yield::of(member.run_any()))
    }

    /// [`yield_local`], if the calling thread is of this pool.
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

/// What became of [`yield_now`] or [`yield_local`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A task was found and has run.
    Executed,
    /// There was none.
    Idle,
}

impl Yield {
    fn of(ran: bool) -> Self {
        if ran { Self::Executed } else { Self::Idle }
    }
}

/// Runs one task of the pool that the calling thread is of, on top of its frame; `None` if it is of none.
pub fn yield_now() -> Option<Yield> {
    Member::with(|member| member.map(|member| Yield::of(member.run_any())))
}

/// Runs one task from the calling thread's own deque, on top of its frame; `None` if it is of no pool.
pub fn yield_local() -> Option<Yield> {
    Member::with(|member| member.map(|member| Yield::of(member.run_own())))
}

/// How many threads the pool has that the calling thread is of, else the global one.
#[inline]
pub fn current_num_threads() -> usize {
    let here = Member::with(|member| member.map(Member::threads));
    here.unwrap_or_else(|| global_pool().current_num_threads())
}

/// The number of the calling thread in its pool, the same for ever; `None` if it is of none.
#[inline]
pub fn current_thread_index() -> Option<usize> {
    Member::with(|member| member.map(Member::index))
}

/// Whether tasks lie in the calling thread's deque; `None` if it is of no pool. Others may be stealing them.
#[inline]
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    Member::with(|member| member.map(Member::has_work))
}

/// The most threads that a pool may have. A higher number is reduced to it.
pub fn max_num_threads() -> usize {
    closed::most_threads()
}
