//! Closed pools: a fixed number of threads, each of which keeps its number, without guests or spare
//! threads.
//!
//! This repository's `rayon-core` is built on closed pools. They are not covered by the API's
//! stability guarantees. A closed pool differs from other pools as follows:
//!
//! * A function passed to [`ClosedPool::build`] starts its threads. If a thread cannot be started,
//!   `build` returns an error.
//! * Dropping the handle lets the pool end, but does not wait for its threads.
//! * The second half of a [join](Member::join) runs even if the first half panics. Its closure's
//!   argument indicates whether it was stolen.
//! * A task that waits for something outside the pool runs tasks from the pool's queues on top of
//!   its own frame, unless an idle thread runs them. Without spare threads, no other thread could
//!   run them, and the code outside the pool may be waiting for them.
//! * A spawn never runs a task on the caller's stack.
//! * If the builder sets no number of workers, the affinity and the quotas change only how many
//!   threads may run tasks at once. Unless the pool shares the machine, a thread waits for a slot
//!   only when no task is on its stack, and the number of slots is a goal:
//!   `docs/share-controller.md` describes when the pool exceeds it.
//! * One handler receives every panic that cannot be returned to a caller, including panics of the
//!   pool's other handlers.

pub use crate::options::Closed;
#[doc(hidden)]
pub use crate::options::pretend as pretend_machine;
pub use crate::pool::UnstartedThread;
pub use crate::unwind::UnhandledPanic;

use crate::broadcast;
use crate::builder::Builder;
use crate::handle::{self, Pool};
use crate::job::Task;
use crate::options::BuildError;
use crate::pool::PoolInner;
use crate::pool::enter;
use crate::scope;
use crate::scope::Scope;
use crate::simulated;
use crate::task_context;
use crate::worker::WorkerThread;
use crate::yield_now;
use std::fmt;
use std::io;
use std::sync::Arc;
use tidegate_policy::SharePolicy;
use tidegate_policy::tunables::{Allowed, STACK_SIZE, WORKERS};

/// Why a closed pool could not be created.
#[derive(Debug)]
pub enum Refused {
    /// An option or an environment variable has an invalid value.
    Options(BuildError),
    /// The calling thread, which should become one of the pool's threads, already belongs to a
    /// pool.
    Caller,
    /// A thread could not be started.
    Thread(io::Error),
}

/// Returns the maximum number of threads of a closed pool.
#[must_use]
pub fn most_threads() -> usize {
    match WORKERS.allowed {
        Allowed::Between(_, Some(most)) => most,
        _ => unreachable!("the number of workers has a range"),
    }
}

/// Returns the smallest and the largest stack size of a thread, in bytes.
#[must_use]
pub fn stack_sizes() -> (usize, usize) {
    match STACK_SIZE.allowed {
        Allowed::Between(least, most) => (least, most),
        Allowed::OneOf(_) => unreachable!("the size of stacks has a range"),
    }
}

/// A closed pool's handle.
#[derive(Debug)]
pub struct ClosedPool(Pool);

impl ClosedPool {
    /// Creates a pool whose threads are started by `start`. If `with_caller` is true, the calling
    /// thread becomes the first thread, and `start` starts the others.
    ///
    /// # Errors
    /// See [`Refused`]. Threads that have already started then end.
    pub fn build(
        mut builder: Builder,
        closed: Closed,
        with_caller: bool,
        start: impl FnMut(UnstartedThread) -> io::Result<()>,
    ) -> Result<Self, Refused> {
        // A thread with a context must hide its worker, but a worker that the thread became here
        // would be visible.
        if with_caller && (WorkerThread::get().is_some() || task_context::is_set()) {
            return Err(Refused::Caller);
        }
        builder.settings.closed = Some(closed);
        if with_caller {
            // The calling thread keeps a slot forever and runs code that the pool does not control,
            // so the pool cannot take the slot back.
            builder = builder.share(SharePolicy::Off);
        }
        let options = builder.options().map_err(Refused::Options)?;
        simulated::check_closed(&options).map_err(Refused::Options)?;
        let pool = Pool::start_by(options, with_caller, start).map_err(Refused::Thread)?;
        Ok(Self(pool))
    }

    /// Returns an [`Entry`], through which any thread can run functions in the pool.
    #[must_use]
    pub fn entry(&self) -> Entry {
        Entry(handle::used(&self.0).clone())
    }

    /// Returns the number of threads, which never changes.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.0.inner().options.workers
    }

    /// Returns the calling thread as a member of this pool, or `None` if it does not belong to the
    /// pool.
    #[must_use]
    pub fn member(&self) -> Option<Member<'_>> {
        WorkerThread::of(self.0.inner()).map(Member)
    }
}

/// A handle through which any thread can run functions in a closed pool.
#[derive(Clone)]
pub struct Entry(pub(crate) Arc<PoolInner>);

impl Entry {
    /// Runs `f` on a thread of the pool.
    pub fn inside<R: Send>(&self, f: impl FnOnce(Member<'_>) -> R + Send) -> R {
        enter::take_part(&self.0, None, |current| f(Member(current)))
    }

    /// Runs `f` on the calling thread, with a scope whose tasks run in the pool, and waits for the
    /// tasks.
    pub fn in_place_scope<'scope, R>(&self, f: impl FnOnce(&Scope<'scope>) -> R) -> R {
        scope::scope_in_place(&self.0, f)
    }

    /// Spawns a `'static` task, and does not wait for it.
    pub fn spawn(&self, f: impl FnOnce() + Send + 'static) {
        if is_breadth_first(&self.0) {
            self.spawn_fifo(f);
        } else {
            crate::spawn::submit(&self.0, None, Task::alone(&self.0, |_| f()));
        }
    }

    /// Like `spawn`, but the tasks that a thread spawns with this function start in the order in
    /// which it spawned them.
    pub fn spawn_fifo(&self, f: impl FnOnce() + Send + 'static) {
        crate::spawn::spawn_fifo(&self.0, f);
    }

    /// Calls `f` once on each thread, with the thread's number and the number of threads. Returns
    /// the results in the order of the threads' numbers.
    pub fn broadcast<R: Send>(&self, f: impl Fn(usize, usize) -> R + Sync) -> Vec<R> {
        broadcast::broadcast(&self.0, f)
    }

    /// Like `broadcast`, but does not wait.
    pub fn spawn_broadcast(&self, f: impl Fn(usize, usize) + Send + Sync + 'static) {
        broadcast::spawn_broadcast(&self.0, f);
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").finish_non_exhaustive()
    }
}

/// The calling thread as a member of a closed pool.
#[derive(Clone, Copy)]
pub struct Member<'a>(WorkerThread<'a>);

impl<'a> Member<'a> {
    /// Calls `f` with the calling thread as a member of its closed pool, or with `None` if the
    /// thread belongs to no closed pool. The thread stays in its pool for the duration of the call.
    #[inline(always)]
    pub fn with<R>(f: impl FnOnce(Option<Member<'_>>) -> R) -> R {
        f(Member::get())
    }

    #[inline(always)]
    fn get() -> Option<Self> {
        WorkerThread::get()
            .filter(|current| current.pool().is_closed())
            .map(Self)
    }

    /// Returns the thread's number in its pool.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0.index
    }

    /// Returns the number of threads in the member's pool.
    #[inline(always)]
    #[must_use]
    pub fn threads(self) -> usize {
        self.0.pool().options.workers
    }

    /// Returns an [`Entry`] to the member's pool.
    #[must_use]
    pub fn entry(self) -> Entry {
        Entry(self.0.pool().as_arc())
    }

    /// Runs both closures, even if `a` panics. The argument of `b` indicates whether `b` was
    /// stolen.
    #[inline(always)]
    pub fn join<RA, RB: Send>(
        self,
        a: impl FnOnce() -> RA,
        b: impl FnOnce(bool) -> RB + Send,
    ) -> (RA, RB) {
        self.0.join_both(a, b)
    }

    /// Runs `f` with a scope and waits for the scope's tasks.
    pub fn scope<'scope, R>(self, f: impl FnOnce(&Scope<'scope>) -> R) -> R {
        scope::scope(self.0, f)
    }

    /// Whether the thread's own deque or queue contains tasks.
    #[must_use]
    pub fn has_work(self) -> bool {
        self.0.has_work() || self.0.offers()
    }

    /// Runs one of the thread's own tasks on top of the caller's frame. Returns `false` if the
    /// thread has no task.
    pub fn run_own(self) -> bool {
        yield_now::run_own(self.0)
    }

    /// Runs one task of any thread of the pool on top of the caller's frame. Returns `false` if it
    /// finds no task.
    pub fn run_any(self) -> bool {
        yield_now::run_any(self.0)
    }
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Member").field(&self.0.index).finish()
    }
}

fn is_breadth_first(pool: &PoolInner) -> bool {
    (pool.options.closed.as_ref()).is_some_and(|closed| closed.breadth_first)
}

/// Spawns a task into a scope of a closed pool, in the order configured for the pool.
pub fn spawn<'scope>(scope: &Scope<'scope>, f: impl FnOnce(&Scope<'scope>) + Send + 'scope) {
    if is_breadth_first(scope.pool()) {
        scope.spawn_fifo(f);
    } else {
        scope.spawn(f);
    }
}

/// Spawns a task into a scope. The tasks that a thread spawns into the scope with this function
/// start in the order in which it spawned them.
pub fn spawn_fifo<'scope>(scope: &Scope<'scope>, f: impl FnOnce(&Scope<'scope>) + Send + 'scope) {
    scope.spawn_fifo(f);
}

/// Calls `f` once on each thread of the scope's pool before the scope ends, with the thread's
/// number and the number of threads.
pub fn spawn_broadcast<'scope>(
    scope: &Scope<'scope>,
    f: impl Fn(&Scope<'scope>, usize, usize) + Send + Sync + 'scope,
) {
    scope.spawn_broadcast(f);
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;

    fn closed() -> Closed {
        Closed {
            on_panic: Box::new(|_, _| ()),
            threads_by: "a test",
            breadth_first: false,
            forgiving: false,
        }
    }

    fn build(builder: Builder, with_caller: bool) -> ClosedPool {
        let start = |thread: UnstartedThread| thread.start("closed".into());
        ClosedPool::build(builder, closed(), with_caller, start).unwrap()
    }

    #[test]
    fn chosen_number_needs_no_controller() {
        let pool = build(Pool::builder().workers(2), false);
        assert!(pool.0.inner().controller.is_none());
    }

    /// A closed pool that includes the calling thread has no share controller.
    #[test]
    fn pool_with_caller_skips_sharing() {
        let controllers = [false, true].map(|with_caller| {
            let builder = Pool::builder().workers(2).share(SharePolicy::Auto);
            let pool = build(builder, with_caller);
            let has = pool.0.inner().controller.is_some();
            // Never dropped: the calling thread remains one of the pool's threads.
            std::mem::forget(pool);
            has
        });
        assert_eq!(controllers, [true, false]);
    }
}
