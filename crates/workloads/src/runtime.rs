//! What a program's single parallel body needs from a runtime.
//!
//! A body is written once, against [`Runtime`], and compiled for each runtime. Everything is
//! resolved at compile time: a body that runs on chili through this trait compiles to the same
//! machine code as a body written directly for chili.
//!
//! Each body receives a *fork*, the value that the runtime passes from task to task. It is chili's
//! `Scope`, Tidegate's worker in the explicit form, and `()` for runtimes that keep their worker in
//! thread-local storage. A body creates parallel work with [`join`](Runtime::join), with
//! [`scope`](Runtime::scope) and [`spawn`](Runtime::spawn), or with
//! [`for_each`](Runtime::for_each). [`SPAWNS`](Runtime::SPAWNS) is false for a runtime without
//! scopes; for a runtime without a parallel loop, `for_each` uses joins. Only Tidegate can put
//! tasks into [`places`](Runtime::places).
//!
//! Only Tidegate has [intervals](Runtime::intervals). They declare which tasks wait for which
//! others, and no join or scope can express that, so there is no fallback: other runtimes reject a
//! program that [needs](crate::Program::INTERVALS) them. They also reject programs that need
//! [priorities](Runtime::PRIORITIES).
//!
//! This trait doesn't choose grain sizes (the bodies do) or measure. Starting a run isn't free:
//! [`install`](Runtime::install) runs the body on a worker of the pool if there is one and
//! otherwise on the calling thread, so clocks belong inside it.

use std::io;
use std::time::Duration;

use ::tidegate::PlaceId;
use ::tidegate::interval::{IntervalBuilder, Scope};

#[cfg(feature = "chili")]
mod chili;
mod counted;
mod profiled;
#[cfg(feature = "rayon")]
mod rayon;
mod recorded;
mod serial;
mod threads;
mod tidegate;

#[cfg(feature = "chili")]
pub use chili::Chili;
pub use counted::Counted;
pub use profiled::{Length, Profiled};
#[cfg(feature = "rayon")]
pub use rayon::Rayon;
pub use recorded::Recorded;
pub use serial::{Inline, Serial};
pub use threads::{Budget, Threads};
pub use tidegate::Tidegate;

/// The stack size of a thread in bytes, for runtimes that let us choose it. The stack has room for
/// the deepest program (`uts` on the tree T3L) on top of stolen work. A stack takes only address
/// space until its pages are touched.
const STACK: usize = 256 << 20;

/// The maximum number of items that [`halving`] handles in one serial loop.
pub(crate) const HALVING_GRAIN: usize = 256;

/// A runtime with its threads, on which any body can run.
pub trait Runtime: Sized + Sync {
    /// The runtime's name on the command line.
    const NAME: &'static str;

    /// Whether tasks can run in parallel if they are started with [`spawn`](Self::spawn). If not,
    /// `spawn` runs its body immediately.
    const SPAWNS: bool;

    /// Whether the runtime supports [`intervals`](Self::intervals).
    const INTERVALS: bool = false;

    /// Whether the runtime supports [priorities](Self::spawn_in_order).
    const PRIORITIES: bool = false;

    /// The value that a task needs in order to fork.
    type Fork<'a>;

    /// The guard that [`reserve`](Self::reserve) returns.
    type Reservation: Send;

    /// A scope whose tasks, started with [`spawn`](Self::spawn), may borrow data that lives for
    /// `'scope`.
    type Scope<'scope>;

    /// Starts the runtime with `workers` workers. The calling thread counts as a worker if it runs
    /// tasks.
    ///
    /// # Errors
    /// If `workers` is zero or the operating system can't start the threads.
    fn with_workers(workers: usize) -> io::Result<Self>;

    /// Runs `body` as the root task and returns its result.
    ///
    /// # Panics
    /// If `body` panics, or if the operating system can't start a thread for this call.
    fn install<T: Send>(&self, body: impl FnOnce(&mut Self::Fork<'_>) -> T + Send) -> T;

    /// Runs both closures, in parallel if a worker is free, and returns both results.
    fn join<RA: Send, RB: Send>(
        fork: &mut Self::Fork<'_>,
        a: impl FnOnce(&mut Self::Fork<'_>) -> RA + Send,
        b: impl FnOnce(&mut Self::Fork<'_>) -> RB + Send,
    ) -> (RA, RB);

    /// Calls `body` on every item, in parallel if workers are free.
    fn for_each<T: Send>(
        fork: &mut Self::Fork<'_>,
        items: &mut [T],
        body: impl Fn(&mut T) + Send + Sync,
    ) {
        halving::<Self, T>(fork, items, &body);
    }

    /// Declares that the task uses `bytes` bytes until the returned reservation is dropped. On
    /// Tidegate, the task may have to wait for the memory; other runtimes only count the bytes.
    ///
    /// # Panics
    /// If the program doesn't fit into the pool's budget. The panic prints no message; its payload
    /// is the runtime's error.
    #[track_caller]
    fn reserve(bytes: usize) -> Self::Reservation;

    /// Blocks the task for this long without using the CPU, like a task that waits for a file or a
    /// network.
    fn wait(length: Duration) {
        std::thread::sleep(length);
    }

    /// Runs `body` and returns when all tasks that it spawned have finished.
    fn scope<'scope, T: Send>(body: impl FnOnce(&Self::Scope<'scope>) -> T + Send) -> T;

    /// Starts `body` as a task of `scope`. The task may spawn further tasks in the same scope.
    fn spawn<'scope>(
        scope: &Self::Scope<'scope>,
        body: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope,
    );

    /// Returns the places into which the calling task can put tasks. The list is empty if the
    /// runtime has no places.
    fn places() -> Vec<PlaceId> {
        Vec::new()
    }

    /// Returns the place in which the calling task runs, if any.
    fn place() -> Option<PlaceId> {
        None
    }

    /// Starts `body` as a task of `scope` and queues it in `place`, which must be one of
    /// [`places`](Self::places).
    fn spawn_at<'scope>(
        scope: &Self::Scope<'scope>,
        _place: PlaceId,
        body: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope,
    ) {
        Self::spawn(scope, body);
    }

    /// Starts `body` as a task of `scope` with a priority. Among pending tasks that have a
    /// priority, the task with the lowest number begins next.
    ///
    /// # Panics
    /// If the runtime has no [priorities](Self::PRIORITIES).
    fn spawn_in_order<'scope>(
        _scope: &Self::Scope<'scope>,
        _priority: u64,
        _body: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope,
    ) {
        panic!("{} has no priorities", Self::NAME);
    }

    /// Runs `body` as an interval and returns when it and all intervals inside it have ended.
    ///
    /// # Panics
    /// If the runtime has [no intervals](Self::INTERVALS), or if an interval fails.
    fn intervals<'env, T: Send>(
        _fork: &mut Self::Fork<'_>,
        _body: impl for<'scope> FnOnce(&Scope<'scope, 'env>) -> T + Send,
    ) -> T {
        panic!("{} has no intervals", Self::NAME);
    }

    /// Names an interval, but only on a runtime that records intervals to draw them. The name is
    /// passed as a closure, because building it can cost more than running the interval.
    fn named<'scope, T>(
        draft: IntervalBuilder<'scope, T>,
        _name: impl FnOnce() -> String,
    ) -> IntervalBuilder<'scope, T> {
        draft
    }
}

/// Implements the part of [`Runtime`] that is the same for all runtimes without scopes: they only
/// count reserved bytes.
macro_rules! without_scopes {
    () => {
        const SPAWNS: bool = false;
        type Reservation = $crate::runtime::Counted;
        type Scope<'scope> = $crate::runtime::Inline<'scope>;

        fn reserve(bytes: usize) -> Self::Reservation {
            $crate::runtime::Counted::new(bytes)
        }

        fn scope<'scope, T: Send>(body: impl FnOnce(&Self::Scope<'scope>) -> T + Send) -> T {
            $crate::runtime::Inline::scope(body)
        }

        fn spawn<'scope>(
            scope: &Self::Scope<'scope>,
            body: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope,
        ) {
            body(scope);
        }
    };
}

/// Implements the part of [`Runtime`] that is the same for all libraries whose pool, in the first
/// field of the runtime, keeps its worker in thread-local storage.
macro_rules! without_forks {
    ($library:ident) => {
        const SPAWNS: bool = true;
        type Fork<'a> = ();
        type Scope<'scope> = $library::Scope<'scope>;

        fn install<T: Send>(&self, body: impl FnOnce(&mut ()) -> T + Send) -> T {
            self.0.install(|| body(&mut ()))
        }

        #[inline]
        fn join<RA: Send, RB: Send>(
            _: &mut (),
            a: impl FnOnce(&mut ()) -> RA + Send,
            b: impl FnOnce(&mut ()) -> RB + Send,
        ) -> (RA, RB) {
            $library::join(|| a(&mut ()), || b(&mut ()))
        }

        #[inline]
        fn scope<'scope, T: Send>(body: impl FnOnce(&Self::Scope<'scope>) -> T + Send) -> T {
            $library::scope(body)
        }

        #[inline]
        fn spawn<'scope>(
            scope: &Self::Scope<'scope>,
            body: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope,
        ) {
            scope.spawn(body);
        }
    };
}

use {without_forks, without_scopes};

/// Calls `body` on every item; joins halve the range.
fn halving<R: Runtime, T: Send>(
    fork: &mut R::Fork<'_>,
    items: &mut [T],
    body: &(impl Fn(&mut T) + Sync),
) {
    if items.len() <= HALVING_GRAIN {
        return items.iter_mut().for_each(body);
    }
    let (left, right) = items.split_at_mut(items.len() / 2);
    R::join(
        fork,
        move |fork| halving::<R, T>(fork, left, body),
        move |fork| halving::<R, T>(fork, right, body),
    );
}

/// Rejects zero workers, for implementations of [`Runtime::with_workers`].
fn at_least_one(workers: usize) -> io::Result<usize> {
    if workers == 0 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "invalid value 0 for workers: expected 1 or more",
        ));
    }
    Ok(workers)
}
