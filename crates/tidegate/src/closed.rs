//! Closed pools: exactly so many threads, numbered for life, with neither guests nor spare threads.
//!
//! The `rayon-core` of this repository is made of them. They are no part of the interface that versions promise. A closed pool
//! differs from others in this:
//!
//! * Its threads are started by a function of the builder's, and a thread that cannot be started is an error.
//! * Dropping its handle lets it end and waits for nothing.
//! * The second half of a [join](Member::join) runs whatever becomes of the first, and is told whether it was stolen.
//! * A task that waits for something outside of the pool runs, on top of its frame, what lies in the pool's queues if no idle thread
//!   does: it is all that can, in a pool without spare threads, when that work is what the other side waits for.
//! * A spawn never runs another task on the spot.
//! * Every panic that nothing can carry goes to one handler, those of handlers too.

pub use crate::options::Closed;
pub use crate::pool::UnstartedThread;
pub use crate::unwind::UnhandledPanic;

use crate::broadcast;
use crate::handle::Pool;
use crate::options::{BuildError, Builder, Options};
use crate::pool::PoolInner;
use crate::pool::enter;
use crate::scope;
use crate::scope::Scope;
use crate::worker::WorkerThread;
use crate::yield_now;
use std::fmt;
use std::io;
use std::sync::Arc;
use tidegate_policy::SharePolicy;
use tidegate_policy::tunables::{Allowed, STACK_SIZE, WORKERS};

/// Why a closed pool could not be made.
#[derive(Debug)]
pub enum Refused {
    /// An option or a variable has a value that is not allowed.
    Options(BuildError),
    /// The calling thread, which was to be one of the pool, belongs to another one.
    Caller,
    /// A thread could not be started.
    Thread(io::Error),
}

/// The most threads that a closed pool may have.
#[must_use]
pub fn most_threads() -> usize {
    match WORKERS.allowed {
        Allowed::Between(_, Some(most)) => most,
        _ => unreachable!("the number of workers has a range"),
    }
}

/// The smallest and the largest stack that a thread may have, in bytes.
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
    /// Makes a pool whose threads `start` starts, all but the first if `with_caller`: that is then the calling thread.
    ///
    /// # Errors
    /// See [`Refused`]; threads that run already end.
    pub fn build(
        builder: Builder,
        closed: Closed,
        with_caller: bool,
        start: impl FnMut(UnstartedThread) -> io::Result<()>,
    ) -> Result<Self, Refused> {
        if with_caller && WorkerThread::get().is_some() {
            return Err(Refused::Caller);
        }
        let mut builder = Builder {
            closed: Some(closed),
            ..builder.spare_threads(0)
        };
        if with_caller {
            // That thread has a slot for good and does as it likes: it cannot be asked for it.
            builder = builder.share(SharePolicy::Off);
        }
        let options = Options::of(builder).map_err(Refused::Options)?;
        let pool = Pool::start_by(options, with_caller, start).map_err(Refused::Thread)?;
        Ok(Self(pool))
    }

    /// The pool, to run something in it.
    #[must_use]
    pub fn entry(&self) -> Entry {
        Entry(self.0.used().clone())
    }

    /// How many threads it has, for ever.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.0.shared().options.workers
    }

    /// The calling thread as one of this pool.
    #[must_use]
    pub fn member(&self) -> Option<Member<'_>> {
        WorkerThread::of(self.0.shared()).map(Member)
    }
}

/// A way into a closed pool.
#[derive(Clone)]
pub struct Entry(Arc<PoolInner>);

impl Entry {
    /// Runs `f` on a thread of the pool.
    pub fn inside<R: Send>(&self, f: impl FnOnce(Member<'_>) -> R + Send) -> R {
        enter::take_part(&self.0, |current| f(Member(current)))
    }

    /// Runs `f` right here with a scope whose tasks run in the pool, and waits for these.
    pub fn in_place_scope<'scope, R>(&self, f: impl FnOnce(&Scope<'scope>) -> R) -> R {
        scope::scope_in_place(&self.0, f)
    }

    /// Spawns a task that borrows nothing and that nobody waits for.
    pub fn spawn(&self, f: impl FnOnce() + Send + 'static) {
        if self.0.kind().is_breadth_first() {
            self.spawn_fifo(f);
        } else {
            crate::spawn::spawn_alone(&self.0, f);
        }
    }

    /// The same; of the tasks that one thread spawns like this the older ones begin first.
    pub fn spawn_fifo(&self, f: impl FnOnce() + Send + 'static) {
        crate::spawn::spawn_fifo(&self.0, f);
    }

    /// Calls `f` once on each thread, with its number and how many there are. Results in the order of the numbers.
    pub fn broadcast<R: Send>(&self, f: impl Fn(usize, usize) -> R + Sync) -> Vec<R> {
        broadcast::broadcast(&self.0, f)
    }

    /// The same without waiting.
    pub fn spawn_broadcast(&self, f: impl Fn(usize, usize) + Send + Sync + 'static) {
        broadcast::spawn_broadcast(&self.0, f);
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").finish_non_exhaustive()
    }
}

/// The calling thread as one of a closed pool.
#[derive(Clone, Copy)]
pub struct Member<'a>(WorkerThread<'a>);

impl<'a> Member<'a> {
    /// Calls `f` with the calling thread, if it belongs to a closed pool. It does for the length of the call.
    #[inline(always)]
    pub fn with<R>(f: impl FnOnce(Option<Member<'_>>) -> R) -> R {
        f(Member::get())
    }

    #[inline(always)]
    fn get() -> Option<Self> {
        WorkerThread::get()
            .filter(|current| current.shared().kind().closed().is_some())
            .map(Self)
    }

    /// Its number.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0.index
    }

    /// How many threads its pool has.
    #[inline(always)]
    #[must_use]
    pub fn threads(self) -> usize {
        self.0.shared().options.workers
    }

    /// Its pool.
    #[must_use]
    pub fn entry(self) -> Entry {
        Entry(self.0.shared().as_arc())
    }

    /// Runs both closures, `b` also if `a` panics. `b` is told whether it was stolen.
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

    /// Whether tasks lie in its deque.
    #[must_use]
    pub fn has_work(self) -> bool {
        self.0.has_work() || self.0.offers()
    }

    /// Runs one task of its own on top of the caller's frame. Whether there was one.
    pub fn run_own(self) -> bool {
        yield_now::run_own(self.0)
    }

    /// Runs one task of anybody's in the pool on top of the caller's frame. Whether there was one.
    pub fn run_any(self) -> bool {
        yield_now::run_any(self.0)
    }
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Member").field(&self.0.index).finish()
    }
}

/// Spawns into a scope of a closed pool, in the order that its pool is to have.
pub fn spawn<'scope>(scope: &Scope<'scope>, f: impl FnOnce(&Scope<'scope>) + Send + 'scope) {
    if scope.pool().kind().is_breadth_first() {
        scope.spawn_fifo(f);
    } else {
        scope.spawn(f);
    }
}

/// Spawns into a scope; of the tasks that one thread spawns into it like this the older ones begin first.
pub fn spawn_fifo<'scope>(scope: &Scope<'scope>, f: impl FnOnce(&Scope<'scope>) + Send + 'scope) {
    scope.spawn_fifo(f);
}

/// Calls `f` once on each thread of the scope's pool before the scope ends, with its number and how many there are.
pub fn spawn_broadcast<'scope>(
    scope: &Scope<'scope>,
    f: impl Fn(&Scope<'scope>, usize, usize) + Send + Sync + 'scope,
) {
    scope.spawn_broadcast(f);
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;

    #[test]
    fn a_pool_with_its_caller_takes_no_part_in_dividing_the_machine() {
        let build = |with_caller| {
            let closed = Closed {
                on_panic: Box::new(|_, _| ()),
                threads_by: "a test",
                breadth_first: false,
                forgiving: false,
            };
            let builder = Pool::builder().workers(2).share(SharePolicy::Auto);
            let start = |thread: UnstartedThread| thread.start("closed".into());
            ClosedPool::build(builder, closed, with_caller, start).unwrap()
        };
        let controllers = [false, true].map(|with_caller| {
            let pool = build(with_caller);
            let has = pool.0.shared().controller.is_some();
            // Its caller is one of its threads for good.
            std::mem::forget(pool);
            has
        });
        assert_eq!(controllers, [true, false]);
    }
}
