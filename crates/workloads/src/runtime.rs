//! What a program's one parallel body needs from a runtime.
//!
//! A body is written once, against [`Runtime`], and compiled for each runtime. Everything here is
//! resolved at compile time: a body on chili through this trait is the same machine code as one
//! written directly on chili.
//!
//! A body is handed a *fork*: whatever the runtime wants passed from task to task. It is chili's
//! `Scope`, Tidegate's worker in the explicit form, and nothing (`()`) for runtimes that keep their
//! worker in thread-local storage. The three ways to make parallel work are [`join`](Runtime::join),
//! [`scope`](Runtime::scope) with [`spawn`](Runtime::spawn), and [`for_each`](Runtime::for_each).
//! A runtime that has no scope says so in [`SPAWNS`](Runtime::SPAWNS), and one that has no loop of
//! its own gets one made of joins. Tasks can be put into [`places`](Runtime::places) only on Tidegate.
//!
//! [Intervals](Runtime::intervals) are Tidegate's alone. They say which tasks wait for which others, and no join or scope can
//! say the same, so there is nothing to put in their place elsewhere: a program that [needs](crate::Program::INTERVALS) them is
//! refused. So are programs that need [priorities](Runtime::PRIORITIES).
//!
//! What this trait does not do: choose grain sizes (a body does), measure, or hide differences in
//! where a body starts. [`install`](Runtime::install) runs it on a worker of the pool where there is
//! one and on the caller's thread otherwise, so clocks belong inside it.

use std::io;
use std::time::Duration;

use ::tidegate::PlaceId;
use ::tidegate::interval::{Body, Draft};

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

/// Stack of a thread in bytes, where the runtime lets us choose; enough for the deepest program
/// (`uts` on the tree T3L) on top of stolen work. It is address space, touched lazily.
const STACK: usize = 256 << 20;

/// Up to how many items [`halving`] leaves to one plain loop.
pub(crate) const HALVING_GRAIN: usize = 256;

/// A runtime with its threads, on which any body can run.
pub trait Runtime: Sized + Sync {
    /// The name by which a user asks for this runtime.
    const NAME: &'static str;

    /// Whether [`spawn`](Self::spawn) can run in parallel; if not, it runs its body at once.
    const SPAWNS: bool;

    /// Whether there are [`intervals`](Self::intervals).
    const INTERVALS: bool = false;

    /// Whether tasks begin by [priority](Self::spawn_with_priority).
    const PRIORITIES: bool = false;

    /// What a task needs in hand to fork.
    type Fork<'a>;

    /// What [`lease`](Self::lease) gives.
    type Lease: Send;

    /// Where [`spawn`](Self::spawn) puts tasks that may borrow data living for `'scope`.
    type Scope<'scope>;

    /// Starts the runtime with `workers` workers, the calling thread included where it takes part.
    ///
    /// # Errors
    /// If `workers` is zero or the system refuses the threads.
    fn with_workers(workers: usize) -> io::Result<Self>;

    /// Runs `body` as the root task and returns its result.
    ///
    /// # Panics
    /// If `body` does, or if a thread is to be started here and the system refuses it.
    fn install<T: Send>(&self, body: impl FnOnce(&mut Self::Fork<'_>) -> T + Send) -> T;

    /// Runs both halves, in parallel if a worker is free, and returns both results.
    fn join<A, B, RA, RB>(fork: &mut Self::Fork<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Self::Fork<'_>) -> RA + Send,
        B: FnOnce(&mut Self::Fork<'_>) -> RB + Send,
        RA: Send,
        RB: Send;

    /// Calls `body` on every item, in parallel if workers are free.
    fn for_each<T: Send>(
        fork: &mut Self::Fork<'_>,
        items: &mut [T],
        body: impl Fn(&mut T) + Send + Sync,
    ) {
        halving::<Self, T>(fork, items, &body);
    }

    /// Declares that the task uses so many bytes until what this gives is dropped. On Tidegate it may have to wait for them; elsewhere they are counted.
    ///
    /// # Panics
    /// If the pool has a budget that the program does not fit in; silently, with the runtime's error for payload.
    #[track_caller]
    fn lease(bytes: usize) -> Self::Lease;

    /// Waits in a task, as for a file or a network, without using the processor.
    fn wait(length: Duration) {
        std::thread::sleep(length);
    }

    /// Runs `body` and returns when all that it spawned has finished.
    fn scope<'scope, T: Send>(body: impl FnOnce(&Self::Scope<'scope>) -> T + Send) -> T;

    /// Starts `body` as a task of `scope`, in which it may start others.
    fn spawn<'scope>(
        scope: &Self::Scope<'scope>,
        body: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope,
    );

    /// The places into which tasks can be put, as a task sees them; none where the runtime has none.
    fn places() -> Vec<PlaceId> {
        Vec::new()
    }

    /// In which of them the calling task runs.
    fn place() -> Option<PlaceId> {
        None
    }

    /// Starts `body` as a task of `scope` that waits in `place`, one of [`places`](Self::places).
    fn spawn_at<'scope>(
        scope: &Self::Scope<'scope>,
        _place: PlaceId,
        body: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope,
    ) {
        Self::spawn(scope, body);
    }

    /// Starts `body` as a task of `scope`; of those started like this that wait the one with the smallest number begins next.
    ///
    /// # Panics
    /// If the runtime has no [priorities](Self::PRIORITIES).
    fn spawn_with_priority<'scope>(
        _scope: &Self::Scope<'scope>,
        _priority: u64,
        _body: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope,
    ) {
        panic!("{} has no priorities", Self::NAME);
    }

    /// Runs `body` as an interval and returns when it and all intervals inside of it have ended.
    ///
    /// # Panics
    /// If the runtime has [none](Self::INTERVALS), or if an interval fails.
    fn intervals<'env, T: Send>(
        _fork: &mut Self::Fork<'_>,
        _body: impl for<'scope> FnOnce(&Body<'scope, 'env>) -> T + Send,
    ) -> T {
        panic!("{} has no intervals", Self::NAME);
    }

    /// The draft with the name that it has in pictures, where there will be any; making names costs more than many an interval.
    fn named<'scope, T>(
        draft: Draft<'scope, T>,
        _name: impl FnOnce() -> String,
    ) -> Draft<'scope, T> {
        draft
    }
}

/// Calls `body` on every item, splitting in halves by [`Runtime::join`].
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

/// The error of [`Runtime::with_workers`] for a number that no runtime can take.
fn at_least_one(workers: usize) -> io::Result<usize> {
    if workers == 0 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "workers is 0, allowed are 1 and more",
        ));
    }
    Ok(workers)
}
