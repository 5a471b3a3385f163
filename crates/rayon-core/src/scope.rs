//! Tasks that borrow from a frame, which waits for them.
//!
//! [`Scope`] and [`ScopeFifo`] are Tidegate's scope under other names. A task is handed that scope and looks at it as one of these.

use crate::broadcast::BroadcastContext;
use crate::global::{global, here};
use std::fmt;
use tidegate::closed::{self, Member};

/// Where tasks are spawned that borrow what outlives it; from [`scope`] and [`in_place_scope`].
#[repr(transparent)]
pub struct Scope<'scope>(tidegate::Scope<'scope>);

/// A [`Scope`] of whose tasks those that one thread has spawned begin in that order; from [`scope_fifo`] and
/// [`in_place_scope_fifo`].
#[repr(transparent)]
pub struct ScopeFifo<'scope>(tidegate::Scope<'scope>);

impl<'scope> Scope<'scope> {
    pub(crate) fn of<'a>(scope: &'a tidegate::Scope<'scope>) -> &'a Self {
        // SAFETY: a transparent type lies in memory as its only field does, for which the reference is valid as long.
        unsafe { &*std::ptr::from_ref(scope).cast() }
    }

    /// Spawns a task that runs before the scope ends, on any thread of the scope's pool.
    ///
    /// A thread runs what it has spawned itself youngest first; others steal the oldest.
    ///
    /// # Panics
    /// Not here: the first panic of a task goes on where the scope ends.
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        closed::spawn(&self.0, |scope| body(Self::of(scope)));
    }

    /// Spawns a task for each thread of the scope's pool.
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn).
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        closed::spawn_broadcast(&self.0, move |scope, index, threads| {
            body(Self::of(scope), BroadcastContext::new(index, threads));
        });
    }
}

impl<'scope> ScopeFifo<'scope> {
    pub(crate) fn of<'a>(scope: &'a tidegate::Scope<'scope>) -> &'a Self {
        // SAFETY: as in `Scope::of`.
        unsafe { &*std::ptr::from_ref(scope).cast() }
    }

    /// Spawns a task that runs before the scope ends, on any thread of the scope's pool; what the calling thread has spawned before
    /// begins before it.
    ///
    /// # Panics
    /// As [`Scope::spawn`].
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        closed::spawn_fifo(&self.0, |scope| body(Self::of(scope)));
    }

    /// Spawns a task for each thread of the scope's pool.
    ///
    /// # Panics
    /// As [`Scope::spawn`].
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        closed::spawn_broadcast(&self.0, move |scope, index, threads| {
            body(Self::of(scope), BroadcastContext::new(index, threads));
        });
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeFifo").finish_non_exhaustive()
    }
}

/// Runs `op` with a scope into which it may spawn tasks, and waits for these.
///
/// Inside a pool `op` runs right here; called from a thread of no pool, on a thread of the global one.
///
/// ```
/// let mut squares = [1, 2, 3];
/// rayon_core::scope(|scope| {
///     for number in &mut squares {
///         scope.spawn(move |_| *number *= *number);
///     }
/// });
/// assert_eq!(squares, [1, 4, 9]);
/// ```
///
/// # Panics
/// With the panic of `op`, else with the first one of a task, after all tasks have ended.
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    in_pool(|scope| op(Scope::of(scope)))
}

/// [`scope`] with tasks in the order of their spawns.
///
/// # Panics
/// As [`scope`].
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    in_pool(|scope| op(ScopeFifo::of(scope)))
}

fn in_pool<'scope, R: Send>(op: impl FnOnce(&tidegate::Scope<'scope>) -> R + Send) -> R {
    Member::with(|member| match member {
        Some(member) => member.scope(op),
        None => global().inside(|member| member.scope(op)),
    })
}

/// [`scope`] whose `op` runs on the calling thread in any case; only the tasks run in the pool.
///
/// # Panics
/// As [`scope`].
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    here().in_place_scope(|scope| op(Scope::of(scope)))
}

/// [`in_place_scope`] with tasks in the order of their spawns.
///
/// # Panics
/// As [`scope`].
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    here().in_place_scope(|scope| op(ScopeFifo::of(scope)))
}
