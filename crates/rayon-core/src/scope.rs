//! Scopes: tasks may borrow from the caller's stack frame, because the scope waits for them.
//!
//! [`Scope`] and [`ScopeFifo`] wrap Tidegate's scope without changing its layout. Each task
//! receives Tidegate's scope, as a reference to one of these types.

use crate::broadcast::BroadcastContext;
use crate::global::{global, here};
use std::fmt;
use tidegate_core::door::closed::{self, Member};

/// A scope for tasks that borrow data outside the scope; see [`scope`] and [`in_place_scope`].
#[repr(transparent)]
pub struct Scope<'scope>(tidegate_core::Scope<'scope>);

/// A [`Scope`] in which tasks spawned by the same thread start in spawn order; see [`scope_fifo`]
/// and [`in_place_scope_fifo`].
#[repr(transparent)]
pub struct ScopeFifo<'scope>(tidegate_core::Scope<'scope>);

impl<'scope> Scope<'scope> {
    pub(crate) fn of<'a>(scope: &'a tidegate_core::Scope<'scope>) -> &'a Self {
        // SAFETY: a transparent type has the layout of its only field, and the reference to that
        // field is valid for the same lifetime.
        unsafe { &*std::ptr::from_ref(scope).cast() }
    }

    /// Spawns a task that any thread of the scope's pool may run. The scope does not end until the
    /// task has run.
    ///
    /// A thread runs its own spawned tasks youngest first; other threads steal the oldest.
    ///
    /// # Panics
    /// This call does not panic. If tasks panic, the scope panics with the first payload when it
    /// ends.
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        closed::spawn(&self.0, |scope| body(Self::of(scope)));
    }

    /// Spawns a task on each thread of the scope's pool.
    ///
    /// # Panics
    /// Like [`spawn`](Self::spawn).
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
    pub(crate) fn of<'a>(scope: &'a tidegate_core::Scope<'scope>) -> &'a Self {
        // SAFETY: as in `Scope::of`.
        unsafe { &*std::ptr::from_ref(scope).cast() }
    }

    /// Spawns a task that any thread of the scope's pool may run. Tasks spawned in this scope by
    /// the same thread start in spawn order. The scope does not end until the task has run.
    ///
    /// # Panics
    /// Like [`Scope::spawn`].
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        closed::spawn_fifo(&self.0, |scope| body(Self::of(scope)));
    }

    /// Spawns a task on each thread of the scope's pool.
    ///
    /// # Panics
    /// Like [`Scope::spawn`].
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

/// Calls `op` with a scope in which it may spawn tasks, and waits for these tasks.
///
/// If the calling thread belongs to a pool, `op` runs on it. Otherwise it runs on a thread of the
/// global pool.
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
/// If `op` or a task panics, this panics after all tasks have ended, with the payload of `op` or,
/// if `op` did not panic, with the payload of the task that panicked first.
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    in_pool(|scope| op(Scope::of(scope)))
}

/// Like [`scope`], but tasks spawned by the same thread start in spawn order.
///
/// # Panics
/// Like [`scope`].
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    in_pool(|scope| op(ScopeFifo::of(scope)))
}

fn in_pool<'scope, R: Send>(op: impl FnOnce(&tidegate_core::Scope<'scope>) -> R + Send) -> R {
    Member::with(|member| match member {
        Some(member) => member.scope(op),
        None => global().inside(|member| member.scope(op)),
    })
}

/// Like [`scope`], but `op` always runs on the calling thread; only the spawned tasks run in the
/// pool.
///
/// # Panics
/// Like [`scope`].
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    here().in_place_scope(|scope| op(Scope::of(scope)))
}

/// Like [`in_place_scope`], but tasks spawned by the same thread start in spawn order.
///
/// # Panics
/// Like [`scope`].
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    here().in_place_scope(|scope| op(ScopeFifo::of(scope)))
}
